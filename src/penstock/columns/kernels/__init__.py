"""What functions do with columns: pyarrow and numpy, without knowledge of SQL or of plans."""

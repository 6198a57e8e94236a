"""What tables of files have in common, whatever keeps their list of files."""

"""Rows of SQL tables in the runtime: their codec and keys, and the operators that work on their columns."""

"""Formats of messages and files: bytes from and to the columns of tables."""

"""Aggregate functions of SQL on columns, by slot: for groups, windows and OVER alike."""

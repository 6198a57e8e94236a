"""Logical plans: relational nodes with resolved columns, built from SQL and from the Table API by the same code."""

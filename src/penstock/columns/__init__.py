"""Typed columns: SQL's types, built-in functions, expressions evaluated on Arrow; what workers need of tables."""

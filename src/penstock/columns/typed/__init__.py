"""Expressions with names resolved and types known, and their evaluation on columns."""

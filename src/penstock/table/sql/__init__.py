"""Flink SQL: from text to statements."""

"""Flink's logical types, what they have in common, and which become which."""

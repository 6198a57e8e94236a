"""Connectors of tables, by the names and options of Flink."""

"""Cassandra: a sink."""

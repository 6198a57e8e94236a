"""Formats: how files and messages become records, and records files and messages."""

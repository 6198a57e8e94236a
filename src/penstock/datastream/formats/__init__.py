"""Formats: how files and messages become records."""

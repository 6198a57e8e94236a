"""Keyed and broadcast state in the worker's memory, with the changes of an epoch kept apart."""

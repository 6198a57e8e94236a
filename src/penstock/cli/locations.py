"""Places given on the command line: the job's driver runs in another directory than the shell."""

from __future__ import annotations

from penstock.storage.locations import absolute_location, savepoint_location

__all__ = ["absolute_location", "savepoint_location"]

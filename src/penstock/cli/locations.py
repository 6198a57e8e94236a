"""Places given on the command line: the job's driver runs in another directory than the shell."""

from __future__ import annotations

import os

from penstock.storage.locations import absolute_location

__all__ = ["absolute_location", "savepoint_location"]

_METADATA = "_metadata"


def savepoint_location(text: str) -> str:
    """Like Flink's, a savepoint may also be named by the `_metadata` file in it."""
    location = absolute_location(text)
    directory, name = os.path.split(location)
    return directory if name == _METADATA and directory else location

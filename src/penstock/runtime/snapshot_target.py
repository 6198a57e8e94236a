"""What an epoch is saved as, and where: carried from the request to the workers and into `_metadata`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class SnapshotKind(StrEnum):
    CHECKPOINT = "checkpoint"  # taken and removed by the system
    SAVEPOINT = "savepoint"  # asked for by a user, and theirs


@dataclass(frozen=True)
class SnapshotTarget:
    """The directory into which every subtask writes its part."""

    kind: SnapshotKind
    directory: str

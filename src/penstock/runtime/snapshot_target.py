"""What an epoch is saved as, and where: carried from the request to the workers and into `_metadata`."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from enum import StrEnum


class SnapshotKind(StrEnum):
    CHECKPOINT = "checkpoint"  # taken and removed by the system
    SAVEPOINT = "savepoint"  # asked for by a user, and theirs


@dataclass(frozen=True)
class SnapshotTarget:
    """The directory into which every subtask writes its part."""

    kind: SnapshotKind
    directory: str

    @staticmethod
    def encode(target: SnapshotTarget | None) -> bytes:
        """For barriers; nothing for an epoch that is not saved."""
        return b"" if target is None else json.dumps(asdict(target)).encode()

    @staticmethod
    def decode(payload: bytes) -> SnapshotTarget | None:
        if not payload:
            return None
        fields = json.loads(payload)
        return SnapshotTarget(SnapshotKind(fields["kind"]), fields["directory"])

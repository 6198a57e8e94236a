"""What the coordinator asks the tasks of level 0 to do."""

from __future__ import annotations

from dataclasses import dataclass, field

from penstock.runtime.snapshot_target import SnapshotTarget
from penstock.runtime.sources.base import Assignment
from penstock.runtime.state_log import Token


@dataclass(frozen=True)
class Work:
    """What one task of level 0 does in an epoch."""

    subtask: int | None  # None: only wake-ups
    assignments: dict[int, Assignment] = field(default_factory=dict)
    snapshot: tuple[Token, bytes] | None = None
    saving: SnapshotTarget | None = None
    wakeups: tuple[tuple[int, int], ...] = ()  # level, subtask

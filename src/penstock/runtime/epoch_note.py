"""What the driver wants of an epoch besides its results: that it is saved, and answers about state."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field

from penstock.runtime.snapshot_target import SnapshotTarget
from penstock.runtime.state_questions import StateQuestion


@dataclass(frozen=True)
class EpochNote:
    """The same for all subtasks; it travels with summons and barriers."""

    saving: SnapshotTarget | None = None
    questions: dict[int, StateQuestion] = field(default_factory=dict)  # by ticket

    def __bool__(self) -> bool:
        return self.saving is not None or bool(self.questions)

    def encode(self) -> bytes:
        """For barriers; of most epochs nothing is wanted."""
        return pickle.dumps(self, 5) if self else b""

    @staticmethod
    def decode(payload: bytes) -> EpochNote:
        note: EpochNote = pickle.loads(payload) if payload else NOTHING_WANTED
        return note


NOTHING_WANTED = EpochNote()

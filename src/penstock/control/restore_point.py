"""Finds what a job is to start from: a savepoint, a checkpoint, or the newest checkpoint of a directory.

A damaged savepoint is refused: whoever named it wanted that one. A damaged checkpoint is passed over for the one before
it, because the system chose to keep several for exactly that; and it is said loudly.
"""

from __future__ import annotations

import dataclasses
import sys
from dataclasses import dataclass

from penstock.common.errors import JobExecutionError
from penstock.control.checkpoints import CheckpointStore
from penstock.runtime.savepoint import METADATA, Savepoint, open_savepoint
from penstock.runtime.snapshot_target import SnapshotKind
from penstock.storage import parent_location, storage_at


def open_restore_point(path: str) -> Savepoint:
    """Read and checked completely; stderr says what had to be passed over."""
    candidates = _candidates(path)
    damaged: list[str] = []
    for candidate in candidates:
        try:
            savepoint = candidate.open()
        except JobExecutionError as error:
            if candidate.number is None:
                raise
            damaged.append(str(error))
            continue
        if damaged:
            _warn(damaged, savepoint)
        return dataclasses.replace(savepoint, passed_over=tuple(damaged))
    what = "\n  ".join(damaged)
    raise JobExecutionError(f"there is no checkpoint that the job can start from:\n  {what}")


@dataclass(frozen=True)
class _Candidate:
    """The number is that of the checkpoint which the system has put there; None for what only the user knows."""

    path: str
    number: int | None = None

    def open(self) -> Savepoint:
        savepoint = open_savepoint(self.path)
        if self.number is not None and savepoint.number != self.number:
            is_checkpoint = savepoint.kind is SnapshotKind.CHECKPOINT
            whose = f"checkpoint {savepoint.number}" if is_checkpoint else "a savepoint"
            raise JobExecutionError(f"the checkpoint {self.path!r} is damaged: {METADATA} is that of {whose}")
        return savepoint


def _candidates(path: str) -> list[_Candidate]:
    """The newest first."""
    store = CheckpointStore(parent_location(path))
    named = store.number_at(path)
    if named is None:
        store = CheckpointStore(path)
        if not store.numbers() or storage_at(path).exists(METADATA):
            return [_Candidate(path)]
    numbers = [number for number in reversed(store.numbers()) if named is None or number <= named]
    return [_Candidate(store.path_of(number), number) for number in numbers]


def _warn(damaged: list[str], used: Savepoint) -> None:
    lines = [
        "penstock: WARNING: a newer checkpoint cannot be used:",
        *(f"penstock:   {what}" for what in damaged),
        f"penstock: the job starts from {used.path} (epoch {used.epoch}) instead. All epochs after {used.epoch} are "
        "lost: what the job did in them is done again, and results that left it twice are no mistake of the program.",
    ]
    print("\n".join(lines), file=sys.stderr, flush=True)

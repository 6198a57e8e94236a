"""Finds what a job is to start from: a savepoint, a checkpoint, or the newest checkpoint of a directory.

A damaged savepoint is refused: whoever named it wanted that one. A damaged checkpoint is passed over for the one before
it, because the system chose to keep several for exactly that; and it is said loudly.
"""

from __future__ import annotations

import dataclasses
import os
import sys
from pathlib import Path

from penstock.common.errors import JobExecutionError
from penstock.control.checkpoints import CheckpointStore
from penstock.runtime.savepoint import METADATA, Savepoint, checkpoint_number, open_savepoint


def open_restore_point(path: str) -> Savepoint:
    """Read and checked completely; what had to be passed over is told on stderr."""
    candidates = _candidates(path)
    damaged: list[str] = []
    for candidate in candidates:
        try:
            savepoint = _open(candidate)
        except JobExecutionError as error:
            if candidates == [path] and checkpoint_number(path) is None:
                raise
            damaged.append(str(error))
            continue
        if damaged:
            _warn(damaged, savepoint)
        return dataclasses.replace(savepoint, passed_over=tuple(damaged))
    what = "\n  ".join(damaged)
    raise JobExecutionError(f"there is no checkpoint that the job can start from:\n  {what}")


def _candidates(path: str) -> list[str]:
    """The newest first."""
    number = checkpoint_number(path)
    if number is not None:
        store = CheckpointStore(Path(os.path.normpath(path)).parent)
        older = [store.path_of(other) for other in reversed(store.numbers()) if other < number]
        return [path, *older]
    store = CheckpointStore(Path(path))
    if store.numbers() and not os.path.lexists(os.path.join(path, METADATA)):
        return [store.path_of(number) for number in reversed(store.numbers())]
    return [path]


def _open(path: str) -> Savepoint:
    savepoint, number = open_savepoint(path), checkpoint_number(path)
    if number is not None and savepoint.number != number:
        whose = "a savepoint" if savepoint.number is None else f"checkpoint {savepoint.number}"
        raise JobExecutionError(f"the checkpoint {path!r} is damaged: {METADATA} is that of {whose}")
    return savepoint


def _warn(damaged: list[str], used: Savepoint) -> None:
    lines = [
        "penstock: WARNING: a newer checkpoint cannot be used:",
        *(f"penstock:   {what}" for what in damaged),
        f"penstock: the job starts from {used.path} (epoch {used.epoch}) instead. All epochs behind {used.epoch} are "
        "lost: what the job did in them is done again, and results that left it twice are no mistake of the program.",
    ]
    print("\n".join(lines), file=sys.stderr, flush=True)

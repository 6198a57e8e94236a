"""Taking savepoints of a running job, and checking one before a job starts from it."""

from __future__ import annotations

import re
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from penstock.common.errors import JobExecutionError
from penstock.control.restore_point import open_restore_point
from penstock.control.work import Offset
from penstock.runtime.blueprint import JobBlueprint, OperatorBlueprint
from penstock.runtime.pickling import dumps_on_driver, loads
from penstock.runtime.report import SubtaskReport
from penstock.runtime.saved_parts import snapshots_of, tables_of
from penstock.runtime.savepoint import (
    SavedOperator,
    Savepoint,
    write_metadata,
)
from penstock.runtime.snapshot_target import SnapshotKind, SnapshotTarget
from penstock.runtime.sources.base import SourcePlanner

_MADE_UP_UID = re.compile("[0-9a-f]{32}")


@dataclass
class SavepointRequest:
    """A savepoint or a checkpoint that somebody waits for."""

    parent: str = ""  # of a savepoint; checkpoints have a directory of their own
    kind: SnapshotKind = SnapshotKind.SAVEPOINT
    stop: bool = False
    drain: bool = False
    path: Future[str] = field(default_factory=Future)


class SnapshotInProgress:
    """Collects the parts of one epoch; `_metadata` makes them a snapshot once the epoch is committed."""

    def __init__(self, target: SnapshotTarget, number: int, drain: bool, job: JobBlueprint, end_offset: Offset) -> None:
        self.target = target
        self.drain = drain
        self._number = number
        self._job = job
        self._end_offset = end_offset
        self.epoch: int = end_offset["epoch"]

    def failure(self, reports: list[SubtaskReport]) -> str | None:
        """Why parts are missing; None when all are there."""
        expected = {
            (op.level, subtask) for op in self._job.operators if not op.native for subtask in range(op.parallelism)
        }
        missing = expected - {(report.level, report.subtask) for report in reports if report.savepoint_part is not None}
        if not missing:
            return None
        failures = [report.savepoint_failure for report in reports if report.savepoint_failure is not None]
        why = failures[0] if failures else f"no state came from {sorted(missing)}"
        return f"the state could not be saved completely: {why}"

    def write_metadata(self, reports: list[SubtaskReport], sources: dict[str, SourcePlanner]) -> Savepoint:
        positions = {uid: position for uid, (position, _) in self._end_offset["positions"].items()}
        states = {uid: source.savepoint_state(positions[uid]) for uid, source in sources.items()}
        savepoint = Savepoint(
            path=self.target.directory,
            job_id=self._job.settings.job_id,
            job_name=self._job.settings.job_name,
            epoch=self.epoch,
            positions=positions,
            source_states={uid: dumps_on_driver(state).hex() for uid, state in states.items()},
            operators=tuple(_saved(operator, reports) for operator in self._job.operators),
            parts=tuple(report.savepoint_part for report in reports if report.savepoint_part is not None),
            number=self._number if self.target.kind is SnapshotKind.CHECKPOINT else None,
            kind=self.target.kind,
        )
        write_metadata(savepoint)
        return savepoint


def _saved(operator: OperatorBlueprint, reports: list[SubtaskReport]) -> SavedOperator:
    states = {
        (state.schema["kind"], state.name): state for report in reports for state in report.states.get(operator.uid, ())
    }
    return SavedOperator(
        operator.uid,
        operator.name,
        operator.kind,
        operator.parallelism,
        operator.max_parallelism,
        tuple(states.values()),
    )


def prepare_restore(path: str, job: JobBlueprint, allow_non_restored_state: bool) -> Savepoint:
    """The savepoint, completely read and checked against the job, before anything is written."""
    savepoint = open_restore_point(path)
    path = savepoint.path
    known = {operator.uid: operator for operator in job.operators}
    for saved in savepoint.operators:
        operator = known.get(saved.uid)
        if operator is None:
            if not allow_non_restored_state and _has_state(savepoint, saved):
                raise JobExecutionError(
                    f"the savepoint {path!r} has state of the operator {saved.name!r} (uid {saved.uid}), which this "
                    f"program does not have. {_how_to_find(saved)}, or drop its state with --allow-non-restored-state."
                )
        elif operator.kind != saved.kind:
            raise JobExecutionError(
                f"the operator {operator.name!r} (uid {saved.uid}, {operator.origin}) is a {operator.kind}, but the "
                f"savepoint {path!r} has the state of a {saved.kind}; give it a uid of its own"
            )
        elif operator.max_parallelism != saved.max_parallelism:
            raise JobExecutionError(
                f"the operator {operator.name!r} (uid {saved.uid}) has max parallelism {operator.max_parallelism}, "
                f"the savepoint {path!r} was taken with {saved.max_parallelism}; set_max_parallelism("
                f"{saved.max_parallelism}) makes them fit"
            )
    return savepoint


def _how_to_find(saved: SavedOperator) -> str:
    if not _MADE_UP_UID.fullmatch(saved.uid):
        return f"Give the operator that has taken its place this uid again: .uid({saved.uid!r})"
    return (
        "The uid was made up from the operator's place in the program, because it had none, and changes with the "
        f"program. Give the operator that has taken its place this one: .uid({saved.uid!r}), and give all operators "
        "with state a uid"
    )


def _has_state(savepoint: Savepoint, saved: SavedOperator) -> bool:
    """Whether dropping the operator would lose anything: keyed state, timers, attributes or a position."""
    if saved.uid in savepoint.positions:
        return True
    if any(snapshots_of(savepoint, saved.uid).values()):
        return True
    return any(piece.entries for piece in tables_of(savepoint, saved.uid))


def restore_sources(savepoint: Savepoint, sources: dict[str, SourcePlanner]) -> dict[str, Any]:
    """Start positions by source uid, for the sources that the savepoint knows."""
    return {
        uid: source.restore_savepoint(savepoint.positions[uid], loads(bytes.fromhex(savepoint.source_states[uid])))
        for uid, source in sources.items()
        if uid in savepoint.positions
    }

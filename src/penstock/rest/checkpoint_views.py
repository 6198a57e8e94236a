"""A job's checkpoints and savepoints in the shape of Flink's REST API; what Flink does not have is below "penstock"."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from typing import Any, TypedDict

from penstock.common.configuration import Configuration
from penstock.common.options import value_of
from penstock.control.job_control import JobDescription, OperatorDescription
from penstock.control.snapshot_history import HistoryEntry, Restored, SnapshotOverview, SnapshotStatus
from penstock.runtime.snapshot_target import SnapshotKind


class Counts(TypedDict):
    restored: int
    total: int
    in_progress: int
    completed: int
    failed: int


class Spread(TypedDict):
    min: int
    max: int
    avg: int
    p50: int
    p90: int
    p95: int
    p99: int
    p999: int


class CheckpointSummary(TypedDict):
    checkpointed_size: Spread
    state_size: Spread
    end_to_end_duration: Spread


class SavedOperator(TypedDict):
    id: int
    status: str
    latest_ack_timestamp: int | None
    checkpointed_size: int
    state_size: int
    end_to_end_duration: int | None
    num_subtasks: int
    num_acknowledged_subtasks: int


OwnSnapshot = TypedDict(
    "OwnSnapshot",
    {"epoch": int | None, "epochs-since": int | None, "records-since": int | None, "changed-bytes": int | None},
)


class SnapshotEnd(TypedDict, total=False):
    """The first two of one that is completed, the others of one that failed."""

    external_path: str | None
    discarded: bool
    failure_timestamp: int | None
    failure_message: str | None


class SnapshotView(SnapshotEnd):
    """A checkpoint or savepoint."""

    className: str
    id: int
    status: str
    is_savepoint: bool
    savepointFormat: str | None
    checkpoint_type: str
    trigger_timestamp: int
    latest_ack_timestamp: int | None
    end_to_end_duration: int | None
    checkpointed_size: int | None
    state_size: int | None
    num_subtasks: int | None
    num_acknowledged_subtasks: int | None
    tasks: dict[str, SavedOperator]
    penstock: OwnSnapshot


OwnRestored = TypedDict("OwnRestored", {"epoch": int | None, "instead-of": list[str]})


class RestoredView(TypedDict):
    id: int | None
    restore_timestamp: int
    is_savepoint: bool
    external_path: str | None
    penstock: OwnRestored


class LatestSnapshots(TypedDict):
    completed: SnapshotView | None
    savepoint: SnapshotView | None
    failed: SnapshotView | None
    restored: RestoredView | None


class Checkpoints(TypedDict):
    counts: Counts
    summary: CheckpointSummary
    latest: LatestSnapshots
    history: list[SnapshotView]


class Externalization(TypedDict):
    enabled: bool
    delete_on_cancellation: bool


class CheckpointConfig(TypedDict):
    mode: str
    interval: int
    timeout: int
    min_pause: int
    max_concurrent: int
    externalization: Externalization
    state_backend: str
    checkpoint_storage: str
    unaligned_checkpoints: bool
    aligned_checkpoint_timeout: int
    tolerable_failed_checkpoints: int
    checkpoints_after_tasks_finish: bool
    state_changelog_enabled: bool


class SavedSubtask(TypedDict):
    className: str
    index: int
    status: str
    ack_timestamp: int | None
    end_to_end_duration: int | None
    checkpointed_size: int
    state_size: int
    unaligned_checkpoint: bool
    aborted: bool


class SavedSubtasks(SavedOperator):
    summary: CheckpointSummary
    subtasks: list[SavedSubtask]


_NEVER = 0x7FFFFFFFFFFFFFFF

_PERCENTILES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p999": 0.999}


def checkpoint_statistics(snapshots: SnapshotOverview) -> Checkpoints:
    """The newest first, as in Flink; savepoints and checkpoints in one history."""
    entries = snapshots.entries[::-1]
    completed = [entry for entry in entries if entry.status is SnapshotStatus.COMPLETED]
    sizes, durations = _summary(entry.bytes for entry in completed), _summary(entry.duration_ms for entry in completed)
    return {
        "counts": {
            "restored": snapshots.counts.restored,
            "total": snapshots.counts.total,
            "in_progress": snapshots.in_progress,
            "completed": snapshots.counts.completed,
            "failed": snapshots.counts.failed,
        },
        "summary": {"checkpointed_size": sizes, "state_size": sizes, "end_to_end_duration": durations},
        "latest": {
            "completed": _first(entry for entry in completed if entry.kind is SnapshotKind.CHECKPOINT),
            "savepoint": _first(entry for entry in completed if entry.kind is SnapshotKind.SAVEPOINT),
            "failed": _first(entry for entry in entries if entry.status is SnapshotStatus.FAILED),
            "restored": None if snapshots.restored is None else _restored(snapshots.restored),
        },
        "history": [_entry(entry) for entry in entries],
    }


def checkpoint_config(job: JobDescription) -> CheckpointConfig:
    configuration = Configuration.from_dict(dict(job.configuration))

    def option(key: str) -> Any:
        return value_of(configuration, f"execution.checkpointing.{key}")

    retention = option("externalized-checkpoint-retention")
    return {
        "mode": option("mode").lower(),
        "interval": option("interval") or _NEVER,
        "timeout": option("timeout"),
        "min_pause": option("min-pause"),
        "max_concurrent": 1,
        "externalization": {
            "enabled": retention != "NO_EXTERNALIZED_CHECKPOINTS",
            "delete_on_cancellation": retention != "RETAIN_ON_CANCELLATION",
        },
        "state_backend": value_of(configuration, "state.backend.type") or "hashmap",
        "checkpoint_storage": option("storage") or "filesystem",
        "unaligned_checkpoints": False,
        "aligned_checkpoint_timeout": 0,
        "tolerable_failed_checkpoints": option("tolerable-failed-checkpoints"),
        "checkpoints_after_tasks_finish": True,
        "state_changelog_enabled": False,
    }


def checkpoint_details(entry: HistoryEntry, job: JobDescription) -> SnapshotView:
    """With the share of each operator's level: operators of one level write into one file."""
    return {**_entry(entry), "tasks": {op.uid: _task(entry, op) for op in job.operators}}


def _task(entry: HistoryEntry, operator: OperatorDescription) -> SavedOperator:
    size = sum(part.bytes for part in entry.parts if part.level == operator.level)
    return {
        "id": entry.id,
        "status": entry.status.name,
        "latest_ack_timestamp": entry.end_ms,
        "checkpointed_size": size,
        "state_size": size,
        "end_to_end_duration": entry.duration_ms,
        "num_subtasks": operator.parallelism,
        "num_acknowledged_subtasks": operator.parallelism if entry.end_ms else 0,
    }


def checkpoint_subtasks(entry: HistoryEntry, operator: OperatorDescription) -> SavedSubtasks:
    parts = sorted((p for p in entry.parts if p.level == operator.level), key=lambda part: part.subtask)
    subtasks: list[SavedSubtask] = [
        {
            "className": "completed" if entry.status is SnapshotStatus.COMPLETED else "pending",
            "index": part.subtask,
            "status": "completed" if entry.status is SnapshotStatus.COMPLETED else "pending_or_failed",
            "ack_timestamp": entry.end_ms,
            "end_to_end_duration": entry.duration_ms,
            "checkpointed_size": part.bytes,
            "state_size": part.bytes,
            "unaligned_checkpoint": False,
            "aborted": entry.status is SnapshotStatus.FAILED,
        }
        for part in parts
    ]
    sizes, durations = _summary(part.bytes for part in parts), _summary(entry.duration_ms for _ in parts)
    summary: CheckpointSummary = {
        "checkpointed_size": sizes,
        "state_size": sizes,
        "end_to_end_duration": durations,
    }
    return {**_task(entry, operator), "summary": summary, "subtasks": subtasks}


def _first(entries: Iterable[HistoryEntry]) -> SnapshotView | None:
    return next((_entry(entry) for entry in entries), None)


def _entry(entry: HistoryEntry) -> SnapshotView:
    """Files hold the whole state, so that what is written and what there is are the same number of bytes."""
    is_savepoint = entry.kind is SnapshotKind.SAVEPOINT
    view: SnapshotView = {
        "className": entry.status.name.lower(),
        "id": entry.id,
        "status": entry.status.name,
        "is_savepoint": is_savepoint,
        "savepointFormat": "CANONICAL" if is_savepoint else None,
        "checkpoint_type": entry.kind.name,
        "trigger_timestamp": entry.trigger_ms,
        "latest_ack_timestamp": entry.end_ms,
        "end_to_end_duration": entry.duration_ms,
        "checkpointed_size": entry.bytes,
        "state_size": entry.bytes,
        "num_subtasks": entry.subtasks,
        "num_acknowledged_subtasks": entry.subtasks,
        "tasks": {},  # those of one are in its details
        "penstock": {
            "epoch": entry.epoch,
            "epochs-since": entry.epochs_since,
            "records-since": entry.records_since,
            "changed-bytes": entry.changed_bytes,
        },
    }
    if entry.status is SnapshotStatus.COMPLETED:
        view["external_path"], view["discarded"] = entry.path, entry.discarded
    if entry.status is SnapshotStatus.FAILED:
        view["failure_timestamp"], view["failure_message"] = entry.end_ms, entry.failure
    return view


def _restored(restored: Restored) -> RestoredView:
    return {
        "id": restored.id,
        "restore_timestamp": restored.at_ms,
        "is_savepoint": restored.id is None,
        "external_path": restored.path,
        "penstock": {"epoch": restored.epoch, "instead-of": list(restored.instead_of)},
    }


def _summary(values: Iterable[int | None]) -> Spread:
    """Over the completed ones in the history."""
    ordered = sorted(value for value in values if value is not None)
    if not ordered:
        return dict.fromkeys(("min", "max", "avg", *_PERCENTILES), 0)  # type: ignore[return-value]
    percentiles = {
        name: ordered[min(len(ordered) - 1, int(part * len(ordered)))] for name, part in _PERCENTILES.items()
    }
    spread = {"min": ordered[0], "max": ordered[-1], "avg": round(statistics.fmean(ordered)), **percentiles}
    return spread  # type: ignore[return-value]

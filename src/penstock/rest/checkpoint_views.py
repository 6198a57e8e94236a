"""A job's checkpoints and savepoints in the shape of Flink's REST API; what Flink does not have is below "penstock"."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from typing import Any

from penstock.common.json_data import to_json
from penstock.control.snapshot_history import HistoryEntry, Restored, SnapshotOverview, SnapshotStatus
from penstock.runtime.snapshot_target import SnapshotKind

Json = dict[str, Any]

_PERCENTILES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p999": 0.999}


def checkpoint_statistics(snapshots: SnapshotOverview) -> Json:
    """The newest first, as in Flink; savepoints and checkpoints in one history."""
    entries = snapshots.entries[::-1]
    completed = [entry for entry in entries if entry.status is SnapshotStatus.COMPLETED]
    sizes, durations = _summary(entry.bytes for entry in completed), _summary(entry.duration_ms for entry in completed)
    return {
        "counts": {**to_json(snapshots.counts), "in_progress": snapshots.in_progress},
        "summary": {"checkpointed_size": sizes, "state_size": sizes, "end_to_end_duration": durations},
        "latest": {
            "completed": _first(entry for entry in completed if entry.kind is SnapshotKind.CHECKPOINT),
            "savepoint": _first(entry for entry in completed if entry.kind is SnapshotKind.SAVEPOINT),
            "failed": _first(entry for entry in entries if entry.status is SnapshotStatus.FAILED),
            "restored": None if snapshots.restored is None else _restored(snapshots.restored),
        },
        "history": [_entry(entry) for entry in entries],
    }


def _first(entries: Iterable[HistoryEntry]) -> Json | None:
    return next((_entry(entry) for entry in entries), None)


def _entry(entry: HistoryEntry) -> Json:
    """Files hold the whole state, so that what is written and what there is are the same number of bytes."""
    is_savepoint = entry.kind is SnapshotKind.SAVEPOINT
    view = {
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
        "penstock": {
            "epoch": entry.epoch,
            "epochs-since": entry.epochs_since,
            "records-since": entry.records_since,
            "changed-bytes": entry.changed_bytes,
        },
    }
    if entry.status is SnapshotStatus.COMPLETED:
        view |= {"external_path": entry.path, "discarded": entry.discarded}
    if entry.status is SnapshotStatus.FAILED:
        view |= {"failure_timestamp": entry.end_ms, "failure_message": entry.failure}
    return view


def _restored(restored: Restored) -> Json:
    return {
        "id": restored.id,
        "restore_timestamp": restored.at_ms,
        "is_savepoint": restored.id is None,
        "external_path": restored.path,
        "penstock": {"epoch": restored.epoch, "instead-of": list(restored.instead_of)},
    }


def _summary(values: Iterable[int | None]) -> Json:
    """Over the completed ones in the history."""
    ordered = sorted(value for value in values if value is not None)
    if not ordered:
        return dict.fromkeys(("min", "max", "avg", *_PERCENTILES), 0)
    percentiles = {
        name: ordered[min(len(ordered) - 1, int(part * len(ordered)))] for name, part in _PERCENTILES.items()
    }
    return {"min": ordered[0], "max": ordered[-1], "avg": round(statistics.fmean(ordered)), **percentiles}

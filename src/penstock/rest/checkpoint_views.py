"""A job's checkpoints and savepoints in the shape of Flink's REST API; what Flink does not have is below "penstock"."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

Json = dict[str, Any]

_PERCENTILES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p999": 0.999}


def checkpoint_statistics(history: Mapping[str, Any]) -> Json:
    """The newest first, as in Flink; savepoints and checkpoints in one history."""
    entries = [_entry(entry) for entry in reversed(history["entries"])]
    completed = [entry for entry in entries if entry["status"] == "COMPLETED"]
    return {
        "counts": history["counts"],
        "summary": {
            name: _summary([entry[name] for entry in completed])
            for name in ("checkpointed_size", "state_size", "end_to_end_duration")
        },
        "latest": {
            "completed": _first(entry for entry in completed if not entry["is_savepoint"]),
            "savepoint": _first(entry for entry in completed if entry["is_savepoint"]),
            "failed": _first(entry for entry in entries if entry["status"] == "FAILED"),
            "restored": _restored(history["restored"]),
        },
        "history": entries,
    }


def _first(entries: Any) -> Json | None:
    return next(iter(entries), None)


def _entry(entry: Mapping[str, Any]) -> Json:
    """Files hold the whole state, so that what is written and what there is are the same number of bytes."""
    view = {
        "className": entry["status"].lower(),
        "id": entry["id"],
        "status": entry["status"],
        "is_savepoint": entry["kind"] == "savepoint",
        "savepointFormat": "CANONICAL" if entry["kind"] == "savepoint" else None,
        "checkpoint_type": entry["kind"].upper(),
        "trigger_timestamp": entry["trigger_ms"],
        "latest_ack_timestamp": entry["end_ms"],
        "end_to_end_duration": entry["duration_ms"],
        "checkpointed_size": entry["bytes"],
        "state_size": entry["bytes"],
        "num_subtasks": entry["subtasks"],
        "num_acknowledged_subtasks": entry["subtasks"],
        "penstock": {
            "epoch": entry["epoch"],
            "epochs-since": entry["epochs_since"],
            "records-since": entry["records_since"],
            "changed-bytes": entry["changed_bytes"],
        },
    }
    if entry["status"] == "COMPLETED":
        view |= {"external_path": entry["path"], "discarded": entry["discarded"]}
    if entry["status"] == "FAILED":
        view |= {"failure_timestamp": entry["end_ms"], "failure_message": entry["failure"]}
    return view


def _restored(restored: Mapping[str, Any] | None) -> Json | None:
    if restored is None:
        return None
    return {
        "id": restored["id"],
        "restore_timestamp": restored["at_ms"],
        "is_savepoint": restored["id"] is None,
        "external_path": restored["path"],
        "penstock": {"epoch": restored["epoch"], "instead-of": restored["instead_of"]},
    }


def _summary(values: Sequence[int]) -> Json:
    """Over the completed ones in the history."""
    if not values:
        return dict.fromkeys(("min", "max", "avg", *_PERCENTILES), 0)
    ordered = sorted(values)
    percentiles = {
        name: ordered[min(len(ordered) - 1, int(part * len(ordered)))] for name, part in _PERCENTILES.items()
    }
    return {"min": ordered[0], "max": ordered[-1], "avg": round(statistics.fmean(ordered)), **percentiles}

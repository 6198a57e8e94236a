"""A job's description in the shapes of Flink's REST API; what Flink does not have is below "penstock"."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Json = dict[str, Any]

_STATES_OF_COUNTS = {
    "jobs-running": ("CREATED", "RUNNING", "FAILING", "CANCELLING", "RESTARTING", "RECONCILING"),
    "jobs-finished": ("FINISHED",),
    "jobs-cancelled": ("CANCELED",),
    "jobs-failed": ("FAILED",),
}
_ENDED = ("FINISHED", "CANCELED", "FAILED")


def cluster_overview(job: Mapping[str, Any], version: str) -> Json:
    counts = {name: int(job["state"] in states) for name, states in _STATES_OF_COUNTS.items()}
    return {**counts, "penstock-version": version}


def job_list(job: Mapping[str, Any]) -> Json:
    return {"jobs": [{"id": job["job_id"], "status": job["state"]}]}


def job_details(job: Mapping[str, Any], now_ms: int) -> Json:
    return {
        "jid": job["job_id"],
        "name": job["name"],
        "isStoppable": True,
        "state": job["state"],
        "job-type": "STREAMING",
        "start-time": job["started_at"],
        "end-time": job["started_at"] + job["duration_ms"] if job["state"] in _ENDED else -1,
        "duration": job["duration_ms"],
        "now": now_ms,
        "vertices": [_vertex(operator, job["state"]) for operator in job["operators"]],
        "penstock": {
            "parallelism": job["parallelism"],
            "epoch": job["epoch"],
            "records-in": job["records_in"],
            "records-out": job["records_out"],
            "rate": job["rate"],
            "watermark-lag": job["watermark_lag_ms"],
            "restarts": job["restarts"],
            "failure": job["failure"],
        },
    }


def _vertex(operator: Mapping[str, Any], state: str) -> Json:
    return {
        "id": operator["uid"],
        "name": operator["name"],
        "parallelism": operator["parallelism"],
        "status": state,
        "metrics": {"read-records": operator.get("records_in")},
        "penstock": {"kind": operator["kind"], "level": operator["level"]},
    }


def checkpoint_statistics(job: Mapping[str, Any]) -> Json:
    """The newest first, as in Flink; savepoints and checkpoints in one history."""
    savepoints = [_completed(savepoint, is_savepoint=True) for savepoint in job["savepoints"]]
    checkpoints = [
        _failed(checkpoint) if checkpoint["failure"] else _completed(checkpoint, is_savepoint=False)
        for checkpoint in job.get("checkpoints", ())
    ]
    failed = [entry for entry in checkpoints if entry["status"] == "FAILED"]
    completed = [entry for entry in checkpoints if entry["status"] == "COMPLETED"]
    history = [*reversed(checkpoints), *reversed(savepoints)]
    return {
        "counts": {
            "restored": 0,
            "total": len(history),
            "in_progress": 0,
            "completed": len(completed) + len(savepoints),
            "failed": len(failed),
        },
        "latest": {
            "completed": completed[-1] if completed else None,
            "savepoint": savepoints[-1] if savepoints else None,
            "failed": failed[-1] if failed else None,
            "restored": None,
        },
        "history": history,
    }


def _completed(entry: Mapping[str, Any], is_savepoint: bool) -> Json:
    return {
        "className": "completed",
        "id": entry.get("id", entry["epoch"]),
        "status": "COMPLETED",
        "is_savepoint": is_savepoint,
        "savepointFormat": "CANONICAL" if is_savepoint else None,
        "checkpoint_type": "SAVEPOINT" if is_savepoint else "CHECKPOINT",
        "checkpointed_size": entry["bytes"],
        "state_size": entry["bytes"],
        "end_to_end_duration": entry["duration_ms"],
        "external_path": entry["path"],
        "discarded": False,
    }


def _failed(entry: Mapping[str, Any]) -> Json:
    return {
        "className": "failed",
        "id": entry["id"],
        "status": "FAILED",
        "is_savepoint": False,
        "checkpoint_type": "CHECKPOINT",
        "failure_message": entry["failure"],
    }

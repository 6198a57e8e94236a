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
            "attempts": job["attempts"],
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

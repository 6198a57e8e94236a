"""What `list` and `info` know about a job, from its driver if it runs, from its files if it does not."""

from __future__ import annotations

from typing import Any

from penstock.cli.job_client import JobClient
from penstock.cli.known_jobs import KnownJob
from penstock.common.errors import JobExecutionError
from penstock.control.attempts import read_attempts

DEAD = "DEAD"
UNREACHABLE = "UNREACHABLE"


def summary_of(job: KnownJob) -> dict[str, Any]:
    """Plain JSON data with the same keys for every job; what is not known of a job is None."""
    details = _ask(job)
    record = job.record or {}
    numbers = details.get("penstock", {})
    return {
        "id": job.job_id,
        "name": details.get("name", job.name),
        "status": details.get("state") or _status_without_answer(job, record),
        "start-time": details.get("start-time"),
        "duration": details.get("duration"),
        "parallelism": numbers.get("parallelism", record.get("parallelism")),
        **{key: numbers.get(key) for key in _NUMBERS},
        "owner": job.owner,
        "home": str(job.home.path),
        "script": (record.get("program") or {}).get("script"),
        "operators": details.get("vertices") or [_as_vertex(each) for each in record.get("operators", [])],
        "attempts": numbers.get("attempts") or read_attempts(job.home.run),
        "last-savepoint": None,
    }


def summary_of_finished(record: dict[str, Any]) -> dict[str, Any]:
    """The same for a job of which there is no more than the record of its end."""
    return {
        "id": record["job_id"],
        "name": record.get("name"),
        "status": record["state"],
        "start-time": record["started_at"],
        "duration": record["duration_ms"],
        "parallelism": record.get("parallelism"),
        **dict.fromkeys(_NUMBERS),
        "restarts": record["attempts"][-1]["number"],
        "failure": record["failure"],
        "owner": None,
        "home": None,
        "script": (record.get("program") or {}).get("script"),
        "operators": [_as_vertex(each) for each in record.get("operators", [])],
        "attempts": record["attempts"],
        "last-savepoint": record["savepoint"],
    }


_NUMBERS = ("epoch", "records-in", "records-out", "rate", "watermark-lag", "restarts", "failure")


def _ask(job: KnownJob) -> dict[str, Any]:
    try:
        return JobClient(job).details() if job.is_running() else {}
    except JobExecutionError:
        return {}


def _status_without_answer(job: KnownJob, record: dict[str, Any]) -> str:
    """A driver that ended in order has written so; one that was killed could not."""
    if job.is_running():
        return UNREACHABLE
    return record["state"] if record.get("state") == "FAILED" else DEAD


def _as_vertex(operator: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": operator["uid"],
        "name": operator["name"],
        "parallelism": operator["parallelism"],
        "status": None,
        "metrics": {"read-records": None},
        "penstock": {"kind": operator["kind"], "level": operator["level"]},
    }

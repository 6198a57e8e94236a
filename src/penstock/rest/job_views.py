"""A job's description in the shapes of Flink's REST API; what Flink does not have is below "penstock"."""

from __future__ import annotations

from typing import Any

from penstock.common.job_status import JobStatus
from penstock.common.json_data import to_json
from penstock.control.job_control import JobDescription, OperatorDescription

Json = dict[str, Any]

_COUNTED_AS = {
    JobStatus.FINISHED: "jobs-finished",
    JobStatus.CANCELED: "jobs-cancelled",
    JobStatus.FAILED: "jobs-failed",
}
_RUNNING = "jobs-running"


def cluster_overview(job: JobDescription, version: str) -> Json:
    counts = dict.fromkeys((_RUNNING, *_COUNTED_AS.values()), 0)
    counts[_COUNTED_AS.get(job.state, _RUNNING)] = 1
    return {**counts, "penstock-version": version}


def job_list(job: JobDescription) -> Json:
    return {"jobs": [{"id": job.job_id, "status": job.state.name}]}


def job_details(job: JobDescription, now_ms: int) -> Json:
    return {
        "jid": job.job_id,
        "name": job.name,
        "isStoppable": True,
        "state": job.state.name,
        "job-type": "STREAMING",
        "start-time": job.started_at,
        "end-time": job.started_at + job.duration_ms if job.state.is_globally_terminal_state() else -1,
        "duration": job.duration_ms,
        "now": now_ms,
        "vertices": [_vertex(operator, job.state) for operator in job.operators],
        "penstock": {
            "parallelism": job.parallelism,
            "epoch": job.progress.epoch,
            "records-in": job.progress.records_in,
            "records-out": job.progress.records_out,
            "rate": job.progress.rate,
            "watermark-lag": job.progress.watermark_lag_ms,
            "restarts": job.restarts,
            "attempts": to_json(job.attempts),
            "failure": to_json(job.failure),
        },
    }


def _vertex(operator: OperatorDescription, state: JobStatus) -> Json:
    return {
        "id": operator.uid,
        "name": operator.name,
        "parallelism": operator.parallelism,
        "status": state.name,
        "metrics": {"read-records": operator.records_in},
        "penstock": {"kind": operator.kind, "level": operator.level},
    }

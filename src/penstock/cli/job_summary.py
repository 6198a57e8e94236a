"""What `list` and `info` know about a job, from its driver if it runs, from its files if it does not."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from penstock.cli.job_client import JobClient
from penstock.client.access import read_access
from penstock.common.errors import JobExecutionError
from penstock.common.failure import Failure
from penstock.common.job_status import JobStatus
from penstock.common.json_data import from_json, to_json
from penstock.control.attempts import Attempt, read_attempts
from penstock.control.finished_jobs import FinishedRecord
from penstock.control.job_control import JobDescription
from penstock.control.job_record import JobRecord
from penstock.control.known_jobs import KnownJob

DEAD = "DEAD"
UNREACHABLE = "UNREACHABLE"


@dataclass(frozen=True)
class OperatorSummary:
    uid: str
    name: str
    kind: str
    parallelism: int
    level: int
    records_in: int | None = None


@dataclass(frozen=True, kw_only=True)
class JobSummary:
    """The same for every job; what is not known of one is None."""

    id: str
    name: str | None
    status: str
    start_time: int | None = None
    duration: int | None = None
    parallelism: int | None = None
    epoch: int | None = None
    records_in: int | None = None
    records_out: int | None = None
    rate: float | None = None
    watermark_lag: int | None = None
    restarts: int | None = None
    failure: Failure | None = None
    owner: str | None = None
    home: str | None = None
    script: str | None = None
    operators: tuple[OperatorSummary, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    last_savepoint: str | None = None
    waiting: str | None = None  # for what, of one that was submitted and has no driver

    def as_json(self) -> dict[str, Any]:
        return {name.replace("_", "-"): value for name, value in to_json(self).items()}


def summary_of(job: KnownJob) -> JobSummary:
    attempts = read_attempts(job.home.run)
    from_files = JobSummary(
        id=job.job_id,
        name=job.name,
        status=_status_without_answer(job),
        start_time=attempts[0].started_at if attempts else None,
        restarts=attempts[-1].number if attempts else None,
        parallelism=None if job.record is None else job.record.parallelism,
        owner=job.owner,
        home=str(job.home.path),
        script=_script(job.record),
        operators=_operators(job.record),
        attempts=attempts,
    )
    details = _ask(job)
    return from_files if details is None else _with_details(from_files, details)


def _with_details(summary: JobSummary, details: dict[str, Any]) -> JobSummary:
    numbers = details["penstock"]
    return replace(
        summary,
        name=details["name"],
        status=details["state"],
        start_time=details["start-time"],
        duration=details["duration"],
        parallelism=numbers["parallelism"],
        epoch=numbers["epoch"],
        records_in=numbers["records-in"],
        records_out=numbers["records-out"],
        rate=numbers["rate"],
        watermark_lag=numbers["watermark-lag"],
        restarts=numbers["restarts"],
        failure=from_json(Failure, numbers["failure"]) if numbers["failure"] else None,
        operators=tuple(_of_vertex(vertex) for vertex in details["vertices"]),
        attempts=from_json(tuple[Attempt, ...], numbers["attempts"]),
    )


def summary_of_finished(record: FinishedRecord) -> JobSummary:
    """Of a job of which there is no more than the record of its end."""
    return JobSummary(
        id=record.job_id,
        name=record.name,
        status=record.state.name,
        start_time=record.started_at,
        duration=record.duration_ms,
        parallelism=record.parallelism,
        restarts=record.attempts[-1].number if record.attempts else None,
        failure=record.failure,
        script=_script(record),
        operators=_operators(record),
        attempts=record.attempts,
        last_savepoint=record.savepoint,
    )


def summary_of_described(job: JobDescription) -> JobSummary:
    """Of a job that no driver can be asked about, from what its history or the manager's files say."""
    has_ended = job.state.is_globally_terminal_state()
    return JobSummary(
        id=job.job_id,
        name=job.name,
        status=job.state.name,
        start_time=job.started_at,
        duration=job.duration_ms,
        parallelism=job.parallelism,
        epoch=job.progress.epoch if has_ended else None,
        records_in=job.progress.records_in if has_ended else None,
        records_out=job.progress.records_out if has_ended else None,
        restarts=job.restarts,
        failure=job.failure,
        script=job.script,
        operators=tuple(
            OperatorSummary(op.uid, op.name, op.kind, op.parallelism, op.level, op.records_in) for op in job.operators
        ),
        attempts=job.attempts,
        waiting=job.waiting,
    )


def _ask(job: KnownJob) -> dict[str, Any] | None:
    try:
        return JobClient(job).details() if job.is_running() else None
    except JobExecutionError:
        return None


def _status_without_answer(job: KnownJob) -> str:
    """A driver that ended in order has written so; one that was killed could not."""
    if job.is_running():
        starts = read_access(job.home.path) is None and not read_attempts(job.home.run)
        return JobStatus.CREATED.name if starts else UNREACHABLE
    return JobStatus.FAILED.name if job.record is not None and job.record.state is JobStatus.FAILED else DEAD


def _script(record: JobRecord | None) -> str | None:
    return None if record is None or record.program is None else record.program.script


def _operators(record: JobRecord | None) -> tuple[OperatorSummary, ...]:
    operators = () if record is None else record.operators
    return tuple(OperatorSummary(op.uid, op.name, op.kind, op.parallelism, op.level) for op in operators)


def _of_vertex(vertex: dict[str, Any]) -> OperatorSummary:
    own = vertex["penstock"]
    return OperatorSummary(
        vertex["id"],
        vertex["name"],
        own["kind"],
        vertex["parallelism"],
        own["level"],
        vertex["metrics"]["read-records"],
    )

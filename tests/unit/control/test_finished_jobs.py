"""Jobs that have ended: remembered in a small number, and not run a second time."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from penstock.common.errors import JobCancelledError, JobExecutionError
from penstock.common.job_status import JobStatus
from penstock.control.finished_jobs import FinishedJob, FinishedJobs, FinishedRecord, runs_again, why_not_again

ID = "ab" * 16


def record(state: JobStatus = JobStatus.FINISHED, job_id: str = ID, **facts: Any) -> FinishedRecord:
    shape: dict[str, Any] = {"job_id": job_id, "name": "n", "parallelism": 1, "levels": 1}
    ended = {"state": state, "ended_at": 1_700_000_000_000, "duration_ms": 7, "metrics": {"n": 3}}
    return FinishedRecord(**shape | ended | facts)


def test_only_the_newest_are_remembered(tmp_path: Path) -> None:
    jobs = FinishedJobs(tmp_path, kept=3)
    for number in range(5):
        jobs.put(record(job_id=f"{number}", ended_at=number))
        os.utime(tmp_path / "finished" / f"{number}.json", ns=(number, number))
    assert [job.job_id for job in jobs.all()] == ["2", "3", "4"]
    assert jobs.get("0") is None
    assert FinishedJobs(tmp_path / "empty").all() == []


def test_a_failed_job_may_be_tried_again() -> None:
    assert [runs_again(record(state)) for state in (JobStatus.FAILED, JobStatus.FINISHED, JobStatus.CANCELED)] == [
        True,
        False,
        False,
    ]


def test_a_finished_job_has_its_result_but_no_records() -> None:
    job = FinishedJob(record())
    assert job.status() is JobStatus.FINISHED
    assert job.result_future().result().get_accumulator_result("n") == 3
    assert job.result_future().result().get_net_runtime() == 7
    with pytest.raises(JobExecutionError, match="went to the process that ran it"):
        list(job.collected(None))  # type: ignore[arg-type]
    with pytest.raises(JobExecutionError, match="nothing to save"):
        job.savepoint(None).result()


def test_a_cancelled_job_stays_cancelled() -> None:
    with pytest.raises(JobCancelledError, match=f"the job {ID} was cancelled at .* give another --job-id"):
        FinishedJob(record(JobStatus.CANCELED)).result_future().result()


def test_who_stopped_a_job_is_told_where_its_state_is() -> None:
    assert "-s /s/1" in why_not_again(record(stopped=True, savepoint="/s/1"))

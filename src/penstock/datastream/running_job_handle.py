"""A running job as a JobClient wants it."""

from __future__ import annotations

from concurrent.futures import Future

from penstock.common.job_execution_result import JobExecutionResult
from penstock.common.job_id import JobID
from penstock.common.job_status import JobStatus
from penstock.control.job_request import RunningJob

__all__ = ["RunningJobHandle"]


class RunningJobHandle:
    """Gives the executor's plain text id its type."""

    def __init__(self, job: RunningJob) -> None:
        self._job = job

    @property
    def job_id(self) -> JobID:
        return JobID(self._job.job_id)

    def status(self) -> JobStatus:
        return self._job.status()

    def cancel(self) -> None:
        self._job.cancel()

    def result_future(self) -> Future[JobExecutionResult]:
        return self._job.result_future()

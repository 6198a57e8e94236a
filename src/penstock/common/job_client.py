"""The program's hand on a job that runs."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any, Protocol

from penstock.common.completable_future import CompletableFuture
from penstock.common.errors import NotSupportedError
from penstock.common.job_execution_result import JobExecutionResult
from penstock.common.job_id import JobID
from penstock.common.job_status import JobStatus

__all__ = ["JobClient", "JobHandle"]


class JobHandle(Protocol):
    """What the executor of a job offers to its client."""

    @property
    def job_id(self) -> JobID: ...

    def status(self) -> JobStatus: ...

    def cancel(self) -> None:
        """Returns when the job has stopped."""

    def result_future(self) -> Future[JobExecutionResult]: ...


class JobClient:
    """Watches, cancels and waits for one job; returned by ``env.execute_async()``."""

    def __init__(self, handle: JobHandle) -> None:
        self._handle = handle

    def get_job_id(self) -> JobID:
        return self._handle.job_id

    def get_job_status(self) -> CompletableFuture:
        """The :class:`JobStatus` at this moment."""
        return CompletableFuture.completed(self._handle.status())

    def cancel(self) -> CompletableFuture:
        """Cancels the job; the future is done when it has stopped."""
        self._handle.cancel()
        return CompletableFuture.completed(None)

    def stop_with_savepoint(
        self,
        advance_to_end_of_event_time: bool,
        savepoint_directory: str | None = None,
        format_type: Any = None,
    ) -> CompletableFuture:
        raise NotSupportedError(
            "stop_with_savepoint(): Penstock has no savepoints yet. Use cancel(); a job that is started again"
            " under the same job id goes on from its last completed epoch."
        )

    def trigger_savepoint(
        self, savepoint_directory: str | None = None, format_type: Any = None
    ) -> CompletableFuture:
        raise NotSupportedError(
            "trigger_savepoint(): Penstock has no savepoints yet. Every completed epoch is a recovery point"
            " for the job itself until they come."
        )

    def get_accumulators(self) -> CompletableFuture:
        """The accumulators; they are known when the job has ended, and the future is done then."""
        return CompletableFuture(
            self._handle.result_future(), lambda result: result.get_all_accumulator_results()
        )

    def get_job_execution_result(self) -> CompletableFuture:
        """The :class:`JobExecutionResult`; done when the job has ended, failed when it failed."""
        return CompletableFuture(self._handle.result_future())

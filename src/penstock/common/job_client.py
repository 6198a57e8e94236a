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
        """Stops the job; returns when it has stopped."""

    def result_future(self) -> Future[JobExecutionResult]:
        """Done when the job is; carries JobExecutionError when it failed."""

    def savepoint(self, directory: str | None) -> Future[str]:
        """Takes a savepoint while the job runs; gives its path."""

    def stop(self, directory: str | None, drain: bool) -> Future[str]:
        """Takes a savepoint, then stops."""


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
        """Takes a savepoint and stops the job; the future gives its path.

        With ``advance_to_end_of_event_time`` all windows and event-time timers fire before.
        """
        _refuse_format(format_type)
        return CompletableFuture(self._handle.stop(savepoint_directory, advance_to_end_of_event_time))

    def trigger_savepoint(self, savepoint_directory: str | None = None, format_type: Any = None) -> CompletableFuture:
        """Takes a savepoint while the job runs; the future gives its path."""
        _refuse_format(format_type)
        return CompletableFuture(self._handle.savepoint(savepoint_directory))

    def get_accumulators(self) -> CompletableFuture:
        """The accumulators; they are known when the job has ended, and the future is done then."""
        return CompletableFuture(self._handle.result_future(), lambda result: result.get_all_accumulator_results())

    def get_job_execution_result(self) -> CompletableFuture:
        """The :class:`JobExecutionResult`; done when the job has ended, failed when it failed."""
        return CompletableFuture(self._handle.result_future())


def _refuse_format(format_type: Any) -> None:
    if format_type is not None:
        raise NotSupportedError("savepoints have one format, the canonical one: leave format_type out")

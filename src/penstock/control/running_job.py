"""What an environment gets back for a program that it submits: the one small protocol between them."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future
from typing import Any, Protocol

from penstock.common.job_execution_result import JobExecutionResult
from penstock.common.job_id import JobID
from penstock.common.job_status import JobStatus
from penstock.graph.job_request import JobRequest
from penstock.graph.transformation import Node


class RunningJob(Protocol):
    """A submitted job."""

    @property
    def job_id(self) -> JobID: ...

    def status(self) -> JobStatus: ...

    def cancel(self) -> None:
        """Stops the job; returns when it has stopped."""

    def savepoint(self, directory: str | None) -> Future[str]:
        """Takes a savepoint while the job runs; gives its path."""

    def stop(self, directory: str | None, drain: bool) -> Future[str]:
        """Takes a savepoint, then stops."""

    def result_future(self) -> Future[JobExecutionResult]:
        """Done when the job is; carries JobExecutionError when it failed."""

    def collected(self, node: Node) -> Iterator[Any]:
        """The records of a collect sink in the order of completed epochs; raises when the job fails."""

    def collected_epochs(self, node: Node) -> Iterator[list[Any]]:
        """The same, one list for each completed epoch."""


class Executor(Protocol):
    def submit(self, request: JobRequest) -> RunningJob: ...

"""An executor that keeps what it is asked to run, and plays the results that a test gives it."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future
from typing import Any

from penstock.common.job_execution_result import JobExecutionResult
from penstock.common.job_id import JobID
from penstock.common.job_status import JobStatus
from penstock.datastream.stream_execution_environment import StreamExecutionEnvironment
from penstock.graph.job_request import JobRequest
from penstock.graph.transformation import Node

JOB_ID = "0123456789abcdef0123456789abcdef"


class PlayedJob:
    job_id = JobID(JOB_ID)

    def __init__(self, epochs: list[list[Any]]) -> None:
        self._epochs = epochs
        self.cancelled = False
        self.collected_from: Node | None = None

    def status(self) -> JobStatus:
        return JobStatus.CANCELED if self.cancelled else JobStatus.RUNNING

    def cancel(self) -> None:
        self.cancelled = True

    def result_future(self) -> Future[JobExecutionResult]:
        future: Future[JobExecutionResult] = Future()
        future.set_result(JobExecutionResult(self.job_id, 7))
        return future

    def savepoint(self, directory: str | None) -> Future[str]:
        future: Future[str] = Future()
        future.set_result(f"{directory}/savepoint-1")
        return future

    def stop(self, directory: str | None, drain: bool) -> Future[str]:
        return self.savepoint(directory)

    def collected(self, node: Node) -> Iterator[Any]:
        self.collected_from = node
        return (record for epoch in self._epochs for record in epoch)

    def collected_epochs(self, node: Node) -> Iterator[list[Any]]:
        self.collected_from = node
        return iter(self._epochs)


class RecordingExecutor:
    def __init__(self, epochs: list[list[Any]] | None = None) -> None:
        self.requests: list[JobRequest] = []
        self.job = PlayedJob(epochs or [])

    def submit(self, request: JobRequest) -> PlayedJob:
        self.requests.append(request)
        return self.job


def environment(epochs: list[list[Any]] | None = None) -> tuple[StreamExecutionEnvironment, RecordingExecutor]:
    executor = RecordingExecutor(epochs)
    return StreamExecutionEnvironment(executor=executor).set_parallelism(3), executor

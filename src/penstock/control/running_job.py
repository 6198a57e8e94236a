"""What an environment gets back for a program that it submits: the one small protocol between them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

from penstock.common.job_client import JobHandle
from penstock.graph.job_request import JobRequest
from penstock.graph.transformation import Node


class RunningJob(JobHandle, Protocol):
    """A submitted job: what its client may do with it, and the records that the program collects."""

    def collected(self, node: Node) -> Iterator[Any]:
        """The records of a collect sink in the order of completed epochs; raises when the job fails."""

    def collected_epochs(self, node: Node) -> Iterator[list[Any]]:
        """The same, one list for each completed epoch."""


class Executor(Protocol):
    def submit(self, request: JobRequest) -> RunningJob: ...

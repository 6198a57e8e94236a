"""What the ways in (command line, REST, web page) may ask of a running job, and what they hear of it."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass
from typing import Protocol

from penstock.common.failure import Failure
from penstock.common.job_status import JobStatus
from penstock.control.attempts import Attempt
from penstock.control.progress import JobProgress
from penstock.control.snapshot_history import SnapshotOverview
from penstock.control.statistics import OperatorMetric


@dataclass(frozen=True)
class OperatorDescription:
    """One operator, with what all its subtasks have read since this driver started."""

    uid: str
    name: str
    kind: str
    parallelism: int
    level: int
    records_in: int


@dataclass(frozen=True)
class JobDescription:
    """A job at one moment."""

    job_id: str
    name: str
    parallelism: int
    started_at: int
    duration_ms: int
    progress: JobProgress
    operators: tuple[OperatorDescription, ...]
    attempts: tuple[Attempt, ...]  # the oldest first; the last one runs
    snapshots: SnapshotOverview
    failure: Failure | None = None
    metrics: tuple[OperatorMetric, ...] = ()

    @property
    def state(self) -> JobStatus:
        return self.progress.state

    @property
    def restarts(self) -> int:
        return self.attempts[-1].number if self.attempts else 0


class JobControl(Protocol):
    """Implemented by the job master; every call may come from another thread than the program's."""

    def describe(self) -> JobDescription: ...

    def cancel(self) -> None:
        """Stops the job at once; returns when it has stopped."""

    def savepoint(self, directory: str | None) -> Future[str]:
        """Takes a savepoint below the directory (default: the configured one) while the job runs; gives its path."""

    def checkpoint(self) -> Future[str]:
        """Takes a checkpoint now, outside its interval; gives its path."""

    def stop(self, directory: str | None, drain: bool) -> Future[str]:
        """Takes a savepoint, then stops; with drain event time ends first, so that all windows fire."""

"""What the ways in (command line, REST, web page) may ask of a running job, and what they hear of it."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Protocol

from penstock.common.failure import Failure
from penstock.common.job_status import JobStatus
from penstock.control.attempts import Attempt
from penstock.control.epoch_history import EpochFacts
from penstock.control.job_record import InputDescription
from penstock.control.progress import JobProgress
from penstock.control.snapshot_history import SnapshotOverview
from penstock.control.state_questions import StateAnswer
from penstock.runtime.state_questions import StateQuestion


@dataclass(frozen=True)
class SubtaskDescription:
    """One subtask of an operator; metrics have Flink's names, those of functions follow them."""

    index: int
    worker: str | None = None  # host and process
    started_at: int | None = None
    metrics: dict[str, float] = field(default_factory=dict)
    stacks: tuple[SampledStack, ...] = ()
    hot_keys: tuple[HotKey, ...] = ()
    keys_sampled: int = 0
    metric_types: dict[str, str] = field(default_factory=dict)  # of the metrics that are no gauges


@dataclass(frozen=True)
class SampledStack:
    """Frames from the outermost on, and how often they were seen."""

    frames: tuple[str, ...]
    seen: int


@dataclass(frozen=True)
class HotKey:
    key: str  # as Python writes it
    seen: int


@dataclass(frozen=True)
class OperatorDescription:
    """One operator, with what all its subtasks have read since this driver started."""

    uid: str
    name: str
    kind: str
    parallelism: int
    level: int
    records_in: int
    max_parallelism: int = 128
    chain: str = ""  # operators of one chain have the same
    origin: str = ""  # the user's line
    inputs: tuple[InputDescription, ...] = ()
    subtasks: tuple[SubtaskDescription, ...] = ()

    def mean(self, metric: str) -> float:
        values = [subtask.metrics[metric] for subtask in self.subtasks if metric in subtask.metrics]
        return sum(values) / len(values) if values else 0.0

    def total(self, metric: str) -> float:
        return sum(subtask.metrics.get(metric, 0) for subtask in self.subtasks)


@dataclass(frozen=True)
class WorkerDescription:
    """A process that runs subtasks, as it was in its last epoch."""

    id: str
    host: str
    pid: int
    resident_bytes: int
    cpu_seconds: float


@dataclass(frozen=True)
class JobDescription:
    """A job at one moment; whoever shows jobs, running or ended, here or elsewhere, gets one of these."""

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
    metrics: dict[str, float] = field(default_factory=dict)  # of the job as a whole
    accumulators: dict[str, dict[str, float]] = field(default_factory=dict)  # of functions, by uid, over all subtasks
    epochs: tuple[EpochFacts, ...] = ()
    workers: tuple[WorkerDescription, ...] = ()
    configuration: dict[str, str] = field(default_factory=dict)
    job_parameters: dict[str, str] = field(default_factory=dict)
    script: str | None = None
    engine: str = ""
    waiting: str | None = None  # why it does not run yet

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

    def look_at_state(self, question: StateQuestion) -> Future[StateAnswer]:
        """As it is after the next epoch to end."""

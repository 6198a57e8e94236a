"""Where tasks run: what the engine asks of Spark, and tests of plain processes."""

from __future__ import annotations

from typing import Protocol

from penstock.common.failure import Failure
from penstock.control.engine import EngineJob, WorkerEnvironment
from penstock.control.job_home import JobHome
from penstock.engines.resident.messages import TaskSettings
from penstock.graph.job_request import JobRequest


class TaskHost(Protocol):
    """Keeps one task running in each slot. A task that is lost may come back by itself; the engine counts hellos."""

    @property
    def encrypts(self) -> bool:
        """Whether what travels is to be encrypted; known once it is open."""

    def prepare(self, request: JobRequest, home: JobHome) -> WorkerEnvironment: ...

    def open(self, job: EngineJob) -> None:
        """Once; may take a while."""

    def slots_for(self, parallelism: int) -> int:
        """How many tasks a job gets: one for each subtask, or fewer where slots are known to be fewer."""

    def most_tasks(self) -> int | None:
        """How many tasks can ever run at the same time; None if that is not known, or may change while one waits."""

    def driver_address(self) -> str:
        """Where tasks reach the driver."""

    def start(self, slot: int, settings: TaskSettings) -> None:
        """Begins to run a task there; returns at once."""

    def replace(self, slot: int) -> None:
        """Ends whatever runs there, however stuck it is, and starts again."""

    def ended(self) -> dict[int, str]:
        """Slots in which nothing runs any more, and why."""

    def lost(self, patience_seconds: float = 0.0) -> Failure | None:
        """Whether nothing can run any more."""

    def close(self) -> None:
        """Tasks that were told to end have a moment for it, in which nobody waits for them."""

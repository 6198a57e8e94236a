"""What runs the epochs of a job. The job master drives it and does not know what it is made of."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from penstock.common.failure import Failure
from penstock.control.epoch_completion import EpochCompletion
from penstock.control.epoch_planner import EpochPlanner
from penstock.control.job_home import JobHome
from penstock.control.job_machine import JobEvent
from penstock.graph.job_request import JobRequest
from penstock.runtime.blueprint import JobBlueprint
from penstock.runtime.savepoint import Savepoint


@dataclass(frozen=True)
class WorkerEnvironment:
    """What workers need to load the program: see JobSettings."""

    module_paths: tuple[str, ...] = ()
    working_directory: str | None = None


@dataclass(frozen=True)
class EngineJob:
    """What an engine gets to run.

    It asks `planner` what the next epoch reads, hands the reports of all subtasks to `completion.complete`, and calls
    `completion.publish` when it knows that the epoch never runs again. Before each of these it calls `fence`, which
    raises when another process has taken the job over.
    """

    blueprint: JobBlueprint
    savepoint: Savepoint | None  # what subtasks start from that have no snapshot of their own
    home: JobHome
    planner: EpochPlanner
    completion: EpochCompletion
    fence: Callable[[], None]
    tell: Callable[[JobEvent], None]
    news: threading.Event  # set when the master has something to look at: whoever waits in `watch` may return


@dataclass(frozen=True)
class AttemptEnd:
    """Why an attempt has ended by itself; without what the engine runs on there cannot be another in this process."""

    failure: Failure
    can_restart: bool = True


class Engine(Protocol):
    """Called by one thread at a time."""

    name: str  # as penstock.engine has it

    def prepare(self, request: JobRequest, home: JobHome) -> WorkerEnvironment:
        """Before the program is translated: what the request holds of the engine's own things."""

    def open(self, job: EngineJob) -> None:
        """Once, before the first attempt; may take a while."""

    def start(self, attempt: int) -> None:
        """Begins to run epochs, from the last one that is recorded; returns at once."""

    def watch(self, seconds: float) -> AttemptEnd | None:
        """Lets this time pass, or computes meanwhile; says how the attempt has ended if it did so by itself."""

    def lost(self) -> Failure | None:
        """Whether what the engine runs on is gone: asked when a call has failed."""

    def stop(self) -> None:
        """Ends the attempt: nothing is computed any more when this returns."""

    def close(self) -> None:
        """Ends whatever runs and gives everything back; may be called after any failure, and again."""

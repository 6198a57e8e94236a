"""Resident jobs without Spark: their tasks are plain processes of this machine, so that a job costs milliseconds."""

from __future__ import annotations

import contextlib
import importlib
import multiprocessing
import os
import sys
from collections.abc import Callable, Iterator
from multiprocessing.context import ForkServerProcess
from types import ModuleType

from penstock.common.failure import Failure
from penstock.control.engine import AttemptEnd, Engine, EngineJob, WorkerEnvironment
from penstock.control.job_home import JobHome
from penstock.control.job_submission import submit
from penstock.control.running_job import RunningJob
from penstock.control.work import Offset
from penstock.engines.local.executor import LocalExecutor
from penstock.engines.resident.engine import ResidentEngine
from penstock.engines.resident.messages import FromTask, TaskSettings
from penstock.engines.resident.supervisor import Gone
from penstock.engines.resident.task import run_task
from penstock.engines.resident.task_host import TaskHost
from penstock.graph.job_request import JobRequest
from penstock.runtime.blueprint import JobSettings

_END_SECONDS = 3.0


class ProcessHost:
    """Starts a process for each slot, and again when it has died."""

    def __init__(self, encrypts: bool = False) -> None:
        self.encrypts = encrypts
        # Not forked from this process: a child would hold its sockets open.
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(["penstock.engines.resident.task", "pyarrow"])
        self.processes: dict[int, ForkServerProcess] = {}

    def prepare(self, request: JobRequest, home: JobHome) -> WorkerEnvironment:
        return WorkerEnvironment()

    def open(self, job: EngineJob) -> None:
        """There is nothing to start before the tasks."""

    def slots_for(self, parallelism: int) -> int:
        return parallelism

    def most_tasks(self) -> int | None:
        return None

    def driver_address(self) -> str:
        return "127.0.0.1"

    def start(self, slot: int, settings: TaskSettings) -> None:
        process = self._context.Process(
            target=_run_task, args=(slot, settings, dict(os.environ), sys.path), daemon=True
        )
        with _without_a_program():
            process.start()
        self.processes[slot] = process

    def replace(self, slot: int) -> None:
        self.processes[slot].kill()

    def ended(self) -> dict[int, str]:
        dead = {slot: process for slot, process in self.processes.items() if not process.is_alive()}
        return {slot: f"its process ended with {process.exitcode}" for slot, process in dead.items()}

    def lost(self, patience_seconds: float = 0.0) -> Failure | None:
        return None

    def close(self) -> None:
        for process in self.processes.values():
            process.join(_END_SECONDS)
            process.kill()
        self.processes = {}


@contextlib.contextmanager
def _without_a_program() -> Iterator[None]:
    """A new process would import the program that runs here, which comes to it by value."""
    program = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = program


def _run_task(slot: int, settings: TaskSettings, environment: dict[str, str], path: list[str]) -> None:
    """The server that forks may be older than some of what this process has."""
    os.environ.update(environment)
    sys.path[:] = path
    run_task(slot, settings, _make_ready)


def _make_ready(settings: JobSettings) -> None:
    """The processes have this one's modules; programs of the tests may call them by PyFlink's names."""
    importlib.import_module("penstock.cli.pyflink_alias").install()


class ResidentExecutor(LocalExecutor):
    """Runs a whole job to its end on resident tasks."""

    engine: ResidentEngine
    encrypts = False

    def meanwhile(self) -> None:
        """Called again and again while the job runs, in its own thread: tests meddle here."""

    def _engine(self) -> Engine:
        self.engine = ResidentInTests(
            ProcessHost(self.encrypts), self._forget, self._before_epoch, lambda: self.meanwhile()
        )
        return self.engine


class ResidentInTests(ResidentEngine):
    """With `forget` everybody rolls back after every epoch, so that each one starts from snapshots alone."""

    def __init__(
        self,
        host: TaskHost,
        forget: bool = False,
        before_epoch: Callable[[int], None] = lambda number: None,
        meanwhile: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(host)
        self._forget = forget
        self._before_epoch = before_epoch
        self._meanwhile = meanwhile

    def open(self, job: EngineJob) -> None:
        tell_of_epochs(job, self._before_epoch)
        super().open(job)

    def _hear(self, slot: int, message: FromTask | Gone) -> AttemptEnd | None:
        completion = self._job.completion
        before = completion.store.latest.epoch
        verdict = super()._hear(slot, message)
        self._meanwhile()
        if self._forget and verdict is None and completion.store.latest.epoch > before and not completion.ended:
            verdict = self._roll_back("everybody is to start from snapshots alone")
            self._losses = 0
        return verdict


def tell_of_epochs(job: EngineJob, before_epoch: Callable[[int], None]) -> None:
    """How many epochs there are, whenever the next one is looked for."""
    look = job.planner.look

    def told(start: Offset) -> Offset | None:
        before_epoch(start["epoch"])
        return look(start)

    job.planner.look = told  # type: ignore[method-assign]


class ProcessExecutor:
    """Runs jobs as `penstock run` does, with all their files, on processes instead of Spark."""

    def submit(self, request: JobRequest) -> RunningJob:
        return submit(request, lambda recorded: ResidentEngine(ProcessHost()))

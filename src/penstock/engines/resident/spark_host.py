"""Resident tasks on Spark: one Spark job with one task for each slot, so that a lost one comes back alone.

Spark's barrier mode would fail all of them together, and start again after seconds (docs/adr/0018).
"""

from __future__ import annotations

import contextlib
import itertools
import threading
from collections.abc import Iterable

from pyspark import SparkContext

from penstock.common.failure import Failure
from penstock.common.run_options import current_run_options
from penstock.control.engine import EngineJob, WorkerEnvironment
from penstock.control.job_home import JobHome
from penstock.engines.resident.messages import TaskSettings
from penstock.engines.resident.spark_capacity import most_tasks
from penstock.engines.resident.task import run_task
from penstock.engines.spark.engine import loss_of_the_jvm, read_bounded_frames, spark_options
from penstock.engines.spark.jvm_settings import LOCAL
from penstock.engines.spark.query_failure import message_of_job
from penstock.engines.spark.session import has_died, settings_of, spark_context
from penstock.engines.spark.worker_modules import (
    collect_module_paths,
    prepare_worker,
    ship_modules,
    unpack_archives,
)
from penstock.graph.job_request import JobRequest

_END_SECONDS = 2.0
# Whoever asks Spark for one of these wants what travels to be encrypted.
_ENCRYPTION = ("spark.authenticate", "spark.network.crypto.enabled", "spark.ssl.enabled", "spark.ssl.rpc.enabled")
_numbers = itertools.count()


class SparkHost:
    """The context is shared by the jobs of the process; threads and job groups belong to one job."""

    def __init__(self) -> None:
        self._spark: SparkContext | None = None
        self._running: dict[int, _SparkTask] = {}

    def prepare(self, request: JobRequest, home: JobHome) -> WorkerEnvironment:
        read_bounded_frames(request)
        self._options = spark_options(request)
        return WorkerEnvironment(
            collect_module_paths(request.dependencies, home.path / "python"),
            unpack_archives(request.dependencies, home.path / "archives"),
        )

    def open(self, job: EngineJob) -> None:
        self._job_id = job.home.job_id
        options, home = current_run_options(), job.home
        log_file = home.home / "logs" / "spark.log"
        self._spark = spark_context(options.master, self._options, log_file, options.verbose, places=True)
        ship_modules(self._spark, job.blueprint.settings, home.path / "shipped")

    @property
    def _context(self) -> SparkContext:
        assert self._spark is not None
        return self._spark

    def slots_for(self, parallelism: int) -> int:
        """A local Spark has the cores it has, and several subtasks share one; a cluster may still get more."""
        if str(self._context.master).startswith(LOCAL):
            return min(parallelism, self._context.defaultParallelism)
        return parallelism

    def most_tasks(self) -> int | None:
        return most_tasks(self._context)

    @property
    def encrypts(self) -> bool:
        settings = settings_of(self._context)
        return any(settings.get(key, "false") == "true" for key in _ENCRYPTION)

    def driver_address(self) -> str:
        return settings_of(self._context).get("spark.driver.host", "127.0.0.1")

    def start(self, slot: int, settings: TaskSettings) -> None:
        self._running[slot] = _SparkTask(self._context, self._job_id, slot, settings)

    def replace(self, slot: int) -> None:
        self._running[slot].cancel()

    def ended(self) -> dict[int, str]:
        return {slot: task.why for slot, task in self._running.items() if task.why is not None}

    def lost(self, patience_seconds: float = 0.0) -> Failure | None:
        if self._spark is None or not has_died(self._spark, patience_seconds):
            return None
        return loss_of_the_jvm(self._job_id)

    def close(self) -> None:
        """The job does not wait: its functions are closed, and what a Spark task does after that is of no effect."""
        tasks, self._running = list(self._running.values()), {}
        if tasks and self.lost() is None:
            threading.Thread(target=_see_ended, args=(tasks,), name="penstock-ending-tasks", daemon=True).start()


def _see_ended(tasks: list[_SparkTask]) -> None:
    for task in tasks:
        if not task.join(_END_SECONDS):
            task.cancel()


class _SparkTask:
    """One Spark job with one task, and the thread that waits for it."""

    def __init__(self, context: SparkContext, job_id: str, slot: int, settings: TaskSettings) -> None:
        self._context = context
        self._group = f"penstock-{job_id}-{slot}-{next(_numbers)}"
        self._slot = slot
        self._settings = settings
        self.why: str | None = None
        self._thread = threading.Thread(target=self._run, name=self._group, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        settings = self._settings

        def host(slots: Iterable[int]) -> None:
            for slot in slots:  # to its end, although there is one only: Spark uses no worker again that leaves input
                run_task(slot, settings, prepare_worker)

        try:
            self._context.setJobGroup(self._group, f"slot {self._slot} of a resident job", interruptOnCancel=True)
            self._context.parallelize([self._slot], 1).foreachPartition(host)
            self.why = "its task has ended"
        except Exception as error:
            self.why = message_of_job(error)

    def cancel(self) -> None:
        with contextlib.suppress(Exception):  # Spark itself may be ending
            self._context.cancelJobGroup(self._group)

    def join(self, seconds: float) -> bool:
        self._thread.join(seconds)
        return not self._thread.is_alive()

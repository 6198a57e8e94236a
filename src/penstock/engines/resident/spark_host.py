"""Resident tasks on Spark, as the engine sees them."""

from __future__ import annotations

from pyspark import SparkContext

from penstock.common.failure import Failure
from penstock.common.run_options import current_run_options
from penstock.control.engine import EngineJob, WorkerEnvironment
from penstock.control.job_home import JobHome
from penstock.engines.resident.messages import TaskSettings
from penstock.engines.resident.spark_capacity import most_tasks
from penstock.engines.resident.spark_tasks import SparkTask, tasks_of
from penstock.engines.spark.engine import loss_of_the_jvm, read_bounded_frames, spark_options
from penstock.engines.spark.jvm_settings import LOCAL
from penstock.engines.spark.session import has_died, settings_of, spark_context
from penstock.engines.spark.worker_modules import (
    collect_module_paths,
    ship_modules,
    unpack_archives,
)
from penstock.graph.job_request import JobRequest

# Whoever asks Spark for one of these wants what travels to be encrypted.
_ENCRYPTION = ("spark.authenticate", "spark.network.crypto.enabled", "spark.ssl.enabled", "spark.ssl.rpc.enabled")


class SparkHost:
    """The context is shared by the jobs of the process; threads and job groups belong to one job."""

    def __init__(self) -> None:
        self._spark: SparkContext | None = None
        self._running: dict[int, SparkTask] = {}

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
        self._running[slot] = tasks_of(self._context).start(self._job_id, slot, settings)

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
            tasks_of(self._context).dismiss(tasks)

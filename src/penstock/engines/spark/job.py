"""One job on Spark: its query, its coordinator, and the thread that watches both until the end."""

from __future__ import annotations

import queue
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any

from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery

from penstock.common.configuration import Configuration
from penstock.common.errors import (
    ConfigurationError,
    JobCancelledError,
    JobExecutionError,
    JobTakenOverError,
    PenstockError,
)
from penstock.common.job_execution_result import JobExecutionResult
from penstock.common.job_id import JobID
from penstock.common.job_status import JobStatus
from penstock.common.options import value_of
from penstock.common.run_options import current_run_options
from penstock.control.attempts import AttemptHistory
from penstock.control.checkpoints import CheckpointSettings
from penstock.control.coordinator import EpochCoordinator
from penstock.control.epoch_size import EpochSizer
from penstock.control.epoch_store import EpochStore
from penstock.control.finished_jobs import FinishedJobs
from penstock.control.job_home import JobHome
from penstock.control.job_record import describe_job
from penstock.control.progress import JobProgress, progress_listener
from penstock.control.restart import restart_strategy
from penstock.control.savepoints import SavepointRequest
from penstock.control.snapshot_location import local_directory
from penstock.engines.spark.fenced_planner import FencedPlanner
from penstock.engines.spark.moved_checkpoint import settle_in
from penstock.engines.spark.planner_link import PlannerClient, PlannerServer
from penstock.engines.spark.query import start_query
from penstock.engines.spark.session import has_died, spark_session
from penstock.engines.spark.sinks import commit_epoch
from penstock.engines.spark.worker_modules import ship_modules
from penstock.graph.job_request import JobRequest
from penstock.graph.stream_graph import upstream_first
from penstock.graph.transformation import Node
from penstock.rest.server import serve_job
from penstock.runtime.blueprint import JobBlueprint
from penstock.runtime.clock import system_clock
from penstock.runtime.context import SubtaskContext
from penstock.runtime.operators.file_commit import sweep
from penstock.runtime.report import SubtaskReport
from penstock.runtime.savepoint import Savepoint
from penstock.runtime.sources.base import Source

_WATCH_SECONDS = 0.02
_DYING_SECONDS = 3.0
_END = object()


class SparkJob:
    """One job: its query, its coordinator, and a thread that watches both."""

    def __init__(
        self,
        request: JobRequest,
        configuration: Configuration,
        blueprint: JobBlueprint,
        savepoint: Savepoint | None,
        home: JobHome,
        log_file: Path,
    ) -> None:
        self._request = request
        self._savepoint = savepoint
        self._configuration = configuration
        self._blueprint = blueprint
        self._home = home
        self._status = JobStatus.CREATED
        self._result: Future[JobExecutionResult] = Future()
        self._cancelled = threading.Event()
        self._collected: dict[int, queue.SimpleQueue[Any]] = {
            operator.id: queue.SimpleQueue() for operator in blueprint.operators if operator.kind == "collect"
        }
        self._sources = _sources_of(request)
        self._server: PlannerServer | None = None
        try:
            self._start(log_file)
        except BaseException:
            self._close_helpers()
            raise
        threading.Thread(target=self._watch, name=f"penstock-job-{home.path.name}", daemon=True).start()

    # -- what RunningJob promises ------------------------------------------------------------------------------

    @property
    def job_id(self) -> JobID:
        return JobID(self._blueprint.settings.job_id)

    def status(self) -> JobStatus:
        return self._status

    def cancel(self) -> None:
        self._cancelled.set()
        self._coordinator.wake()
        self._done.wait()

    def savepoint(self, directory: str | None) -> Future[str]:
        return self._request_savepoint(directory, stop=False, drain=False)

    def stop(self, directory: str | None, drain: bool) -> Future[str]:
        return self._request_savepoint(directory, stop=True, drain=drain)

    def _request_savepoint(self, directory: str | None, stop: bool, drain: bool) -> Future[str]:
        parent = (
            directory
            or value_of(self._configuration, "execution.checkpointing.savepoint-dir")
            or value_of(self._configuration, "state.savepoints.dir")
        )
        request = SavepointRequest("" if parent is None else local_directory(str(parent)), stop=stop, drain=drain)
        if parent is None:
            request.path.set_exception(
                ConfigurationError("no directory for the savepoint: give one, or set state.savepoints.dir")
            )
        elif self._done.is_set():
            request.path.set_exception(JobExecutionError("the job has ended: there is nothing to save"))
        else:
            self._coordinator.request_savepoint(request)
        return request.path

    def checkpoint(self) -> Future[str]:
        request = self._coordinator.request_checkpoint()
        if request is None:
            request = SavepointRequest("")
            request.path.set_exception(
                ConfigurationError("the job takes no checkpoints: set execution.checkpointing.interval")
            )
        return request.path

    def describe(self) -> dict[str, Any]:
        statistics, blueprint = self._coordinator.statistics, self._blueprint
        return {
            **describe_job(blueprint),
            "state": self._status.name,
            "started_at": self._started_at_ms,
            "duration_ms": system_clock() - self._started_at_ms,
            "epoch": statistics.epoch,
            "records_in": statistics.records_in,
            "records_out": statistics.records_out,
            "rate": statistics.rate,
            "watermark_lag_ms": statistics.watermark_lag_ms(system_clock()),
            "restarts": self._attempts.number,
            "attempts": self._attempts.entries(),
            "failure": self._coordinator.failure,
            "savepoints": self._coordinator.snapshots.savepoints,
            "checkpoints": self._coordinator.snapshots.describe(),
        }

    def result_future(self) -> Future[JobExecutionResult]:
        return self._result

    def collected(self, node: Node) -> Iterator[Any]:
        for records in self.collected_epochs(node):
            yield from records

    def collected_epochs(self, node: Node) -> Iterator[list[Any]]:
        waiting = self._collected[node.id]
        while (records := waiting.get()) is not _END:
            yield records
        error = self._result.exception() if self._result.done() else None
        if error is not None and not isinstance(error, JobCancelledError):
            raise error

    # -- life --------------------------------------------------------------------------------------------------

    def _start(self, log_file: Path) -> None:
        configuration, options = self._configuration, current_run_options()
        self._done = threading.Event()
        self._started_at = time.monotonic()
        self._started_at_ms = system_clock()
        self._restarts = restart_strategy(configuration)
        checkpoints = CheckpointSettings.of(configuration, self._home.home, self._home.job_id)
        self._store = EpochStore(self._home.epochs, checkpoints.way_out)
        self._attempts = AttemptHistory(self._home.run)
        # State that an earlier process has left must survive a changed program that does not fit to it.
        went_on = self._store.latest.unfinished is not None
        self._keep_files = went_on or value_of(configuration, "execution.checkpointing.interval") is not None
        self._coordinator = EpochCoordinator(
            self._blueprint,
            self._sources,
            self._store,
            EpochSizer(
                value_of(configuration, "penstock.epoch.initial-records"),
                value_of(configuration, "penstock.epoch.max-records"),
                value_of(configuration, "penstock.epoch.target-ms"),
            ),
            self._commit,
            savepoint=self._savepoint,
            checkpoints=checkpoints,
        )
        self._open_sources()
        self._session = spark_session(options.master, _spark_options(self._request), log_file, options.verbose)
        ship_modules(self._session, self._blueprint.settings.module_paths, self._home.path / "shipped")
        settle_in(self._home.spark_checkpoint)
        self._server = PlannerServer(FencedPlanner(self._coordinator, self._home))
        self._client = PlannerClient(self._server.address, self._server.key)
        self._query = self._start_query()
        self._rest = serve_job(self, self._home)
        self._set_status(JobStatus.RUNNING)

    def _open_sources(self) -> None:
        """Before Spark starts, which takes a while: a wrong path or the like should be told at once."""
        operators = {operator.id: operator for operator in self._blueprint.operators}
        for id_, source in self._sources.items():
            directory = self._home.source_directory(operators[id_].uid)
            context = SubtaskContext(operators[id_], self._blueprint.settings, 0, system_clock)
            source.runtime_context = context.runtime_context
            source.open(operators[id_].parallelism, str(directory), self._coordinator.wake)
        self._coordinator.initial_offset()

    def _start_query(self) -> StreamingQuery:
        epoch = self._store.latest.epoch
        savepoint = self._savepoint.path if self._savepoint is not None and epoch == 0 else None
        self._attempts.begin(self._home.owner(), epoch, savepoint)
        settings = replace(self._blueprint.settings, attempt=self._attempts.number)
        return start_query(
            self._session,
            replace(self._blueprint, settings=settings),
            _frames_of(self._request),
            self._client,
            self._blueprint.settings.job_id,
            self._home.spark_checkpoint,
            self._complete,
            self._coordinator.planning,
            self._savepoint,
        )

    def _complete(self, reports: list[SubtaskReport]) -> None:
        self._home.check_owned()
        self._coordinator.complete(reports)
        self._report_progress()

    def _commit(self, operator_id: int, committables: list[Any]) -> None:
        if operator_id in self._collected:
            self._collected[operator_id].put(committables)
        else:
            self._home.check_owned()  # once more: the process may have stood still since the look before
            commit_epoch(committables)

    def _watch(self) -> None:
        error = self._run_to_the_end()
        self._coordinator.snapshots.give_up("the job has ended")
        if not isinstance(error, JobTakenOverError):
            cancelled = isinstance(error, JobCancelledError)
            self._coordinator.snapshots.end(cancelled, failed=error is not None and not cancelled)
        try:
            self._shut_down(error)
        except Exception as unexpected:
            error = error or unexpected  # whoever waits for the job must hear of its end
        self._settle(error)

    def _run_to_the_end(self) -> BaseException | None:
        try:
            error: BaseException | None = self._wait_for_end()
            while isinstance(error, JobExecutionError) and self._restart_after(error):
                error = self._wait_for_end()
        except Exception as unexpected:
            error = self._loss_of_spark() if has_died(self._session, _DYING_SECONDS) else unexpected
        try:
            self._home.check_owned()
        except JobTakenOverError as taken_over:
            return taken_over  # whatever else went wrong: its files were not there any more
        return error

    def _restart_after(self, error: JobExecutionError) -> bool:
        """Starts the query again from the last epoch, if the restart strategy allows it."""
        self._home.check_owned()
        if isinstance(error, JobCancelledError) or has_died(self._session):
            return False
        delay_ms = self._restarts.next_delay_ms(system_clock())
        if delay_ms is None:
            return False
        self._attempts.end(JobStatus.FAILED.name, str(error))
        self._set_status(JobStatus.RESTARTING)
        print(f"penstock: the job failed and starts again in {delay_ms / 1000:.1f} s\n{error}", file=sys.stderr)
        if self._cancelled.wait(delay_ms / 1000):
            return True  # the next look at the job finds it cancelled
        self._coordinator.forget_failure()
        self._query = self._start_query()
        self._set_status(JobStatus.RUNNING)
        return True

    def _wait_for_end(self) -> PenstockError | None:
        """Returns when the job has ended in one of its three ways."""
        while True:
            if self._coordinator.finished.is_set() or self._coordinator.stopped.is_set():
                return None
            if self._cancelled.is_set() or self._coordinator.output_closed.is_set():
                return JobCancelledError(f"the job {self._request.name!r} was cancelled")
            if has_died(self._session):
                return self._loss_of_spark()
            overdue = self._coordinator.snapshots.tick()
            if overdue is not None:
                self._query.stop()
                return JobExecutionError(overdue)
            if not self._query.isActive:
                return self._failure()
            self._coordinator.finished.wait(_WATCH_SECONDS)

    def _failure(self) -> PenstockError:
        if self._coordinator.failure is not None:
            return JobExecutionError(self._coordinator.failure)
        exception = self._query.exception()
        return JobExecutionError(_spark_message(exception))

    def _loss_of_spark(self) -> JobExecutionError:
        return JobExecutionError(
            f"Spark's JVM has died under the job. Its files are kept: `penstock resume {self.job_id}` goes on from the "
            "last epoch. If nobody has killed the JVM, it may have been short of memory (spark.driver.memory)."
        )

    def _close_helpers(self) -> None:
        for source in self._sources.values():
            source.close()
        if self._server is not None:
            self._server.close()

    def _shut_down(self, error: BaseException | None) -> None:
        self._rest.close()
        lost = has_died(self._session)
        try:
            if not lost:
                self._query.stop()
        finally:
            self._close_helpers()
            self._leave_home(error, lost)

    def _leave_home(self, error: BaseException | None, lost: bool) -> None:
        """What happens to the job's files; those of a job that was taken over belong to somebody else."""
        if isinstance(error, JobTakenOverError):
            self._home.release()
            return
        state = _end_state(error)
        self._attempts.end(state.name, str(error) if state is JobStatus.FAILED else None)
        if state is JobStatus.FAILED and (self._keep_files or lost):
            # A job that failed for good can be looked at, mended and resumed.
            self._home.write_record({**(self._home.read_record() or {}), "state": state.name})
            self._home.release()
            return
        if state is JobStatus.FINISHED:
            self._sweep_sinks()
        # Behind the record nobody runs the job again, before it everybody who does finds all of its files.
        FinishedJobs(self._home.home).put(self._final_record(state, error))
        self._home.remove()

    def _final_record(self, state: JobStatus, error: BaseException | None) -> dict[str, Any]:
        now, savepoints = system_clock(), self._coordinator.snapshots.savepoints
        started = self._attempts.entries()[0]["started_at"]
        return {
            **(self._home.read_record() or {}),
            "state": state.name,
            "started_at": started,
            "ended_at": now,
            "duration_ms": now - started,
            "attempts": self._attempts.entries(),
            "failure": str(error) if state is JobStatus.FAILED else None,
            "stopped": self._coordinator.stopped.is_set(),
            "savepoint": savepoints[-1]["path"] if savepoints else None,
            "metrics": self._coordinator.statistics.metric_totals(),
        }

    def _settle(self, error: BaseException | None) -> None:
        self._set_status(_end_state(error))
        if error is None:
            runtime = int((time.monotonic() - self._started_at) * 1000)
            totals = self._coordinator.statistics.metric_totals()
            self._result.set_result(JobExecutionResult(self.job_id, runtime, totals))
        else:
            self._result.set_exception(error)
        for records in self._collected.values():
            records.put(_END)
        self._done.set()

    def _sweep_sinks(self) -> None:
        for operator in self._blueprint.operators:
            if operator.kind == "file_sink":
                sweep(operator.params["base_path"], self._blueprint.settings.job_id)

    def _set_status(self, status: JobStatus) -> None:
        self._status = status
        self._report_progress()

    def _report_progress(self) -> None:
        listener, statistics = progress_listener(), self._coordinator.statistics
        if listener is not None:
            listener(
                JobProgress(
                    self._status.name,
                    statistics.epoch,
                    statistics.records_in,
                    statistics.records_out,
                    statistics.rate,
                    statistics.watermark_lag_ms(system_clock()),
                )
            )


def _end_state(error: BaseException | None) -> JobStatus:
    if error is None:
        return JobStatus.FINISHED
    return JobStatus.CANCELED if isinstance(error, JobCancelledError) else JobStatus.FAILED


def _spark_options(request: JobRequest) -> dict[str, str]:
    options = {key: value for key, value in request.configuration.items() if key.startswith("spark.")}
    if request.dependencies.executable is not None:
        options["spark.pyspark.python"] = request.dependencies.executable
    return options


def _sources_of(request: JobRequest) -> dict[int, Source]:
    return {node.id: node.params["source"] for node in upstream_first(request.sinks) if "source" in node.params}


def _frames_of(request: JobRequest) -> dict[int, DataFrame]:
    return {
        node.id: node.params["spark_frame"] for node in upstream_first(request.sinks) if "spark_frame" in node.params
    }


def _spark_message(exception: StreamingQueryException | None) -> str:
    """What Spark says, without its stack: the log file has all of it."""
    text = "the Spark query ended without saying why" if exception is None else str(exception)
    for mark in ("\nJVM stacktrace", "\n\tat ", "\n=== Streaming Query ===", " SQLSTATE:"):
        text = text.split(mark)[0]
    return f"Spark could not run the job: {text.strip()}"

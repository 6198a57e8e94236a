"""Runs one job on some engine: says to the job machine what happens, and does what the machine decides."""

from __future__ import annotations

import queue
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass, fields, replace
from typing import Any

from penstock.common.configuration import Configuration
from penstock.common.errors import ConfigurationError, JobCancelledError, JobExecutionError, JobTakenOverError
from penstock.common.failure import Failure
from penstock.common.job_execution_result import JobExecutionResult
from penstock.common.job_id import JobID
from penstock.common.job_status import JobStatus
from penstock.common.options import value_of
from penstock.control import job_machine as says
from penstock.control.attempts import AttemptHistory
from penstock.control.checkpoints import CheckpointSettings
from penstock.control.committing import Committing
from penstock.control.engine import Engine, EngineJob
from penstock.control.epoch_completion import EpochCompletion
from penstock.control.epoch_planner import EpochPlanner
from penstock.control.epoch_size import EpochSizer
from penstock.control.epoch_store import EpochStore
from penstock.control.finished_jobs import FinishedJobs, FinishedRecord
from penstock.control.job_control import JobDescription, OperatorDescription
from penstock.control.job_home import JobHome
from penstock.control.job_machine import Instruction, JobEvent, JobMachine
from penstock.control.job_record import JobRecord, record_of
from penstock.control.job_services import JobService, ServiceMaker
from penstock.control.progress import progress_listener
from penstock.control.restart import RestartStrategy
from penstock.control.savepoints import SavepointRequest
from penstock.control.snapshot_keeper import SnapshotKeeper
from penstock.control.snapshot_location import local_directory
from penstock.control.statistics import JobStatistics
from penstock.control.wakeups import Wakeups
from penstock.control.work import places_of
from penstock.graph.transformation import Node
from penstock.runtime.blueprint import JobBlueprint
from penstock.runtime.clock import Clock, system_clock
from penstock.runtime.context import SubtaskContext
from penstock.runtime.failure import failure_of
from penstock.runtime.savepoint import Savepoint
from penstock.runtime.sources.base import SourcePlanner

_WATCH_SECONDS = 0.02


@dataclass(frozen=True)
class JobSpec:
    """A job that is ready to run."""

    blueprint: JobBlueprint
    sources: dict[int, SourcePlanner]
    configuration: Configuration
    sizer: EpochSizer
    restarts: RestartStrategy
    checkpoints: CheckpointSettings
    savepoint: Savepoint | None = None


class JobMaster:
    """What RunningJob and JobControl promise, on a home that this process owns."""

    def __init__(
        self,
        spec: JobSpec,
        home: JobHome,
        engine: Engine,
        services: ServiceMaker | None = None,
        clock: Clock = system_clock,
    ) -> None:
        self._spec = spec
        self._home = home
        self._engine = engine
        self._make_services = services
        self._services: JobService | None = None
        self._clock = clock
        self._started_at = clock()
        self._events: queue.SimpleQueue[JobEvent] = queue.SimpleQueue()
        self._news = threading.Event()
        self._status = JobStatus.CREATED
        self._failure: Failure | None = None
        self._pause_ms: int | None = None
        self._result: Future[JobExecutionResult] = Future()
        self._done = threading.Event()
        self._closed = False
        self._committing = Committing(spec.blueprint, home.check_owned)
        self._attempts = AttemptHistory(home.run, clock)
        self._assemble_epochs()
        # State that an earlier process has left must survive a changed program that does not fit to it.
        went_on = self._store.latest.unfinished is not None
        interval = value_of(spec.configuration, "execution.checkpointing.interval")
        self._machine = JobMachine(spec.restarts, keep_files=went_on or interval is not None)

    def _assemble_epochs(self) -> None:
        spec, clock = self._spec, self._clock
        self._store = EpochStore(self._home.epochs, spec.checkpoints.way_out)
        self.snapshots = SnapshotKeeper(spec.blueprint, spec.checkpoints, clock)
        self._statistics = JobStatistics(spec.blueprint, spec.sources)
        wakeups = Wakeups(clock)
        if spec.savepoint is not None:
            self.snapshots.started_from(spec.savepoint)
            # Timers by the clock are in the savepoint; nobody knows them before every subtask has read its part.
            wakeups.wake_all(places_of(spec.blueprint))
        self._planner = EpochPlanner(
            spec.blueprint, spec.sources, spec.sizer, self.snapshots, wakeups, clock, spec.savepoint
        )
        self._completion = EpochCompletion(
            spec.blueprint,
            self._planner.sources,
            self._store,
            self.snapshots,
            wakeups,
            self._statistics,
            self._observe,
            self._committing,
            self._hear,
        )

    # -- what RunningJob and JobControl promise ----------------------------------------------------------------

    @property
    def job_id(self) -> JobID:
        return JobID(self._home.job_id)

    def status(self) -> JobStatus:
        return self._status

    def cancel(self) -> None:
        self._hear(says.CancelRequested())
        self._planner.wake()
        self._done.wait()

    def savepoint(self, directory: str | None) -> Future[str]:
        return self._request_savepoint(directory, stop=False, drain=False)

    def stop(self, directory: str | None, drain: bool) -> Future[str]:
        return self._request_savepoint(directory, stop=True, drain=drain)

    def _request_savepoint(self, directory: str | None, stop: bool, drain: bool) -> Future[str]:
        configuration = self._spec.configuration
        parent = (
            directory
            or value_of(configuration, "execution.checkpointing.savepoint-dir")
            or value_of(configuration, "state.savepoints.dir")
        )
        if parent is None:
            return _refused("no directory for the savepoint: give one, or set state.savepoints.dir")
        request = SavepointRequest(local_directory(str(parent)), stop=stop, drain=drain)
        self.snapshots.request(request)
        self._planner.wake()
        return request.path

    def checkpoint(self) -> Future[str]:
        request = self.snapshots.request_checkpoint()
        if request is None:
            return _refused("the job takes no checkpoints: set execution.checkpointing.interval")
        self._planner.wake()
        return request.path

    def describe(self) -> JobDescription:
        now, job = self._clock(), self._spec.blueprint
        counted = self._statistics.records_by_operator
        return JobDescription(
            job_id=job.settings.job_id,
            name=job.settings.job_name,
            parallelism=job.parallelism,
            started_at=self._started_at,
            duration_ms=now - self._started_at,
            progress=self._statistics.progress(self._status, now),
            operators=tuple(
                OperatorDescription(op.uid, op.name, op.kind, op.parallelism, op.level, counted[op.id])
                for op in job.operators
            ),
            attempts=self._attempts.entries(),
            snapshots=self.snapshots.describe(),
            failure=self._failure,
            metrics=self._statistics.metrics(),
        )

    def result_future(self) -> Future[JobExecutionResult]:
        return self._result

    def collected(self, node: Node) -> Iterator[Any]:
        for records in self.collected_epochs(node):
            yield from records

    def collected_epochs(self, node: Node) -> Iterator[list[Any]]:
        yield from node.function.epochs()
        error = self._result.exception() if self._result.done() else None
        if error is not None and not isinstance(error, JobCancelledError):
            raise error

    # -- what happens ------------------------------------------------------------------------------------------

    def start(self) -> None:
        """The first attempt; whatever goes wrong here is told to whoever submits the job."""
        try:
            self._open_sources()
            job = EngineJob(
                self._spec.blueprint,
                self._spec.savepoint,
                self._home,
                self._planner,
                self._completion,
                self._home.check_owned,
                self._hear,
                self._news,
            )
            self._engine.open(job)
            for instruction in self._machine.handle(says.Begun()):
                self._do(instruction)
        except BaseException:
            self._close_engine()
            raise

    def run(self) -> None:
        """Until the job has ended."""
        try:
            while not self._done.is_set():
                self._perform(self._next_event())
        finally:
            self._close_engine()

    def run_in_background(self) -> None:
        threading.Thread(target=self.run, name=f"penstock-job-{self._home.job_id}", daemon=True).start()

    def _open_sources(self) -> None:
        """Before the engine starts, which may take a while: a wrong path or the like should be told at once."""
        job = self._spec.blueprint
        operators = {operator.id: operator for operator in job.operators}
        for id_, source in self._spec.sources.items():
            context = SubtaskContext(operators[id_], job.settings, 0, self._clock)
            source.runtime_context = context.runtime_context
            directory = self._home.source_directory(operators[id_].uid)
            source.open(operators[id_].parallelism, str(directory), self._planner.wake)
        self._planner.initial_offset()

    def _hear(self, event: JobEvent) -> None:
        """From any thread."""
        self._events.put(event)
        self._news.set()

    def _next_event(self) -> JobEvent | None:
        """What others have told comes first: the engine may have ended because of it."""
        self._news.clear()
        try:
            pause_ms, self._pause_ms = self._pause_ms, None
            if pause_ms is not None:
                return self._events.get(timeout=pause_ms / 1000)
            return self._events.get_nowait()
        except queue.Empty:
            return says.PauseOver() if pause_ms is not None else self._look_at_the_engine()

    def _look_at_the_engine(self) -> JobEvent | None:
        overdue = self.snapshots.tick()
        if overdue is not None:
            return says.SnapshotsFailed(self._clock(), Failure("JobExecutionError", overdue))
        try:
            end = self._engine.watch(_WATCH_SECONDS)
        except Exception as error:
            return self._broken(error)
        if end is None or not self._events.empty():
            return None
        return says.EngineEnded(self._clock(), end.failure, end.can_restart)

    def _perform(self, event: JobEvent | None) -> None:
        if event is None:
            return
        try:
            self._home.check_owned()
        except JobTakenOverError as taken_over:
            event = says.TakenOver(taken_over.failure)  # whatever else went wrong: its files were not there any more
        for instruction in self._machine.handle(event):
            try:
                self._do(instruction)
            except Exception as error:
                self._perform(self._broken(error))
                return

    def _broken(self, error: Exception) -> JobEvent:
        lost = self._engine.lost()
        if lost is not None and not isinstance(error, JobTakenOverError):
            return says.EngineEnded(self._clock(), lost, can_restart=False)
        return says.Broken(failure_of(error))

    # -- what is done ------------------------------------------------------------------------------------------

    def _do(self, instruction: Instruction) -> None:
        match instruction:
            case says.StartAttempt():
                self._start_attempt()
            case says.OpenServices():
                self._services = None if self._make_services is None else self._make_services(self, self._home)
            case says.Tell(status):
                self._tell(status)
            case says.EndAttempt(state, failure):
                self._failure = failure
                self._attempts.end(state, failure)
            case says.AnnounceRestart(failure, delay_ms):
                seconds = delay_ms / 1000
                print(f"penstock: the job failed and starts again in {seconds:.1f} s\n{failure}", file=sys.stderr)
            case says.Pause(milliseconds):
                self._pause_ms = milliseconds
            case says.StopEngine():
                self._engine.stop()
            case says.AbandonSnapshots(why):
                self.snapshots.give_up(why)
            case says.EndSnapshots(state):
                self.snapshots.end(state)
            case says.CloseServices():
                if self._services is not None:
                    self._services.close()
            case says.CloseEngine():
                self._close_engine()
            case says.Settle():
                self._settle(instruction)
            case _:
                self._leave_home(instruction)

    def _leave_home(self, instruction: Instruction) -> None:
        match instruction:
            case says.SweepSinks():
                self._committing.sweep()
            case says.WriteFinalRecord(state, failure, stopped):
                FinishedJobs(self._home.home).put(self._final_record(state, failure, stopped))
            case says.RemoveFiles():
                self._home.remove()
            case says.KeepFiles():
                self._home.write_record(replace(self._record(), state=JobStatus.FAILED))
            case says.Release():
                self._home.release()

    def _start_attempt(self) -> None:
        epoch, savepoint = self._store.latest.epoch, self._spec.savepoint
        self._attempts.begin(
            self._home.owner(), epoch, savepoint.path if savepoint is not None and epoch == 0 else None
        )
        self._failure = None
        self._engine.start(self._attempts.number)

    def _observe(self, records: int, milliseconds: float) -> None:
        self._spec.sizer.observe(records, milliseconds)
        self._report_progress()

    def _record(self) -> JobRecord:
        return self._home.read_record() or record_of(self._spec.blueprint)

    def _final_record(self, state: JobStatus, failure: Failure | None, stopped: bool) -> FinishedRecord:
        now, started, record = self._clock(), self._attempts.entries()[0].started_at, self._record()
        return FinishedRecord(
            **{field.name: getattr(record, field.name) for field in fields(record)}
            | {
                "state": state,
                "started_at": started,
                "ended_at": now,
                "duration_ms": now - started,
                "attempts": self._attempts.entries(),
                "failure": failure,
                "stopped": stopped,
                "savepoint": self.snapshots.describe().last_savepoint,
                "metrics": self._statistics.metric_totals(),
            }
        )

    def _settle(self, end: says.Settle) -> None:
        self._failure = end.failure
        self._tell(end.state)
        if end.state is JobStatus.FINISHED:
            duration_ms, totals = self._clock() - self._started_at, self._statistics.metric_totals()
            self._result.set_result(JobExecutionResult(self.job_id, duration_ms, totals))
        elif end.state is JobStatus.CANCELED:
            name = self._spec.blueprint.settings.job_name
            self._result.set_exception(JobCancelledError(f"the job {name!r} was cancelled"))
        else:
            failure = end.failure or Failure("JobExecutionError", "the job failed without saying why")
            self._result.set_exception((JobTakenOverError if end.taken_over else JobExecutionError)(failure))
        self._committing.close()
        self._done.set()

    def _tell(self, status: JobStatus) -> None:
        self._status = status
        self._report_progress()

    def _report_progress(self) -> None:
        listener = progress_listener()
        if listener is not None:
            listener(self._statistics.progress(self._status, self._clock()))

    def _close_engine(self) -> None:
        """Once: also when the start or an instruction fails."""
        if not self._closed:
            self._closed = True
            try:
                self._engine.close()
            finally:
                for source in self._spec.sources.values():
                    source.close()


def _refused(why: str) -> Future[str]:
    refused: Future[str] = Future()
    refused.set_exception(ConfigurationError(why))
    return refused

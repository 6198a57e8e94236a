"""Runs one job on some engine: says to the job machine what happens, and does what the machine decides."""

from __future__ import annotations

import contextlib
import queue
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from typing import Any

from penstock.common.errors import ConfigurationError, JobCancelledError, JobExecutionError, JobTakenOverError
from penstock.common.failure import Failure
from penstock.common.job_execution_result import JobExecutionResult
from penstock.common.job_id import JobID
from penstock.common.job_status import JobStatus
from penstock.common.options import value_of
from penstock.control import job_machine as says
from penstock.control.attempts import AttemptHistory
from penstock.control.engine import Engine, EngineJob
from penstock.control.job_control import JobDescription
from penstock.control.job_describer import JobDescriber
from penstock.control.job_epochs import JobEpochs, JobSpec
from penstock.control.job_history import JobHistory
from penstock.control.job_home import JobHome
from penstock.control.job_leaving import JobLeaving
from penstock.control.job_machine import Instruction, JobEvent, JobMachine
from penstock.control.job_services import JobService, ServiceMaker
from penstock.control.metric_reporting import MetricReporting
from penstock.control.progress import progress_listener
from penstock.control.savepoints import SavepointRequest
from penstock.control.state_questions import StateAnswer
from penstock.graph.transformation import Node
from penstock.runtime.clock import Clock, system_clock
from penstock.runtime.failure import failure_of
from penstock.runtime.state_questions import StateQuestion
from penstock.storage import absolute_location

_WATCH_SECONDS = 0.02


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
        self._attempts = AttemptHistory(home.run, clock)
        self._epochs = JobEpochs(spec, home, clock, self._report_progress, self._hear)
        self._planner, self.snapshots = self._epochs.planner, self._epochs.snapshots
        self._statistics = self._epochs.statistics
        self._describer = JobDescriber(spec, home, self._epochs, self._attempts, self._started_at, clock)
        self._reporting = MetricReporting(spec.configuration.to_dict(), self.describe)
        self._leaving = JobLeaving(spec.blueprint, home, self._attempts, self._epochs, clock)
        # State that an earlier process has left must survive a changed program that does not fit to it.
        interval = value_of(spec.configuration, "execution.checkpointing.interval")
        self._machine = JobMachine(spec.restarts, keep_files=self._epochs.went_on or interval is not None)

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
            return _refused(
                "no directory for the savepoint: name one (on the command line: penstock savepoint JOB DIR, "
                "penstock stop -p DIR JOB), or set execution.checkpointing.savepoint-dir"
            )
        request = SavepointRequest(absolute_location(str(parent)), stop=stop, drain=drain)
        self.snapshots.request(request)
        self._planner.wake()
        return request.path

    def checkpoint(self) -> Future[str]:
        request = self.snapshots.request_checkpoint()
        if request is None:
            return _refused("the job takes no checkpoints: set execution.checkpointing.interval")
        self._planner.wake()
        return request.path

    def look_at_state(self, question: StateQuestion) -> Future[StateAnswer]:
        known = {op.uid for op in self._spec.blueprint.operators if not op.native}
        if question.uid is not None and question.uid not in known:
            return _refused(f"the job has no operator {question.uid!r} that could be asked; it has {', '.join(known)}")
        answer = self._epochs.questions.ask(question)
        self._planner.wake()
        return answer

    def describe(self) -> JobDescription:
        return self._describer.describe(self._status, self._failure)

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
        """The first attempt; whoever submits the job hears of whatever goes wrong here."""
        try:
            self._epochs.open_sources()
            job = EngineJob(
                self._spec.blueprint,
                self._spec.savepoint,
                self._home,
                self._planner,
                self._epochs.completion,
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
                try:
                    event = self._next_event()
                except Exception as error:
                    event = self._broken(error)
                if event is not None:
                    self._perform(event)
        finally:
            self._close_engine()

    def run_in_background(self) -> None:
        threading.Thread(target=self.run, name=f"penstock-job-{self._home.job_id}", daemon=True).start()

    def _hear(self, event: JobEvent) -> None:
        """From any thread."""
        self._events.put(event)
        self._news.set()

    def _next_event(self) -> JobEvent | None:
        """What others have told comes first: the engine may have ended because of it."""
        self._news.clear()
        pause_ms, self._pause_ms = self._pause_ms, None
        with contextlib.suppress(queue.Empty):
            if pause_ms is not None:
                return self._events.get(timeout=pause_ms / 1000)
            return self._events.get_nowait()
        # Not while the exception is handled: tracebacks of the job would begin with it.
        return says.PauseOver() if pause_ms is not None else self._look_at_the_engine()

    def _look_at_the_engine(self) -> JobEvent | None:
        overdue = self.snapshots.tick()
        if overdue is not None:
            return says.SnapshotsFailed(self._clock(), Failure("JobExecutionError", overdue))
        end = self._engine.watch(_WATCH_SECONDS)
        if end is None or not self._events.empty():
            return None
        return says.EngineEnded(self._clock(), end.failure, end.can_restart)

    def _perform(self, event: JobEvent) -> None:
        for instruction in self._machine.handle(self._unless_taken_over(event)):
            try:
                self._do(instruction)
            except Exception as error:
                if not self._done.is_set():
                    self._perform(self._broken(error))
                return

    def _unless_taken_over(self, event: JobEvent) -> JobEvent:
        """Whatever else went wrong: the job's files were not there any more."""
        try:
            if not self._machine.ending:
                self._home.check_owned()
        except JobTakenOverError as taken_over:
            return says.TakenOver(taken_over.failure)
        return event

    def _broken(self, error: Exception) -> JobEvent:
        lost = None if self._machine.ending else self._engine.lost()
        if lost is not None:
            return says.EngineEnded(self._clock(), lost, can_restart=False)
        return says.Broken(failure_of(error))

    # -- what is done ------------------------------------------------------------------------------------------

    def _do(self, instruction: Instruction) -> None:
        match instruction:
            case says.StartAttempt():
                self._start_attempt()
            case says.OpenServices():
                self._reporting.start()
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
                self._epochs.questions.end()
            case says.CloseServices():
                self._reporting.close()
                if self._services is not None:
                    self._services.close()
            case says.CloseEngine():
                self._close_engine()
            case says.Settle():
                self._settle(instruction)
            case _:
                if isinstance(instruction, says.WriteFinalRecord | says.KeepFiles):
                    state = getattr(instruction, "state", JobStatus.FAILED)
                    JobHistory(self._home.home).put(self.describe(), state, self._failure)
                self._leaving.do(instruction)

    def _start_attempt(self) -> None:
        epoch, savepoint = self._epochs.store.latest.epoch, self._spec.savepoint
        self._attempts.begin(
            self._home.owner(), epoch, savepoint.path if savepoint is not None and epoch == 0 else None
        )
        self._failure = None
        self._engine.start(self._attempts.number)

    def _settle(self, end: says.Settle) -> None:
        self._failure = end.failure
        try:
            self._tell(end.state)
        finally:
            self._settle_result(end)
            self._epochs.committing.close()
            self._done.set()

    def _settle_result(self, end: says.Settle) -> None:
        if end.state is JobStatus.FINISHED:
            duration_ms, totals = self._clock() - self._started_at, self._statistics.metric_totals()
            self._result.set_result(JobExecutionResult(self.job_id, duration_ms, totals))
        elif end.state is JobStatus.CANCELED:
            name = self._spec.blueprint.settings.job_name
            self._result.set_exception(JobCancelledError(f"the job {name!r} was cancelled"))
        else:
            failure = end.failure or Failure("JobExecutionError", "the job failed without saying why")
            self._result.set_exception((JobTakenOverError if end.taken_over else JobExecutionError)(failure))

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
                self._epochs.close_sources()


def _refused(why: str) -> Future[Any]:
    refused: Future[Any] = Future()
    refused.set_exception(ConfigurationError(why))
    return refused

"""Epochs in long-running tasks: the second engine, beside micro-batches.

The driver deploys, plans and completes in the job master's one thread, while it is watched. When a task or a connection
is lost, everybody rolls back in place to the last epoch record: a new generation, in the same processes.
"""

from __future__ import annotations

import sys
import time
import uuid
from collections.abc import Callable
from dataclasses import replace
from enum import Enum

from penstock.common.configuration import Configuration
from penstock.common.errors import JobExecutionError
from penstock.common.failure import Failure
from penstock.common.options import RESIDENT
from penstock.control.engine import AttemptEnd, EngineJob, WorkerEnvironment
from penstock.control.job_home import JobHome
from penstock.control.work import places_of
from penstock.engines.resident.epochs import IN_FLIGHT, Epochs
from penstock.engines.resident.file_state_store import other_engine, spans_of
from penstock.engines.resident.messages import Broken, Deploy, Drop, Dropped, End, FromTask, Reported
from penstock.engines.resident.settings import ResidentSettings
from penstock.engines.resident.state_files import mark_state_place
from penstock.engines.resident.supervisor import Gone, Supervisor
from penstock.engines.resident.task_host import TaskHost
from penstock.engines.resident.unused_files import UnusedFiles
from penstock.graph.job_request import JobRequest
from penstock.runtime.failure import failure_of
from penstock.runtime.level_blob import LevelBlob
from penstock.runtime.report import read_report
from penstock.storage.locations import storage_at

_DROP_SECONDS = 5.0
_DYING_SECONDS = 3.0
_PATIENCE_SECONDS = 10.0  # of somebody who does not know why nothing happens; executors take some of them to start
_LOSSES_WITHOUT_PROGRESS = 5
_REMEDY = (
    "Give Spark more cores, or the job a smaller parallelism, or run it with penstock.engine: micro-batch, which needs "
    "no slots of its own."
)


class _Phase(Enum):
    STOPPED = 0
    BEGINNING = 1  # commits what the attempt before has left: a failure is one of the attempt, as later
    GATHERING = 2  # waits until there is a task in every slot
    RUNNING = 3  # tasks open their functions, and the first epoch waits in their sockets


class ResidentEngine:
    """Drives the tasks of one job; `host` says where they run."""

    name = RESIDENT

    def __init__(self, host: TaskHost, clock: Callable[[], float] = time.monotonic) -> None:
        self._host = host
        self._clock = clock
        self._supervisor: Supervisor | None = None
        self._phase = _Phase.STOPPED
        self._generation = 0
        self._since = 0.0  # when the phase began
        self._told_of = -1  # tasks that were there when somebody was told that the job waits for more
        self._most: int | None = None  # tasks that Spark can run for the job, if that is known
        self._losses = 0  # since the last epoch was completed
        self._ended = 0  # tasks that Spark gave up, since then
        self._why_lost = ""
        self._news = False

    # -- what the job master asks ------------------------------------------------------------------------------

    def prepare(self, request: JobRequest, home: JobHome) -> WorkerEnvironment:
        self._settings = ResidentSettings.of(Configuration.from_dict(request.configuration))
        return self._host.prepare(request, home)

    def open(self, job: EngineJob) -> None:
        settings = self._settings
        self._job = job
        shared = job.blueprint.settings.home
        # In the home the place of a run is fenced by its name; elsewhere the names of files are all there is.
        at_home = shared is None or shared == str(job.home.path)
        self._state = storage_at(str(job.home.run / "state") if at_home else f"{shared}/state")
        mark_state_place(self._state)
        self._unused_files = UnusedFiles(self._state, IN_FLIGHT)
        self._locations()  # state of the other engine is refused before anything starts
        self._host.open(job)
        slots = self._host.slots_for(job.blueprint.parallelism)
        self._refuse_too_few(slots)
        self._supervisor = Supervisor(self._host, slots, settings.ports, self._state.location, self._clock)
        self._epochs = Epochs(job, settings.epoch_interval_seconds, settings.epoch_timeout_seconds, self._clock)
        job.planner.on_news = self._wake
        self._supervisor.start()

    def _refuse_too_few(self, slots: int) -> None:
        """Unless the job has run here: a machine that was lost since then may come back."""
        self._most = most = self._host.most_tasks()
        if most is not None and most < slots and self._job.completion.store.latest.epoch == 0:
            raise JobExecutionError(
                f"the job needs {slots} slots of Spark at the same time, and the cluster can give it {most}. {_REMEDY}"
            )

    def start(self, attempt: int) -> None:
        job = self._job.blueprint
        blueprint = replace(job, settings=replace(job.settings, attempt=attempt))
        self._levels = tuple(
            LevelBlob.of(blueprint, level, job.settings.job_id, self._job.savepoint) for level in range(job.levels)
        )
        self._losses = self._ended = 0
        self._enter(_Phase.BEGINNING)

    def _begin(self) -> None:
        self._job.fence()
        self._epochs.begin()
        self._enter(_Phase.GATHERING)

    def watch(self, seconds: float) -> AttemptEnd | None:
        lost = self._host.lost()
        if lost is not None:
            return AttemptEnd(lost, can_restart=False)
        try:
            if self._phase is _Phase.BEGINNING:
                self._begin()
            return self._run_for(seconds)
        except Exception as error:
            return AttemptEnd(failure_of(error))

    def lost(self) -> Failure | None:
        return self._host.lost(_DYING_SECONDS)

    def stop(self) -> None:
        """Functions are closed; tasks that do not answer, because user code does not return, are replaced."""
        supervisor = self._supervisor
        before = self._phase
        self._enter(_Phase.STOPPED)
        if supervisor is None or before in (_Phase.STOPPED, _Phase.BEGINNING):
            return
        self._epochs.stop()
        if self._host.lost() is not None:
            return
        waiting = set(supervisor.members)
        supervisor.broadcast(Drop())
        deadline = self._clock() + _DROP_SECONDS
        while waiting and self._clock() < deadline:
            for slot, message in supervisor.serve(deadline - self._clock()):
                if isinstance(message, Dropped | Gone):
                    waiting.discard(slot)
        for slot in waiting & supervisor.members.keys():
            supervisor.replace(slot)

    def close(self) -> None:
        supervisor, self._supervisor = self._supervisor, None
        if supervisor is None:
            return
        self._supervisor = supervisor
        try:
            self.stop()
            supervisor.broadcast(End())
            supervisor.serve(0)
        finally:
            self._supervisor = None
            supervisor.close()
            self._unused_files.close()
            self._host.close()

    # -- the loop ----------------------------------------------------------------------------------------------

    def _run_for(self, seconds: float) -> AttemptEnd | None:
        supervisor = self._supervisor
        assert supervisor is not None
        end = self._clock() + seconds
        while True:
            wait = min(end - self._clock(), self._plan())
            for slot, message in supervisor.serve(wait):
                verdict = self._hear(slot, message)
                if verdict is not None:
                    return verdict
            verdict = self._look_after(supervisor)
            if verdict is not None or self._clock() >= end or self._job.news.is_set():
                return verdict

    def _plan(self) -> float:
        """Plans what can be planned; gives the seconds until it is worth looking again."""
        if self._phase is not _Phase.RUNNING:
            return 1.0
        if self._news:
            self._news = False
            self._epochs.look_soon()
        message = self._epochs.plan(self._generation)
        if message is not None and self._supervisor is not None:
            self._supervisor.broadcast(message)
        return self._epochs.seconds_to_next_look()

    def _wake(self) -> None:
        """From any thread."""
        self._news = True
        if self._supervisor is not None:
            self._supervisor.wake()

    def _hear(self, slot: int, message: FromTask | Gone) -> AttemptEnd | None:
        match message:
            case Reported(generation) if generation == self._generation and self._phase is _Phase.RUNNING:
                if self._epochs.report(message):
                    self._losses = self._ended = 0
                    self._unused_files.remove(self._job.completion.store.latest.snapshot_ids.values())
            case Broken(generation, why, failure, report) if generation == self._generation:
                if report is not None:
                    self._job.completion.show([read_report(report)])
                if failure is not None:
                    return AttemptEnd(failure)
                if self._phase is _Phase.RUNNING:  # else another one has told of the same loss
                    return self._roll_back(why)
            case Gone() if self._phase is _Phase.RUNNING:
                return self._roll_back(f"the task in slot {slot} was lost")
        return None

    # -- generations -------------------------------------------------------------------------------------------

    def _enter(self, phase: _Phase) -> None:
        self._phase, self._since, self._told_of = phase, self._clock(), -1

    def _roll_back(self, why: str) -> AttemptEnd | None:
        """Everybody goes back to the last epoch record, unless that keeps happening."""
        self._losses += 1
        self._why_lost = why
        if self._losses > _LOSSES_WITHOUT_PROGRESS:
            return AttemptEnd(
                Failure(
                    "JobExecutionError",
                    f"tasks were lost {self._losses} times without a single epoch between: {why}. If nobody has killed "
                    "them they may have been short of memory, or a library that the program uses has crashed: see the "
                    f"log of Spark in {self._job.home.home / 'logs'}",
                )
            )
        self._epochs.roll_back()
        self._enter(_Phase.GATHERING)
        return None

    def _look_after(self, supervisor: Supervisor) -> AttemptEnd | None:
        for slot, why in supervisor.restart_ended().items():
            self._why_lost = f"slot {slot}: {why}"
            self._ended += 1
        if self._ended > _LOSSES_WITHOUT_PROGRESS * supervisor.slots:
            return AttemptEnd(Failure("JobExecutionError", f"Spark cannot run the job's tasks.{self._last_loss()}"))
        silent = supervisor.silent(self._settings.heartbeat_timeout_seconds)
        for slot in silent:
            supervisor.replace(slot)
        if silent:
            verdict = self._roll_back(f"nothing was heard for a while of the tasks in slots {silent}")
            if verdict is not None:
                return verdict
        if self._phase is _Phase.GATHERING:
            return self._gather(supervisor)
        return self._replace_stuck(supervisor)

    def _gather(self, supervisor: Supervisor) -> AttemptEnd | None:
        if supervisor.complete:
            blind = next((member.blind for member in supervisor.members.values() if member.blind is not None), None)
            if blind is not None:
                return AttemptEnd(self._no_shared_files(blind))
            self._deploy(supervisor)
            return None
        there, wanted = len(supervisor.members), supervisor.slots
        waited = self._clock() - self._since
        if waited < self._settings.slot_timeout_seconds:
            if waited >= _PATIENCE_SECONDS and there != self._told_of:
                self._told_of = there
                self._tell_of_waiting(there, wanted)
            return None
        return AttemptEnd(
            Failure(
                "JobExecutionError",
                f"the job needs {wanted} slots of Spark at the same time, and after "
                f"{self._settings.slot_timeout_seconds:.0f} s (penstock.resident.slot-timeout) only {there} of them "
                f"run. {_REMEDY}{self._last_loss()}",
            )
        )

    def _tell_of_waiting(self, there: int, wanted: int) -> None:
        most = self._most
        room = "how many the cluster can give it is not known" if most is None else f"the cluster can give it {most}"
        print(
            f"penstock: the job waits for slots of Spark: it has {there} of {wanted}, and {room}. It fails "
            f"{self._settings.slot_timeout_seconds:.0f} s after it began to wait (penstock.resident.slot-timeout)",
            file=sys.stderr,
        )

    def _last_loss(self) -> str:
        return f" The last thing that was heard: {self._why_lost}" if self._why_lost else ""

    def _no_shared_files(self, why: str) -> Failure:
        return Failure(
            "JobExecutionError",
            f"tasks do not see the place of the job's state, {self._state.location} ({why}). Set penstock.home to a "
            "directory that all machines share, or penstock.resident.state-dir to a store that all of them reach "
            "(s3://...)",
        )

    def _deploy(self, supervisor: Supervisor) -> None:
        self._generation += 1
        deployment = uuid.uuid4().hex[:12]
        self._unused_files.deployed(deployment)
        self._enter(_Phase.RUNNING)
        latest = self._job.completion.store.latest
        supervisor.broadcast(
            Deploy(
                self._generation,
                deployment,
                {slot: member.address for slot, member in supervisor.members.items()},
                self._levels,
                places_of(self._job.blueprint),
                self._locations(),
                {level: latest.union_lists_of(level) for level in range(self._job.blueprint.levels)},
                self._state.location,
                self._settings.buffer_timeout_ms,
                self._settings.exactly_once,
            )
        )

    def _replace_stuck(self, supervisor: Supervisor) -> AttemptEnd | None:
        """An epoch that is much too late: whoever has been in one and the same step since then does not come back."""
        late = self._epochs.overdue(supervisor.listened_at) if self._phase is _Phase.RUNNING else None
        if late is None:
            return None
        patience = self._settings.epoch_timeout_seconds / 2
        stuck = [slot for slot, member in supervisor.members.items() if member.in_step_seconds > patience]
        for slot in stuck:
            supervisor.replace(slot)
        number, places = late
        missing = ", ".join(f"subtask {subtask} of level {level}" for level, subtask in places)
        return self._roll_back(
            f"epoch {number} took too long (execution.checkpointing.timeout): no report of {missing}"
        )

    # -- state -------------------------------------------------------------------------------------------------

    def _locations(self) -> dict[tuple[int, int], str]:
        record = self._job.completion.store.latest
        if record.snapshots:
            raise other_engine()
        for location in record.snapshot_ids.values():
            spans_of(location)
        return record.snapshot_ids

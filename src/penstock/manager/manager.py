"""The manager itself: tells its machine what happens, does what that says, and answers the REST interface."""

from __future__ import annotations

import contextlib
import fcntl
import os
import threading
import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future
from datetime import datetime
from pathlib import Path
from typing import IO

from penstock.client.jobs import MANAGER_DIRECTORY
from penstock.common.configuration import Configuration
from penstock.common.errors import JobExecutionError, NotSupportedError, PenstockError
from penstock.control.finished_jobs import FinishedJobs, runs_again, why_not_again
from penstock.control.job_control import JobControl, JobDescription
from penstock.control.job_history import JobHistory
from penstock.control.job_home import JobHome
from penstock.control.restart import ExponentialDelay, RestartStrategy, restart_strategy
from penstock.manager import machine as says
from penstock.manager.drivers import Drivers
from penstock.manager.job_board import JobBoard
from penstock.manager.job_entry import EntryState, EntryStore, JobEntry, LaunchPlan
from penstock.manager.job_files import describe_entry, has_ended
from penstock.manager.machine import Instruction, ManagerMachine
from penstock.manager.programs import UploadedPrograms
from penstock.manager.remote_job import AbsentJob, RemoteJob
from penstock.rest.cluster import Programs
from penstock.rest.job_server import job_log_files
from penstock.rest.triggers import Triggers

_LOOK_SECONDS = 0.2
_BOARD_SECONDS = 1.0


class Manager:
    """Implements Cluster. One lock guards the machine; what takes time is done outside of it."""

    def __init__(self, home: Path, slots: int, configuration: Mapping[str, str], log: Path) -> None:
        self.home = home.absolute()
        self.started_at = _now()
        self._slots = slots
        self._configuration = dict(configuration)
        self._log = log
        self._directory = self.home / MANAGER_DIRECTORY
        self._directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._owner = self._own()
        self._entries = EntryStore(self._directory / "jobs")
        self._drivers = Drivers(self.home, self._entries)
        self._machine = ManagerMachine(slots, _strategy_of, self._entries.all())
        self._lock = threading.RLock()
        self._board = JobBoard(self.home)
        self._rescales: dict[str, Future[str]] = {}
        self._told: dict[str, object] = {}
        self.triggers = Triggers()
        self.programs: Programs | None = UploadedPrograms(self._directory / "programs", self.submit)
        self.stopping = threading.Event()

    # -- what happens ------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Until somebody stops it; jobs run on."""
        watching = threading.Thread(target=self._keep_board, name="penstock-board", daemon=True)
        watching.start()
        while not self.stopping.wait(_LOOK_SECONDS):
            self.look()
        self._board.close()
        self._owner.close()

    def look(self) -> None:
        """Which drivers have gone, what may start, and how many slots those that run take."""
        with self._lock:
            for entry in self._machine.running():
                if not self._drivers.is_alive(entry.job_id):
                    end = self._drivers.end_of(entry.job_id)
                    self._perform(self._machine.driver_ended(entry.job_id, end, _now()))
                elif (known := self._board.last(entry.job_id)) is not None and known.operators:
                    self._perform(self._machine.learn_parallelism(entry.job_id, known.parallelism))
            self._perform(self._machine.tick(_now()))

    def submit(self, launch: LaunchPlan, job_id: str | None = None) -> str:
        with self._lock:
            job_id = job_id or uuid.uuid4().hex
            self._check_new(job_id)
            self._perform(self._machine.submit(JobEntry(job_id, launch, _now()), _now()))
        return job_id

    def _check_new(self, job_id: str) -> None:
        entry = self._machine.entries.get(job_id)
        if entry is not None and entry.state is not EntryState.ENDED:
            raise JobExecutionError(f"the job {job_id} was submitted already")
        ended = FinishedJobs(self.home).get(job_id)
        if ended is not None and not runs_again(ended):
            raise JobExecutionError(why_not_again(ended))

    def cancel(self, job_id: str) -> None:
        with self._lock:
            self._perform(self._machine.cancel(job_id, _now()))

    def rescale(self, job_id: str, parallelism: int) -> str:
        with self._lock:
            entry = self._machine.entries.get(job_id)
            if entry is None or entry.state is EntryState.ENDED:
                raise NotSupportedError("only a job that was submitted to the manager, and has not ended, is rescaled")
            if entry.rescale_to is not None:
                raise JobExecutionError(f"the job {job_id} is being rescaled already")
            self._perform(self._machine.rescale(job_id, parallelism))
            future = self._rescales.pop(job_id, None)
        if future is None:  # it had not started
            future = Future()
            future.set_result("")
        return self.triggers.start(lambda: future)

    # -- what is done ------------------------------------------------------------------------------------------

    def _perform(self, instructions: Iterable[Instruction]) -> None:
        for instruction in instructions:
            match instruction:
                case says.Save(entry):
                    self._entries.put(entry)
                    self._tell(entry)
                case says.Start(entry):
                    self._drivers.start(entry)
                case says.CancelDriver(job_id):
                    self._ask_to_cancel(job_id)
                case says.StopDriver(job_id):
                    self._rescales[job_id] = self._stop_for_rescale(job_id)
                case says.ForgetEnd(job_id):
                    FinishedJobs(self.home).remove(job_id)
                    JobHistory(self.home).remove(job_id)
                    self._board.forget(job_id)
                case says.RemoveFiles(job_id):
                    JobHome(self.home, job_id).remove()

    def _tell(self, entry: JobEntry) -> None:
        """A line of the log for each turn of a job's life."""
        said = (entry.state, entry.starts, entry.cancel, entry.rescale_to)
        if self._told.get(entry.job_id) == said:
            return
        self._told[entry.job_id] = said
        when = datetime.now().astimezone().isoformat(" ", "seconds")
        print(f"{when} job {entry.job_id} {_words(entry)}", flush=True)

    def _ask_to_cancel(self, job_id: str) -> None:
        def ask() -> None:
            with contextlib.suppress(PenstockError):  # it does not listen yet, or any more: the next look asks again
                RemoteJob(self.home, job_id).ask_to_cancel()

        threading.Thread(target=ask, name="penstock-cancel", daemon=True).start()

    def _stop_for_rescale(self, job_id: str) -> Future[str]:
        directory = self.home / "rescaling" / job_id
        future = RemoteJob(self.home, job_id).stop(str(directory), drain=False)

        def failed(done: Future[str]) -> None:
            if done.exception() is not None:
                with self._lock:
                    self._perform(self._machine.rescale_failed(job_id))

        future.add_done_callback(failed)
        return future

    # -- Cluster -----------------------------------------------------------------------------------------------

    def jobs(self) -> Sequence[JobDescription]:
        found = self._board.all()
        with self._lock:
            entries = dict(self._machine.entries)
        for job_id, entry in entries.items():
            known = found.get(job_id)
            if known is None and entry.state is EntryState.RUNNING:
                known = self._board.ended(job_id)  # which the board may learn only in a moment
            found[job_id] = self._shown(entry, known)
        return sorted(found.values(), key=lambda job: (job.started_at, job.job_id))

    def job(self, job_id: str) -> JobControl | None:
        with self._lock:
            entry = self._machine.entries.get(job_id)
        cancel = None if entry is None else (lambda: self.cancel(job_id))
        running = self._board.running(job_id)
        if running is not None and (entry is None or entry.state is EntryState.RUNNING):
            return _Described(self.home, job_id, cancel, running)
        if entry is not None:
            return AbsentJob(self._shown(entry, self._board.ended(job_id)), cancel)
        known = self._board.ended(job_id) or self._board.dead(job_id)
        return None if known is None else AbsentJob(known)

    def _shown(self, entry: JobEntry, known: JobDescription | None) -> JobDescription:
        """What the manager knows of a job counts; what its driver or its history says tells more.

        A driver takes a while to go after it has written how its job ended, which is shown at once.
        """
        ended = known if known is not None and has_ended(entry, known) else None
        if entry.state is EntryState.RUNNING and known is not None and not known.state.is_globally_terminal_state():
            return known
        if entry.state is not EntryState.WAITING and ended is not None and entry.rescale_to is None:
            return ended
        with self._lock:
            waiting = self._machine.waits_for(entry, _now())
        return describe_entry(self.home, entry, waiting, ended or self._board.last(entry.job_id))

    def slots(self) -> tuple[int, int]:
        with self._lock:
            return self._slots, max(0, self._machine.free_slots)

    def configuration(self) -> Mapping[str, str]:
        return {**self._configuration, "penstock.home": str(self.home), "penstock.cluster.slots": str(self._slots)}

    def log_files(self) -> Mapping[str, Path]:
        others = sorted((self.home / "logs").glob("*"))
        return {path.name: path for path in (self._log, *others) if path.is_file()}

    def job_log_files(self, job_id: str) -> Sequence[Path]:
        return job_log_files(self.home, job_id)

    def shut_down(self) -> None:
        self.stopping.set()

    def _keep_board(self) -> None:
        while not self.stopping.is_set():
            try:
                self._board.refresh()
            except Exception as error:  # a file that cannot be read must not end the manager's view of the others
                print(f"penstock: the jobs could not be looked at: {error!r}", flush=True)
            self.stopping.wait(_BOARD_SECONDS)

    def _own(self) -> IO[str]:
        """One manager for one home: two would start the same jobs."""
        owner = open(self._directory / "owner", "a+")  # noqa: SIM115 - held for the life of the manager
        try:
            fcntl.flock(owner, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            owner.close()
            raise JobExecutionError(
                f"a manager runs in {self.home} already; `penstock cluster status` tells more, `penstock cluster stop` "
                "ends it"
            ) from None
        owner.truncate(0)
        owner.write(str(os.getpid()))
        owner.flush()
        return owner


def _words(entry: JobEntry) -> str:
    if entry.state is EntryState.ENDED:
        why = "" if entry.failure is None else f": {entry.failure.strip().rpartition(chr(10))[2]}"
        return f"has ended, {entry.outcome.name if entry.outcome else 'FAILED'}{why}"
    if entry.state is EntryState.WAITING and entry.starts == 0:
        return f"was submitted: {entry.launch.script}, it needs {entry.slots} of the slots"
    if entry.state is EntryState.WAITING:
        return "has lost its driver and is started again" if entry.launch.savepoint is None else "is started again"
    if entry.cancel:
        return "is asked to end: it was cancelled"
    if entry.rescale_to is not None:
        return f"is stopped with a savepoint, to go on with a parallelism of {entry.rescale_to}"
    return "starts" if entry.starts == 1 else f"starts for the {entry.starts}. time"


class _Described(RemoteJob):
    """A running job of which the newest description is there already."""

    def __init__(self, home: Path, job_id: str, cancel: object, known: JobDescription) -> None:
        super().__init__(home, job_id, cancel)  # type: ignore[arg-type]
        self._known = known

    def describe(self) -> JobDescription:
        return self._known


def _strategy_of(entry: JobEntry) -> RestartStrategy:
    """For drivers that were killed. What the program says about failures of its own is the driver's business."""
    configuration = Configuration.from_dict(dict(entry.launch.configuration))
    if any(key.startswith("restart-strategy") for key in entry.launch.configuration):
        return restart_strategy(configuration)
    return ExponentialDelay(1000, 60_000, 2.0, 600_000, 0.1, 2**31 - 1)


def _now() -> int:
    return time.time_ns() // 1_000_000

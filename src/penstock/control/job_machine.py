"""The life of a job: events in, instructions out, without a clock, threads or I/O.

The shell around this machine is the job master: it says what has happened, and carries out what comes back, in order.
Whatever an engine is, this decides when a job starts again, how it ends, and what becomes of its files.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from penstock.common.failure import Failure
from penstock.common.job_status import JobStatus
from penstock.control.attempts import AttemptState
from penstock.control.restart import RestartStrategy

# -- events --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Begun:
    """Everything is ready for the first attempt."""


@dataclass(frozen=True)
class EngineEnded:
    """The attempt has ended by itself. Without what the engine runs on (Spark's JVM) there cannot be another here."""

    now: int
    failure: Failure
    can_restart: bool = True


@dataclass(frozen=True)
class SnapshotsFailed:
    """More checkpoints have failed than the job tolerates; the attempt still runs."""

    now: int
    failure: Failure


@dataclass(frozen=True)
class AllFinished:
    """All subtasks have finished, and everything is visible."""


@dataclass(frozen=True)
class StoppedWithSavepoint:
    """The savepoint with which the job was to stop is complete."""


@dataclass(frozen=True)
class CancelRequested:
    pass


@dataclass(frozen=True)
class OutputClosed:
    """Nobody reads any more what the program prints."""


@dataclass(frozen=True)
class TakenOver:
    """Another process has become the job's driver."""

    failure: Failure


@dataclass(frozen=True)
class PauseOver:
    """The time before the next attempt has passed."""


@dataclass(frozen=True)
class Broken:
    """An instruction could not be carried out."""

    failure: Failure


JobEvent = (
    Begun
    | EngineEnded
    | SnapshotsFailed
    | AllFinished
    | StoppedWithSavepoint
    | CancelRequested
    | OutputClosed
    | TakenOver
    | PauseOver
    | Broken
)

# -- instructions --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class StartAttempt:
    """From the last epoch that is recorded."""


@dataclass(frozen=True)
class OpenServices:
    """The job can be asked from outside from now on."""


@dataclass(frozen=True)
class Tell:
    """Whoever listens hears of the new state."""

    status: JobStatus


@dataclass(frozen=True)
class EndAttempt:
    """For the history of attempts."""

    state: AttemptState
    failure: Failure | None = None


@dataclass(frozen=True)
class AnnounceRestart:
    failure: Failure
    delay_ms: int


@dataclass(frozen=True)
class Pause:
    """Answered by PauseOver, unless something else happens before."""

    milliseconds: int


@dataclass(frozen=True)
class StopEngine:
    """Nothing is computed any more when this is done; another attempt may follow."""


@dataclass(frozen=True)
class AbandonSnapshots:
    """Whoever waits for one hears why there will be none."""

    why: str


@dataclass(frozen=True)
class EndSnapshots:
    """The checkpoints of the job go, unless somebody may want to start from them."""

    state: JobStatus


@dataclass(frozen=True)
class CloseServices:
    pass


@dataclass(frozen=True)
class CloseEngine:
    """Gives back everything that the engine holds."""


@dataclass(frozen=True)
class SweepSinks:
    """Removes what sinks have staged and nobody committed."""


@dataclass(frozen=True)
class WriteFinalRecord:
    """After it nobody runs the job again; before it everybody who does finds all of its files."""

    state: JobStatus
    failure: Failure | None
    stopped: bool


@dataclass(frozen=True)
class RemoveFiles:
    pass


@dataclass(frozen=True)
class KeepFiles:
    """A job that failed for good can be looked at, mended and resumed."""


@dataclass(frozen=True)
class Release:
    """Another process may become the job's driver."""


@dataclass(frozen=True)
class Settle:
    """Whoever waits for the job hears how it ended."""

    state: JobStatus
    failure: Failure | None = None
    taken_over: bool = False


Instruction = (
    StartAttempt
    | OpenServices
    | Tell
    | EndAttempt
    | AnnounceRestart
    | Pause
    | StopEngine
    | AbandonSnapshots
    | EndSnapshots
    | CloseServices
    | CloseEngine
    | SweepSinks
    | WriteFinalRecord
    | RemoveFiles
    | KeepFiles
    | Release
    | Settle
)


class JobMachine:
    """Decides; its time comes with the events, in milliseconds."""

    def __init__(self, restarts: RestartStrategy, keep_files: bool) -> None:
        self._restarts = restarts
        self._keep_files = keep_files  # of a job that failed for good
        self.status = JobStatus.CREATED
        self.ending = False  # nothing but the end follows

    def handle(self, event: JobEvent) -> list[Instruction]:
        """Once the job ends, only what breaks on the way can still change anything."""
        if self.ending and not isinstance(event, Broken):
            return []
        handler: Callable[[Any], list[Instruction]] = _HANDLERS[type(event)].__get__(self)
        return handler(event)

    def _begun(self, event: Begun) -> list[Instruction]:
        return [StartAttempt(), OpenServices(), self._become(JobStatus.RUNNING)]

    def _engine_ended(self, event: EngineEnded) -> list[Instruction]:
        delay_ms = self._restarts.next_delay_ms(event.now) if event.can_restart else None
        if delay_ms is None:
            return self._fail(event.failure, self._keep_files or not event.can_restart)
        return [
            StopEngine(),
            EndAttempt(AttemptState.FAILED, event.failure),
            AbandonSnapshots("the job failed and was started again"),
            self._become(JobStatus.RESTARTING),
            AnnounceRestart(event.failure, delay_ms),
            Pause(delay_ms),
        ]

    def _snapshots_failed(self, event: SnapshotsFailed) -> list[Instruction]:
        return self._engine_ended(EngineEnded(event.now, event.failure))

    def _pause_over(self, event: PauseOver) -> list[Instruction]:
        if self.status is not JobStatus.RESTARTING:
            return []
        return [StartAttempt(), self._become(JobStatus.RUNNING)]

    def _all_finished(self, event: AllFinished) -> list[Instruction]:
        return self._complete(JobStatus.FINISHED)

    def _stopped(self, event: StoppedWithSavepoint) -> list[Instruction]:
        return self._complete(JobStatus.FINISHED, stopped=True)

    def _cancelled(self, event: CancelRequested | OutputClosed) -> list[Instruction]:
        return self._complete(JobStatus.CANCELED)

    def _taken_over(self, event: TakenOver) -> list[Instruction]:
        """The files belong to somebody else."""
        self.ending = True
        ended = AbandonSnapshots("the job has ended")
        return [ended, *_CLOSE, Release(), Settle(JobStatus.FAILED, event.failure, taken_over=True)]

    def _broken(self, event: Broken) -> list[Instruction]:
        if not self.ending:
            return self._fail(event.failure, self._keep_files)
        return [Release(), Settle(JobStatus.FAILED, event.failure)]

    def _complete(self, state: JobStatus, stopped: bool = False) -> list[Instruction]:
        self.ending = True
        finished = state is JobStatus.FINISHED
        return [
            EndSnapshots(state),
            *_CLOSE,
            EndAttempt(AttemptState.FINISHED if finished else AttemptState.CANCELED),
            *([SweepSinks()] if finished else []),
            WriteFinalRecord(state, None, stopped),
            RemoveFiles(),
            Settle(state),
        ]

    def _fail(self, failure: Failure, keep_files: bool) -> list[Instruction]:
        self.ending = True
        leave: list[Instruction] = [WriteFinalRecord(JobStatus.FAILED, failure, False), RemoveFiles()]
        if keep_files:
            leave = [KeepFiles(), Release()]
        return [
            EndSnapshots(JobStatus.FAILED),
            *_CLOSE,
            EndAttempt(AttemptState.FAILED, failure),
            *leave,
            Settle(JobStatus.FAILED, failure),
        ]

    def _become(self, status: JobStatus) -> Tell:
        self.status = status
        return Tell(status)


_CLOSE: tuple[Instruction, ...] = (CloseServices(), CloseEngine())

_HANDLERS: dict[type, Any] = {
    Begun: JobMachine._begun,
    EngineEnded: JobMachine._engine_ended,
    SnapshotsFailed: JobMachine._snapshots_failed,
    PauseOver: JobMachine._pause_over,
    AllFinished: JobMachine._all_finished,
    StoppedWithSavepoint: JobMachine._stopped,
    CancelRequested: JobMachine._cancelled,
    OutputClosed: JobMachine._cancelled,
    TakenOver: JobMachine._taken_over,
    Broken: JobMachine._broken,
}

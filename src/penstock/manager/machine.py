"""Which jobs run, wait, start again or have ended: events in, instructions out, without clock, files or processes.

Every change of an entry is an instruction to save it, before the one that acts on it. A manager that is killed in
between finds the entry as it was saved, and comes to the same decision again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from penstock.common.job_status import JobStatus
from penstock.control.restart import RestartStrategy
from penstock.manager.job_entry import EntryState, JobEntry

# -- instructions --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Save:
    entry: JobEntry


@dataclass(frozen=True)
class Start:
    """A driver for the job, which holds its lock from the first moment on."""

    entry: JobEntry


@dataclass(frozen=True)
class CancelDriver:
    """Ask the driver to end; it may not listen yet, so that this comes again."""

    job_id: str


@dataclass(frozen=True)
class StopDriver:
    """Ask the driver for a savepoint and to end, so that the job can go on with another parallelism."""

    job_id: str


@dataclass(frozen=True)
class ForgetEnd:
    """Nobody may take the job for finished any more: it goes on from its savepoint."""

    job_id: str


@dataclass(frozen=True)
class RemoveFiles:
    """Of a job that was cancelled, and whose driver died before it could do so itself."""

    job_id: str


Instruction = Save | Start | CancelDriver | StopDriver | ForgetEnd | RemoveFiles


@dataclass(frozen=True)
class DriverEnd:
    """What the files say after a driver has gone; no state: it was killed."""

    state: JobStatus | None = None
    failure: str | None = None
    savepoint: str | None = None  # with which it was stopped


class ManagerMachine:
    """Decides; entries are looked at in the order of their submission."""

    def __init__(
        self, slots: int, strategy_of: Callable[[JobEntry], RestartStrategy], entries: Iterable[JobEntry] = ()
    ) -> None:
        self._slots = slots
        self._strategy_of = strategy_of
        self._strategies: dict[str, RestartStrategy] = {}
        self.entries: dict[str, JobEntry] = {entry.job_id: entry for entry in entries}

    @property
    def free_slots(self) -> int:
        return self._slots - sum(entry.slots for entry in self._in(EntryState.RUNNING))

    def running(self) -> list[JobEntry]:
        return self._in(EntryState.RUNNING)

    def waits_for(self, entry: JobEntry, now: int) -> str | None:
        """Why it does not run yet, in words."""
        if entry.state is not EntryState.WAITING:
            return None
        if entry.not_before > now:
            return f"its driver was lost, it starts again in {(entry.not_before - now + 999) // 1000} s"
        if entry.slots > self._slots:
            return (
                f"it needs {entry.slots} slots, and the manager has {self._slots} in all: "
                "cancel it, or start the manager with more (penstock.cluster.slots)"
            )
        free = max(0, self.free_slots)
        first = next(self._line(now))
        if entry.slots <= free and first.job_id != entry.job_id:
            return f"{first.job_id}, which was submitted before it, needs more slots and comes first"
        return f"it needs {_plural(entry.slots, 'slot')}, {free} of {self._slots} are free"

    def submit(self, entry: JobEntry, now: int) -> list[Instruction]:
        return [self._save(entry), *self.tick(now)]

    def cancel(self, job_id: str, now: int) -> list[Instruction]:
        entry = self.entries[job_id]
        if entry.state is EntryState.ENDED:
            return []
        if entry.state is EntryState.WAITING and entry.starts == 0:
            return [self._end(entry, now, JobStatus.CANCELED)]
        if entry.state is EntryState.WAITING:
            return [self._end(entry, now, JobStatus.CANCELED), RemoveFiles(job_id)]
        return [self._save(replace(entry, cancel=True)), CancelDriver(job_id)]

    def learn_parallelism(self, job_id: str, parallelism: int) -> list[Instruction]:
        """A program may choose another one than it was submitted with; what runs, runs, and others wait for it."""
        entry = self.entries[job_id]
        if entry.state is not EntryState.RUNNING or entry.rescale_to is not None or entry.slots == parallelism:
            return []
        return [self._save(replace(entry, parallelism=parallelism))]

    def rescale(self, job_id: str, parallelism: int) -> list[Instruction]:
        entry = self.entries[job_id]
        if entry.state is EntryState.WAITING:
            launch = replace(entry.launch, parallelism=parallelism)
            return [self._save(replace(entry, launch=launch, parallelism=None))]
        return [self._save(replace(entry, rescale_to=parallelism)), StopDriver(job_id)]

    def rescale_failed(self, job_id: str) -> list[Instruction]:
        """There was no savepoint: the job runs on as it was."""
        entry = self.entries[job_id]
        return [] if entry.rescale_to is None else [self._save(replace(entry, rescale_to=None))]

    def driver_ended(self, job_id: str, end: DriverEnd, now: int) -> list[Instruction]:
        entry = self.entries[job_id]
        if entry.state is not EntryState.RUNNING:
            return []
        if end.state is JobStatus.FINISHED and end.savepoint is not None and entry.rescale_to is not None:
            launch = replace(entry.launch, parallelism=entry.rescale_to, savepoint=end.savepoint)
            waiting = replace(
                entry, state=EntryState.WAITING, launch=launch, rescale_to=None, not_before=now, parallelism=None
            )
            return [self._save(waiting), ForgetEnd(job_id), *self.tick(now)]
        if end.state is not None:
            return [self._end(entry, now, end.state, end.failure), *self.tick(now)]
        if entry.cancel:
            return [self._end(entry, now, JobStatus.CANCELED), RemoveFiles(job_id), *self.tick(now)]
        return [*self._again(entry, now), *self.tick(now)]

    def tick(self, now: int) -> list[Instruction]:
        """Whatever may start, starts; the first in the queue is not overtaken by smaller ones after it."""
        instructions: list[Instruction] = []
        for entry in self._line(now):
            if entry.slots > self.free_slots:
                break
            started = replace(entry, state=EntryState.RUNNING, starts=entry.starts + 1, started_at=now)
            instructions += [self._save(started), Start(started)]
        instructions += [CancelDriver(entry.job_id) for entry in self.running() if entry.cancel]
        return instructions

    def _line(self, now: int) -> Iterator[JobEntry]:
        """Those that could start if there were slots."""
        return (e for e in self._in(EntryState.WAITING) if e.not_before <= now and e.slots <= self._slots)

    def _again(self, entry: JobEntry, now: int) -> list[Instruction]:
        strategy = self._strategies.setdefault(entry.job_id, self._strategy_of(entry))
        delay = strategy.next_delay_ms(now)
        if delay is None:
            why = f"its driver was lost for the {entry.starts}. time, and the restart strategy allows no more"
            return [self._end(entry, now, JobStatus.FAILED, why)]
        return [self._save(replace(entry, state=EntryState.WAITING, not_before=now + delay))]

    def _end(self, entry: JobEntry, now: int, outcome: JobStatus, failure: str | None = None) -> Save:
        self._strategies.pop(entry.job_id, None)
        return self._save(
            replace(entry, state=EntryState.ENDED, outcome=outcome, failure=failure, ended_at=now, rescale_to=None)
        )

    def _save(self, entry: JobEntry) -> Save:
        self.entries[entry.job_id] = entry
        return Save(entry)

    def _in(self, state: EntryState) -> list[JobEntry]:
        return [entry for entry in self.entries.values() if entry.state is state]


def _plural(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"

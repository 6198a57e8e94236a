"""One container of a resident task: what waits for it, where its snapshots go, and how its time is spent."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from penstock.common.errors import JobExecutionError
from penstock.common.failure import Failure
from penstock.control.work import Place
from penstock.engines.resident.barriers import Alignment, Barrier, Deliver, EndEpoch
from penstock.engines.resident.file_state_store import FileSnapshotStore
from penstock.engines.resident.state_files import StateFiles
from penstock.runtime.blueprint import JobBlueprint
from penstock.runtime.chunk import Payload
from penstock.runtime.clock import Clock, system_clock
from penstock.runtime.container import Container
from penstock.runtime.epoch_note import EpochNote
from penstock.runtime.exchange import ExchangeRow, channel_of, receivers_from, senders_to
from penstock.runtime.failure import failure_of
from penstock.runtime.hosting import follow, save_in_log, sendable
from penstock.runtime.level_blob import LevelBlob
from penstock.runtime.report import SubtaskReport, UnionLists
from penstock.runtime.sources.base import Assignment
from penstock.runtime.state_log import StateLog

INBOX_BYTES = 8 << 20

Chunk = tuple[int, Payload]  # with its channel


@dataclass(frozen=True)
class Read:
    """Level 0: what the sources read in an epoch."""

    assignments: dict[int, Assignment]


@dataclass(frozen=True)
class EndedEpoch:
    """The barrier goes on, and the report to the driver once the snapshot is durable."""

    barrier: Barrier
    report: bytes


class Pressure:
    """How long there was work but no room for what it would send: measured where the waiting happens."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._since = clock()
        self._waited = 0.0
        self._begun: float | None = None

    def press(self) -> None:
        """There is work, and no room."""
        if self._begun is None:
            self._begun = self._clock()

    def release(self) -> None:
        if self._begun is not None:
            self._waited += self._clock() - self._begun
            self._begun = None

    def share(self) -> float:
        """Of the time since the last call."""
        now = self._clock()
        if self._begun is not None:
            self._waited, self._begun = self._waited + now - self._begun, now
        waited, total = self._waited, max(now - self._since, 1e-9)
        self._since, self._waited = now, 0.0
        return min(1.0, waited / total)


class OpeningError(JobExecutionError):
    """A function could not be opened; what it has said before is in the report."""

    def __init__(self, failure: Failure, report: SubtaskReport) -> None:
        super().__init__(failure)
        self.report = report


class HostedSubtask:
    """Pushed by the task: receive() and run_epoch() bring work, step() does a piece of it."""

    def __init__(
        self,
        blob: LevelBlob,
        subtask: int,
        files: StateFiles,
        location: str | None,
        union_lists: dict[int, UnionLists],
        exactly_once: bool,
        clock: Clock = system_clock,
        wake: Callable[[], None] = lambda: None,
        neighbours: frozenset[int] = frozenset(),
    ) -> None:
        self.place: Place = (blob.level, subtask)
        self._blob = blob
        self._union_lists = union_lists
        self._clock = clock
        self._wake = wake
        self._neighbours = neighbours
        self._store = FileSnapshotStore(files, self.place, location)
        self._location = location
        self._log = StateLog(self._store)
        self._token = self._log.token()
        job = blob.blueprint()
        self.channels = _channels_into(job, blob.level, subtask)
        self.outgoing = _outgoing(job, blob.level, subtask)  # channel -> target level and subtasks
        self._alignment: Alignment[Chunk] = Alignment(self.channels, exactly_once)
        self._ready: deque[Deliver[Chunk] | EndEpoch | Read] = deque()
        self._reading: Iterator[None] | None = None
        self.waiting_bytes = 0
        self._failed = False
        self._finished = False
        self.pressure = Pressure()
        self.container = self._opened()
        self.next_wake = _wake_of(self.container)
        self.unflushed = False

    def _opened(self) -> Container:
        """Snapshots come first, so that user functions find the state when they are opened."""
        container = Container(self._blob.blueprint(), *self.place, self._clock, self._wake, self._neighbours)
        container.pauses = True
        try:
            if self._token is None:
                container.open(self._blob.savepoint)
            else:
                self._log.replay(container, since=None)
                container.see_union_lists(self._union_lists)
                container.open()
        except Exception as error:
            report = SubtaskReport(*self.place)
            container.close(report)
            raise OpeningError(failure_of(error), report) from error
        return container

    # -- what comes --------------------------------------------------------------------------------------------

    def receive(self, channel: int, element: Payload | Barrier) -> None:
        """From another subtask; those of one channel come in order."""
        item: Chunk | Barrier = element if isinstance(element, Barrier) else (channel, element)
        for instruction in self._alignment.receive(channel, item):
            if isinstance(instruction, Deliver):
                self.waiting_bytes += len(instruction.item[1])
            self._ready.append(instruction)

    def hear_commit(self, epoch: int) -> None:
        """What sinks have prepared up to the epoch of this number is visible."""
        if epoch and not self._failed and not self._finished:
            self.container.hear_commit(epoch)
            self._has_run()

    def run_epoch(self, assignments: dict[int, Assignment], barrier: Barrier) -> None:
        """From the driver, for those to whom no channel leads."""
        if assignments:
            self._ready.append(Read(assignments))
        self._ready.append(EndEpoch(barrier))

    @property
    def has_work(self) -> bool:
        waiting = bool(self._ready) or self._reading is not None or self.container.unfinished
        return waiting and not self.container.congested

    @property
    def has_room(self) -> bool:
        return self.waiting_bytes < INBOX_BYTES

    # -- what is done ------------------------------------------------------------------------------------------

    def step(self) -> EndedEpoch | None:
        """A chunk, a batch of a source, a part of one that takes long, or the end of an epoch. What it sends is taken

        from take_rows().
        """
        if self._reading is not None:
            self._read_on(self._reading)
            return None
        if self.container.unfinished:
            self.container.go_on()
            self._has_run()
            return None
        match self._ready.popleft():
            case Deliver((channel, payload)):
                self.waiting_bytes -= len(payload)
                if not self._failed and not self._finished:
                    self.container.receive(ExchangeRow(self.place[1], channel, 0, payload))
                    self._has_run()
            case Read(assignments):
                if not self._failed and not self._finished:
                    self._read_on(self.container.read(assignments))
            case EndEpoch(barrier):
                return self._end_epoch(barrier)
        return None

    def _read_on(self, reading: Iterator[None]) -> None:
        """One batch; where the operators after the source are slow, others get their turn in between."""
        self._reading = None if next(reading, _DONE) is _DONE else reading
        self._has_run()

    def _has_run(self) -> None:
        self.unflushed = bool(self.outgoing)
        self.next_wake = _wake_of(self.container)

    def look_at_clock(self) -> None:
        """Something has become due that was not foreseen."""
        if not self._failed and not self._finished:
            self.next_wake = _wake_of(self.container)

    def advance(self) -> None:
        """The moment has come that next_wake names."""
        if not self._failed and not self._finished:
            self.container.advance()
            self._has_run()

    def flush(self) -> None:
        self.unflushed = False
        self.container.flush()

    def take_rows(self) -> list[ExchangeRow]:
        return self.container.take_rows()

    def close(self) -> None:
        self.container.close()

    # -- the end of an epoch -----------------------------------------------------------------------------------

    def _end_epoch(self, barrier: Barrier) -> EndedEpoch:
        note = EpochNote.decode(barrier.note)
        if self._finished and note:
            self.container = self._opened()  # it was closed, and has to be saved or asked all the same
        if self._finished and not note:
            report = SubtaskReport(*self.place, finished=True, snapshots=(self._location, self._location or ""))
            return EndedEpoch(barrier, sendable(report, self.container).data)
        self.container.advance()
        report = self.container.barrier(saving=note.saving is not None)
        if report.failure is None:
            self._save(report, note)
        self._failed = self._failed or report.failure is not None
        self._finished = report.finished and not self._failed
        if self._finished:
            self.container.close(report)
        report.pressed = self.pressure.share()
        self.unflushed = False
        self.next_wake = None if self._finished or self._failed else _wake_of(self.container)
        return EndedEpoch(barrier, sendable(report, self.container).data)

    def _save(self, report: SubtaskReport, note: EpochNote) -> None:
        try:
            self._token = save_in_log(self.container, self._log, self._token, report)
            follow(note, self.container, report)
            before, self._location = self._location, self._store.location()
            report.snapshots = before, self._location
        except Exception as error:  # also a full disk: the epoch fails, and the driver hears why
            report.failure = failure_of(error)


_DONE = object()


def _wake_of(container: Container) -> int | None:
    """A moment by the clock; "at once" asks for an epoch instead, which the driver plans when it reads the report."""
    return container.next_processing_time() or None


def _channels_into(job: JobBlueprint, level: int, subtask: int) -> list[int]:
    return [
        channel_of(edge.id, sender)
        for edge in job.edges
        if edge.target_level == level and edge.crosses_levels and subtask < edge.target_parallelism
        for sender in senders_to(edge, subtask)
    ]


def _outgoing(job: JobBlueprint, level: int, subtask: int) -> dict[int, tuple[int, tuple[int, ...]]]:
    return {
        channel_of(edge.id, subtask): (edge.target_level, tuple(receivers_from(edge, subtask)))
        for edge in job.edges
        if edge.source_level == level and edge.crosses_levels and subtask < edge.source_parallelism
    }

"""Which snapshot is taken when, and what becomes of it: events in, actions out, without a clock and without I/O.

A snapshot is a checkpoint or a savepoint. Both are epochs that are also written to files, so that one is under way at a
time and begins where an epoch is planned. The shell around this machine is the snapshot keeper: it says what has
happened, and does what comes back.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from penstock.runtime.snapshot_target import SnapshotKind


@dataclass(frozen=True)
class Pacing:
    """When checkpoints are taken, and how much may go wrong; without an interval only what is asked for is taken."""

    interval_ms: int | None = None
    min_pause_ms: int = 0
    timeout_ms: int = 600_000
    tolerable_failures: int = 0


@dataclass(frozen=True)
class Snapshot:
    """One snapshot under way. Checkpoints and savepoints share their numbers, as in Flink."""

    number: int
    kind: SnapshotKind
    begun_at: int
    ticket: int | None = None  # who asked for it; nobody asks for those that come at the interval


# -- events --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Requested:
    """Somebody wants a savepoint, or a checkpoint outside its interval."""

    ticket: int
    kind: SnapshotKind


@dataclass(frozen=True)
class EpochPlanned:
    """An epoch is about to be planned: a snapshot can begin with it."""

    now: int


@dataclass(frozen=True)
class TimePassed:
    now: int


@dataclass(frozen=True)
class EpochCommitted:
    """The epoch that was to be saved is committed; `failure` says why parts of it are missing."""

    now: int
    failure: str | None = None


@dataclass(frozen=True)
class MetadataWritten:
    now: int


@dataclass(frozen=True)
class MetadataFailed:
    now: int
    why: str


@dataclass(frozen=True)
class JobFailed:
    """The job failed or has ended: whatever was under way is over, and that says nothing about checkpoints."""

    now: int
    why: str


Event = Requested | EpochPlanned | TimePassed | EpochCommitted | MetadataWritten | MetadataFailed | JobFailed


# -- actions -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Begin:
    """Save the epoch that is planned now."""

    snapshot: Snapshot


@dataclass(frozen=True)
class WriteMetadata:
    """All parts are there; answered by MetadataWritten or MetadataFailed."""

    snapshot: Snapshot


@dataclass(frozen=True)
class Complete:
    """Tell whoever waits; older checkpoints may go."""

    snapshot: Snapshot
    now: int


@dataclass(frozen=True)
class Fail:
    """Tell whoever waits that there will be no such snapshot; its files may still be written."""

    snapshot: Snapshot
    now: int
    why: str


@dataclass(frozen=True)
class RemoveFiles:
    """Nobody writes for the snapshot any more: what it has left can go."""

    snapshot: Snapshot


@dataclass(frozen=True)
class Refuse:
    """A request that never began."""

    ticket: int
    why: str


@dataclass(frozen=True)
class FailJob:
    why: str


Action = Begin | WriteMetadata | Complete | Fail | RemoveFiles | Refuse | FailJob


class SnapshotMachine:
    """Decides; all its time comes with the events, in milliseconds."""

    def __init__(self, pacing: Pacing, now: int, next_number: int = 1) -> None:
        self._pacing = pacing
        self._next_number = next_number
        self._next_due = None if pacing.interval_ms is None else now + pacing.interval_ms
        self._requests: deque[Requested] = deque()
        self._running: Snapshot | None = None
        self._given_up = False  # the running one took too long; its epoch may still end
        self._failures_in_a_row = 0

    @property
    def running(self) -> Snapshot | None:
        return self._running

    @property
    def next_due(self) -> int | None:
        """When the next checkpoint should begin; None when none will by itself."""
        return self._next_due

    def handle(self, event: Event) -> list[Action]:
        handler: Callable[[Any], list[Action]] = _HANDLERS[type(event)].__get__(self)
        return handler(event)

    def _requested(self, event: Requested) -> list[Action]:
        self._requests.append(event)
        return []

    def _epoch_planned(self, event: EpochPlanned) -> list[Action]:
        actions = self._look_at_the_clock(event.now)
        if self._running is not None:  # planned again before it was computed: the same snapshot
            return actions
        if self._requests:
            request = self._requests.popleft()
            return [*actions, self._begin(event.now, request.kind, request.ticket)]
        if self._next_due is not None and event.now >= self._next_due:
            return [*actions, self._begin(event.now, SnapshotKind.CHECKPOINT, ticket=None)]
        return actions

    def _begin(self, now: int, kind: SnapshotKind, ticket: int | None) -> Begin:
        self._running = Snapshot(self._next_number, kind, now, ticket)
        self._given_up = False
        self._next_number += 1
        if kind is SnapshotKind.CHECKPOINT and self._pacing.interval_ms is not None:
            self._next_due = now + self._pacing.interval_ms
        return Begin(self._running)

    def _time_passed(self, event: TimePassed) -> list[Action]:
        return self._look_at_the_clock(event.now)

    def _look_at_the_clock(self, now: int) -> list[Action]:
        running = self._running
        if running is None or self._given_up or now - running.begun_at < self._pacing.timeout_ms:
            return []
        self._given_up = True
        return self._failed(running, now, f"it took longer than {self._pacing.timeout_ms} ms")

    def _epoch_committed(self, event: EpochCommitted) -> list[Action]:
        running = self._running
        if running is None:
            return []
        actions = self._look_at_the_clock(event.now)
        if self._given_up:
            self._running = None
            return [*actions, RemoveFiles(running)]
        if event.failure is not None:
            return self._lost(running, event.now, event.failure)
        return [WriteMetadata(running)]

    def _metadata_written(self, event: MetadataWritten) -> list[Action]:
        running, self._running = self._running, None
        assert running is not None
        if running.kind is SnapshotKind.CHECKPOINT:
            self._failures_in_a_row = 0
            self._pause(event.now)
        return [Complete(running, event.now)]

    def _metadata_failed(self, event: MetadataFailed) -> list[Action]:
        assert self._running is not None
        return self._lost(self._running, event.now, event.why)

    def _job_failed(self, event: JobFailed) -> list[Action]:
        actions: list[Action] = []
        running, self._running = self._running, None
        if running is not None:
            if not self._given_up:
                actions.append(Fail(running, event.now, event.why))
            actions.append(RemoveFiles(running))
        actions += [Refuse(request.ticket, event.why) for request in self._requests]
        self._requests.clear()
        return actions

    def _lost(self, running: Snapshot, now: int, why: str) -> list[Action]:
        self._running = None
        failed, *verdict = self._failed(running, now, why)
        return [failed, RemoveFiles(running), *verdict]

    def _failed(self, snapshot: Snapshot, now: int, why: str) -> list[Action]:
        """A failed savepoint is a matter of whoever asked for it; checkpoints are what the job relies on."""
        actions: list[Action] = [Fail(snapshot, now, why)]
        if snapshot.kind is SnapshotKind.SAVEPOINT:
            return actions
        self._pause(now)
        self._failures_in_a_row += 1
        if self._failures_in_a_row > self._pacing.tolerable_failures:
            self._failures_in_a_row = 0
            actions.append(FailJob(f"checkpoint {snapshot.number} failed, and no more failures are tolerated: {why}"))
        return actions

    def _pause(self, now: int) -> None:
        if self._next_due is not None:
            self._next_due = max(self._next_due, now + self._pacing.min_pause_ms)


_HANDLERS: dict[type, Any] = {
    Requested: SnapshotMachine._requested,
    EpochPlanned: SnapshotMachine._epoch_planned,
    TimePassed: SnapshotMachine._time_passed,
    EpochCommitted: SnapshotMachine._epoch_committed,
    MetadataWritten: SnapshotMachine._metadata_written,
    MetadataFailed: SnapshotMachine._metadata_failed,
    JobFailed: SnapshotMachine._job_failed,
}

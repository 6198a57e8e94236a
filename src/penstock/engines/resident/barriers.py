"""Barriers and the epochs they end, as state machines without I/O: events in, instructions out.

A barrier flows through every channel between the chunks of its epoch and those of the next. `Alignment` stands where
channels end, `EpochsInFlight` in the driver, where the reports of all subtasks come together.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from penstock.control.work import Place

Item = TypeVar("Item")
Plan = TypeVar("Plan")
Report = TypeVar("Report")


@dataclass(frozen=True)
class Barrier:
    """The end of an epoch. `note` travels with it: an encoded EpochNote."""

    epoch: int
    note: bytes = b""


@dataclass(frozen=True)
class Deliver(Generic[Item]):
    """The operators take this now."""

    item: Item


@dataclass(frozen=True)
class EndEpoch:
    """The barrier has arrived on all channels: take a snapshot, and pass it on."""

    barrier: Barrier


class Alignment(Generic[Item]):
    """Brings the channels of one container together.

    Exactly once: what a channel brings after its barrier waits until the barrier has arrived on all channels, so that a
    snapshot holds exactly the epochs up to its own. At least once: nothing waits, and a snapshot may hold more.
    """

    def __init__(self, channels: Iterable[int], exactly_once: bool = True) -> None:
        self._channels = frozenset(channels)
        self._exactly_once = exactly_once
        self._passed: dict[int, set[int]] = {}  # by epoch: channels on which its barrier has arrived
        self._blocked: set[int] = set()
        self._held: deque[tuple[int, Item | Barrier]] = deque()

    @property
    def aligning(self) -> bool:
        """Whether the barrier has arrived on some channels only."""
        return bool(self._passed)

    def receive(self, channel: int, element: Item | Barrier) -> list[Deliver[Item] | EndEpoch]:
        """What to do now that a channel has brought an element; those of one channel come in order."""
        if channel in self._blocked:
            self._held.append((channel, element))
            return []
        if not isinstance(element, Barrier):
            return [Deliver(element)]
        passed = self._passed.setdefault(element.epoch, set())
        passed.add(channel)
        if len(passed) < len(self._channels):
            if self._exactly_once:
                self._blocked.add(channel)
            return []
        del self._passed[element.epoch]
        self._blocked.clear()
        return [EndEpoch(element), *self._released()]

    def _released(self) -> list[Deliver[Item] | EndEpoch]:
        """In the order of arrival; the next barriers may be among it, and hold the rest back again."""
        held, self._held = self._held, deque()
        instructions: list[Deliver[Item] | EndEpoch] = []
        for channel, element in held:
            instructions += self.receive(channel, element)
        return instructions


@dataclass
class _Epoch(Generic[Plan]):
    number: int
    plan: Plan
    begun: float
    reports: dict[Place, Any] = field(default_factory=dict)


_LONG_SECONDS = 0.2  # of an epoch, beside which the way to the driver and back is nothing
_DEPTH_OF_LONG = 2


class EpochsInFlight(Generic[Plan, Report]):
    """Epochs between their planning and their completion, which comes in order.

    An epoch builds upon the one before it, so that none can be given up alone: one that is late fails all. Those that
    wait make a barrier late, so there are as many as keep the tasks busy: one until it is known how long an epoch
    takes, two while they are long, and as many as allowed where a task would wait for the driver's next word.
    """

    def __init__(self, places: Iterable[Place], limit: int, timeout: float) -> None:
        self._places = frozenset(places)
        self._limit = limit
        self._timeout = timeout
        self._epochs: deque[_Epoch[Plan]] = deque()
        self._depth = 1
        self._completed_last = 0.0

    def __len__(self) -> int:
        return len(self._epochs)

    @property
    def room(self) -> bool:
        return len(self._epochs) < self._depth

    def begin(self, number: int, plan: Plan, now: float) -> None:
        self._epochs.append(_Epoch(number, plan, now))

    def report(self, number: int, place: Place, report: Report, now: float) -> list[tuple[Plan, list[Report]]]:
        """A subtask is through with an epoch; gives the epochs that are complete with it, the oldest first."""
        epoch = next((epoch for epoch in self._epochs if epoch.number == number), None)
        if epoch is None:
            return []  # it was abandoned
        epoch.reports[place] = report
        complete = []
        while self._epochs and self._epochs[0].reports.keys() >= self._places:
            oldest = self._epochs.popleft()
            complete.append((oldest.plan, list(oldest.reports.values())))
            took = now - max(oldest.begun, self._completed_last)
            self._depth = min(self._limit, _DEPTH_OF_LONG if took > _LONG_SECONDS else self._limit)
            self._completed_last = now
        return complete

    def overdue(self, now: float) -> tuple[int, list[Place]] | None:
        """The oldest epoch if its time is over, and the subtasks that have not reported."""
        if not self._epochs or now < self._epochs[0].begun + self._timeout:
            return None
        oldest = self._epochs[0]
        return oldest.number, sorted(self._places - oldest.reports.keys())

    def abandon(self) -> None:
        """Everything goes back to the last complete epoch."""
        self._epochs.clear()
        self._depth = 1

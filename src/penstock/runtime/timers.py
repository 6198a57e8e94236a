"""Timers of one operator subtask: event time and processing time, one per (key, namespace) and moment."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from typing import Any

from penstock.runtime.state.keyed import KeyScope

Entry = tuple[Any, Any]  # key, namespace
Changes = dict[tuple[int, Entry], bool]  # whether a timer of this moment is there now


@dataclass
class TimerChanges:
    """Of both time domains."""

    event: Changes = field(default_factory=dict)
    processing: Changes = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.event or self.processing)


class TimerQueue:
    """Timers in time order.

    Entries of one moment share a bucket: many keys usually wait for the same moment (the end of a window), and
    then a timer costs a dictionary entry and no heap operation.
    """

    def __init__(self) -> None:
        self._buckets: dict[int, dict[Entry, None]] = {}
        self._moments: list[int] = []
        self._changes: Changes = {}

    def add(self, timestamp: int, entry: Entry) -> None:
        bucket = self._buckets.get(timestamp)
        if bucket is None:
            bucket = self._buckets[timestamp] = {}
            heapq.heappush(self._moments, timestamp)
        if entry not in bucket:
            bucket[entry] = None
            self._note(timestamp, entry, True)

    def remove(self, timestamp: int, entry: Entry) -> None:
        bucket = self._buckets.get(timestamp)
        if bucket is not None and entry in bucket:
            del bucket[entry]
            self._note(timestamp, entry, False)

    def earliest(self) -> int | None:
        while self._moments:
            first = self._moments[0]
            if self._buckets[first]:
                return first
            heapq.heappop(self._moments)
            del self._buckets[first]
        return None

    def take_due(self, until: int) -> list[tuple[int, Entry]]:
        """Removes all timers up to a moment and returns them in time order.

        They are taken together: a timer set or deleted by one of them does not change this round.
        """
        due: list[tuple[int, Entry]] = []
        while self._moments and self._moments[0] <= until:
            moment = heapq.heappop(self._moments)
            for entry in self._buckets.pop(moment):
                due.append((moment, entry))
                self._note(moment, entry, False)
        return due

    def clear(self) -> None:
        for moment, bucket in self._buckets.items():
            for entry in bucket:
                self._note(moment, entry, False)
        self._buckets.clear()
        self._moments.clear()

    def _note(self, timestamp: int, entry: Entry, present: bool) -> None:
        # The opposite change in the same epoch cancels: a timer that came and went is no change at all.
        change = (timestamp, entry)
        if self._changes.pop(change, None) is None:
            self._changes[change] = present

    def __len__(self) -> int:
        return sum(map(len, self._buckets.values()))

    def take_delta(self) -> Changes:
        delta, self._changes = self._changes, {}
        return delta

    def full_delta(self) -> Changes:
        return {(moment, entry): True for moment, bucket in self._buckets.items() for entry in bucket}

    def apply_delta(self, delta: Changes) -> None:
        for (timestamp, entry), present in delta.items():
            if present:
                self.add(timestamp, entry)
            else:
                self.remove(timestamp, entry)
        self._changes.clear()


class Timers:
    """Both time domains of one operator, for the current key of a scope."""

    def __init__(self, scope: KeyScope) -> None:
        self.scope = scope
        self.event = TimerQueue()
        self.processing = TimerQueue()

    def take_delta(self) -> TimerChanges | None:
        return TimerChanges(self.event.take_delta(), self.processing.take_delta()) or None

    def full_delta(self) -> TimerChanges:
        return TimerChanges(self.event.full_delta(), self.processing.full_delta())

    def apply_delta(self, delta: TimerChanges) -> None:
        self.event.apply_delta(delta.event)
        self.processing.apply_delta(delta.processing)

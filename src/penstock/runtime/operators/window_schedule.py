"""When windows of one size fire and end, known from nothing but which ones are open and the watermark."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from penstock.runtime.batch import MAX_TIMESTAMP


class Due(NamedTuple):
    """Something happens to a window at a moment."""

    start: int
    moment: int
    fires: bool
    ends: bool


class WindowSchedule:
    """The open windows by start.

    It needs no timers of its own in the snapshot: a window fires when the watermark passes its last timestamp and
    ends when it passes the allowed lateness, so the watermark says which of the two is still to come.
    """

    def __init__(self, size: int, allowed_lateness: int) -> None:
        self._last = size - 1
        self._lateness = allowed_lateness
        self._moments: list[tuple[int, int]] = []
        self._open: set[int] = set()

    def max_timestamp(self, start: int) -> int:
        return start + self._last

    def end_of(self, start: int) -> int:
        return min(start + self._last + self._lateness, MAX_TIMESTAMP)

    def open(self, start: int, watermark: int) -> None:
        """Notes a window that has an element; harmless for one that is open already."""
        if start in self._open:
            return
        self._open.add(start)
        if start + self._last > watermark:
            heapq.heappush(self._moments, (start + self._last, start))
        if self._lateness:
            heapq.heappush(self._moments, (self.end_of(start), start))

    def rebuild(self, starts: Iterable[int], watermark: int) -> None:
        self._moments.clear()
        self._open.clear()
        for start in starts:
            self.open(start, watermark)

    def take_due(self, watermark: int) -> Iterator[Due]:
        while self._moments and self._moments[0][0] <= watermark:
            moment, start = heapq.heappop(self._moments)
            ends = moment == self.end_of(start)
            if ends:
                self._open.discard(start)
            yield Due(start, moment, moment == start + self._last, ends)

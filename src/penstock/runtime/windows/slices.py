"""Aligned event-time windows: of which slices of time they are made, and when they fire and end."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from math import gcd
from typing import Any, NamedTuple, Protocol

from penstock.functions.window_assigners import (
    CumulativeEventTimeWindows,
    SlidingEventTimeWindows,
    TumblingEventTimeWindows,
)
from penstock.runtime.batch import MAX_TIMESTAMP, MIN_TIMESTAMP, Integers

Span = tuple[int, int]  # start and end of a window, or of a slice


class Slices(Protocol):
    """A slice is the longest span that every window covers wholly or not at all.

    Tumbling windows are one slice each; sliding and cumulative windows are unions of slices that they share.
    """

    length: int
    offset: int
    per_window: int  # slices of the longest window
    windows_per_slice: int  # at most
    has_gaps: bool  # whether there are slices without a window

    def windows(self, start: int) -> list[Span]:
        """The windows that cover the slice which begins there, in the order in which assigners give them."""

    def last_window(self, start: int) -> Span:
        """The one of them that ends last."""

    def has(self, window: Span) -> bool:
        """Whether it is one of these windows; a savepoint may have others."""


class SlidingSlices:
    """Windows of one size, a new one every `slide`; tumbling if the two are equal."""

    def __init__(self, size: int, slide: int, offset: int) -> None:
        self._size, self._slide, self.offset = size, slide, offset
        self.length = gcd(size, slide)
        self.per_window = size // self.length
        self.windows_per_slice = -(-size // slide)
        self.has_gaps = size < slide

    def windows(self, start: int) -> list[Span]:
        size = self._size
        earliest = start + self.length - size
        return [(begin, begin + size) for begin in range(self._latest(start), earliest - 1, -self._slide)]

    def last_window(self, start: int) -> Span:
        latest = self._latest(start)
        return latest, latest + self._size

    def has(self, window: Span) -> bool:
        return window[1] - window[0] == self._size and (window[0] - self.offset) % self._slide == 0

    def _latest(self, start: int) -> int:
        return start - (start - self.offset) % self._slide


class CumulativeSlices:
    """Windows that grow by `step` up to `size` and then begin again."""

    has_gaps = False

    def __init__(self, size: int, step: int, offset: int) -> None:
        self._size, self.length, self.offset = size, step, offset
        self.per_window = self.windows_per_slice = size // step

    def windows(self, start: int) -> list[Span]:
        begin, last = self.last_window(start)
        return [(begin, end) for end in range(start + self.length, last + 1, self.length)]

    def last_window(self, start: int) -> Span:
        begin = start - (start - self.offset) % self._size
        return begin, begin + self._size

    def has(self, window: Span) -> bool:
        length = window[1] - window[0]
        return (window[0] - self.offset) % self._size == 0 and 0 < length <= self._size and length % self.length == 0


def slices_of(assigner: Any) -> Slices | None:
    """The slices of an assigner's windows; None if it is not one of those that cut time in the same way for all."""
    kind = type(assigner)
    if kind is TumblingEventTimeWindows:
        return SlidingSlices(assigner._size, assigner._size, assigner._offset)
    if kind is SlidingEventTimeWindows:
        return SlidingSlices(assigner._size, assigner._slide, assigner._offset)
    if kind is CumulativeEventTimeWindows:
        return CumulativeSlices(assigner._size, assigner._step, assigner._offset)
    return None


class SliceNumbers:
    """Slices by number, so that arrays of timestamps can be divided."""

    def __init__(self, slices: Slices) -> None:
        self._length = slices.length
        self._shift = slices.offset % slices.length

    def of(self, timestamp: int) -> int:
        return (timestamp - self._shift) // self._length

    def start(self, number: int) -> int:
        return number * self._length + self._shift

    def all_of(self, times: Integers) -> Integers | None:
        """The slice of each record; None when some record has no timestamp."""
        if self.start(self.of(int(times.min()))) < MIN_TIMESTAMP + self._length:
            return None
        numbers: Integers = (times - self._shift) // self._length
        return numbers


class Due(NamedTuple):
    """Something happens to a window at a moment."""

    window: Span
    moment: int
    fires: bool
    ends: bool


class Schedule:
    """The open windows.

    It needs no timers in the snapshot: a window fires when the watermark passes its last timestamp and ends when it
    passes the allowed lateness, so the watermark says which of the two is still to come.
    """

    def __init__(self, allowed_lateness: int) -> None:
        self._lateness = allowed_lateness
        self._moments: list[tuple[int, Span]] = []
        self._open: set[Span] = set()

    def end_of(self, window: Span) -> int:
        return min(window[1] - 1 + self._lateness, MAX_TIMESTAMP)

    def open(self, window: Span, watermark: int) -> None:
        """Notes a window that has an element; harmless for one that is open already."""
        if window in self._open:
            return
        self._open.add(window)
        if window[1] - 1 > watermark:
            heapq.heappush(self._moments, (window[1] - 1, window))
        if self._lateness:
            heapq.heappush(self._moments, (self.end_of(window), window))

    def rebuild(self, windows: Iterable[Span], watermark: int) -> None:
        self._moments.clear()
        self._open.clear()
        for window in windows:
            self.open(window, watermark)

    def take_due(self, watermark: int) -> Iterator[Due]:
        while self._moments and self._moments[0][0] <= watermark:
            moment, window = heapq.heappop(self._moments)
            ends = moment == self.end_of(window)
            if ends:
                self._open.discard(window)
            yield Due(window, moment, moment == window[1] - 1, ends)

"""Batches cut by time: a granule is the longest span that every window of one size covers wholly or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd

import numpy as np

from penstock.runtime.batch import MIN_TIMESTAMP, Batch, Integers


class Granules:
    """Numbers the granules of windows of one size, slide and offset."""

    def __init__(self, size: int, slide: int, offset: int) -> None:
        self.length = gcd(size, slide)
        self._shift = offset % self.length
        self._per_window = size // self.length

    def numbers(self, batch: Batch) -> Integers | None:
        """The granule of each record; None when some record has no timestamp."""
        times = batch.times
        if times is None or self.start(self.of(int(times.min()))) < MIN_TIMESTAMP + self.length:
            return None
        numbers: Integers = (times - self._shift) // self.length
        return numbers

    def of(self, timestamp: int) -> int:
        return (timestamp - self._shift) // self.length

    def start(self, number: int) -> int:
        return number * self.length + self._shift

    def of_window(self, start: int) -> tuple[int, int]:
        """The first and the last granule of a window."""
        first = self.of(start)
        return first, first + self._per_window - 1


def distinct(numbers: Integers) -> list[int]:
    """The different numbers, in ascending order."""
    first, last = int(numbers.min()), int(numbers.max())
    if first == last:
        return [first]
    if last - first <= len(numbers):
        return [first + n for n in np.flatnonzero(np.bincount(numbers - first)).tolist()]
    return np.unique(numbers).tolist()  # type: ignore[no-any-return]


def neighbours(batch: Batch, numbers: Integers) -> Iterator[tuple[int, Batch]]:
    """Neighbouring records of the same number, in order of arrival."""
    cuts = (np.flatnonzero(numbers[1:] != numbers[:-1]) + 1).tolist()
    if not cuts:
        yield int(numbers[0]), batch
        return
    # As lists: a column is made into objects once, and not slice by slice.
    lists = Batch(batch.values, batch.timestamps, batch.keys)
    starts = [0, *cuts]
    for number, start, end in zip(numbers[starts].tolist(), starts, [*cuts, len(batch)], strict=True):
        yield number, lists.slice(start, end)


def grouped(batch: Batch, numbers: Integers) -> Iterator[tuple[int, Batch]]:
    """All records of the same number, which stay in order of arrival; the smallest number first."""
    found = distinct(numbers)
    if len(found) == 1:
        yield found[0], batch
        return
    offsets = numbers - found[0]
    if found[-1] - found[0] < 1 << 16:
        offsets = offsets.astype(np.uint16)  # which NumPy sorts several times faster
    order = np.argsort(offsets, kind="stable")
    yield from neighbours(batch.take(order), numbers[order])

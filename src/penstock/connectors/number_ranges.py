"""The numbers from start to end, split into contiguous ranges."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from penstock.runtime.batch import Batch, Control
from penstock.runtime.sources.base import Assignment, SourcePlanner, WorkReader

_RECORDS_PER_BATCH = 32_768

Ranges = list[list[int]]  # next number, end (exclusive)


class NumberSequenceReader(WorkReader):
    def read(self, work: Any) -> Iterator[Batch | Control]:
        for first, end in work:
            for start in range(first, end, _RECORDS_PER_BATCH):
                yield Batch(list(range(start, min(end, start + _RECORDS_PER_BATCH))))


class NumberSequence(SourcePlanner):
    """Both bounds inclusive. A position is what is left of each range; range i is read by subtask i modulo all.

    The ranges stay what they are when a job is started again with another parallelism.
    """

    def __init__(self, start: int, end: int) -> None:
        self._start = start
        self._end = end

    def initial_position(self, parallelism: int) -> Ranges:
        count = max(0, self._end - self._start + 1)
        bounds = [self._start + count * i // parallelism for i in range(parallelism + 1)]
        return [[first, end] for first, end in zip(bounds, bounds[1:], strict=False)]

    def advance(self, position: Ranges, budget: int) -> Ranges:
        share = max(1, budget // max(1, sum(next_ < end for next_, end in position)))
        return [[min(end, next_ + share), end] for next_, end in position]

    def assignments(self, start: Ranges, end: Ranges, parallelism: int) -> dict[int, Assignment]:
        result = {}
        for subtask in range(parallelism):
            mine = range(subtask, len(start), parallelism)
            work = [(start[i][0], end[i][0]) for i in mine if end[i][0] > start[i][0]]
            result[subtask] = Assignment(work or None, all(end[i][0] >= end[i][1] for i in mine))
        return result

    def exhausted(self, position: Ranges) -> bool:
        return all(next_ >= end for next_, end in position)

    def reader(self) -> WorkReader:
        return NumberSequenceReader()

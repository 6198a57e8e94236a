"""The numbers from start to end, split into one contiguous range per subtask."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from penstock.runtime.batch import Batch, Control
from penstock.runtime.sources.base import Assignment, Source, SourceReader

_RECORDS_PER_BATCH = 32_768


class NumberSequenceReader(SourceReader):
    def read(self, work: Any) -> Iterator[Batch | Control]:
        first, end = work
        for start in range(first, end, _RECORDS_PER_BATCH):
            yield Batch(list(range(start, min(end, start + _RECORDS_PER_BATCH))))


class NumberSequence(Source):
    """Both bounds inclusive. A position is the next number of each subtask's range."""

    def __init__(self, start: int, end: int) -> None:
        self._start = start
        self._end = end

    def _bounds(self, parallelism: int) -> list[int]:
        count = self._end - self._start + 1
        return [self._start + count * i // parallelism for i in range(parallelism + 1)]

    def initial_position(self, parallelism: int) -> list[int]:
        return self._bounds(parallelism)[:-1]

    def advance(self, position: list[int], budget: int) -> list[int]:
        ends = self._bounds(len(position))[1:]
        share = max(1, budget // len(position))
        return [min(end, next_ + share) for next_, end in zip(position, ends, strict=True)]

    def assignments(self, start: list[int], end: list[int], parallelism: int) -> dict[int, Assignment]:
        ends = self._bounds(parallelism)[1:]
        return {
            i: Assignment((start[i], end[i]) if end[i] > start[i] else None, end[i] >= ends[i])
            for i in range(parallelism)
        }

    def exhausted(self, position: list[int]) -> bool:
        return position == self._bounds(len(position))[1:]

    def reader(self) -> SourceReader:
        return NumberSequenceReader()

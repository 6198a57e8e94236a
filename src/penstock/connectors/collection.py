"""A list of the driver as a source: its slices travel with the epochs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from penstock.runtime.batch import Batch, Control
from penstock.runtime.pickling import dumps_on_driver, loads
from penstock.runtime.sources.base import Assignment, SourcePlanner, WorkReader

_RECORDS_PER_BATCH = 32_768


class CollectionReader(WorkReader):
    def read(self, work: Any) -> Iterator[Batch | Control]:
        values = loads(work)
        for start in range(0, len(values), _RECORDS_PER_BATCH):
            yield Batch(values[start : start + _RECORDS_PER_BATCH])


class CollectionSource(SourcePlanner):
    """Reads a list from front to back in one subtask."""

    max_parallelism = 1

    def __init__(self, values: list[Any]) -> None:
        self._values = values

    def initial_position(self, parallelism: int) -> int:
        return 0

    def advance(self, position: int, budget: int) -> int:
        return min(len(self._values), position + budget)

    def assignments(self, start: int, end: int, parallelism: int) -> dict[int, Assignment]:
        return {0: Assignment(dumps_on_driver(self._values[start:end]), self.exhausted(end))}

    def exhausted(self, position: int) -> bool:
        return position >= len(self._values)

    def reader(self) -> WorkReader:
        return CollectionReader()

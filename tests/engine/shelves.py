"""A source of splits that can be watched: importable, so that what it writes down is seen wherever it is pickled to."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from tests.patience import patience

from penstock.connectors import Fetch, Source, SourceReader, Split, SplitEnumerator

Shelf = list[tuple[str, int]]  # values and their event times
EVENTS: dict[str, list[Any]] = defaultdict(list)  # what readers and enumerators did, by the name of the source


class Shelves(Source):
    """Every shelf is a split, a position is the number of values that were read."""

    bounded = True

    def __init__(self, name: str, shelves: dict[str, Shelf], later: dict[str, Shelf] | None = None) -> None:
        self.name = name
        self.shelves = {**shelves, **(later or {})}
        self.first = list(shelves)
        self.later = list(later or {})

    def create_enumerator(self, context: Any) -> SplitEnumerator:
        return ShelfEnumerator(self)

    def create_reader(self, context: Any) -> SourceReader:
        return ShelfReader(self)


class ShelfEnumerator(SplitEnumerator):
    def __init__(self, source: Shelves) -> None:
        self._source = source
        self._looks = 0
        self.discovery_interval_ms = 1 if source.later else None

    def restore_state(self, state: Any) -> None:
        EVENTS[self._source.name].append(("restore", state))
        self._looks = state

    def discover(self) -> list[Split]:
        self._looks += 1
        found = self._source.first + (self._source.later if self._looks > 1 else [])
        if self._looks > 1:
            self.discovery_interval_ms = None
        return [Split(name, start=0) for name in found]

    def snapshot_state(self) -> int:
        return self._looks

    def on_commit(self, positions: Mapping[str, Any]) -> None:
        EVENTS[self._source.name].append(("committed", dict(positions)))


class Unsteady(Shelves):
    """Its enumerators fail at the first and at the third look of all."""

    def create_enumerator(self, context: Any) -> SplitEnumerator:
        return UnsteadyEnumerator(self)


class UnsteadyEnumerator(ShelfEnumerator):
    def discover(self) -> list[Split]:
        did = EVENTS[self._source.name]
        did.append("look")
        if did.count("look") in (1, 3):
            did.append("failed")
            raise ConnectionError("the catalogue is away")
        return super().discover()


class ShelfReader(SourceReader):
    def __init__(self, source: Shelves) -> None:
        self._source = source
        self._at: dict[str, int] = {}

    def _did(self, *event: Any) -> None:
        EVENTS[self._source.name].append(event)

    def open(self) -> None:
        self._did("open")

    def add_split(self, split: Split, position: int) -> None:
        self._did("add", split.split_id, position)
        self._at[split.split_id] = position

    def remove_split(self, split_id: str) -> None:
        self._did("remove", split_id)
        del self._at[split_id]

    def fetch(self, max_records: int) -> Fetch | None:
        for name in list(self._at):
            start = self._at.pop(name)
            shelf = self._source.shelves[name]
            taken = shelf[start : start + min(2, max_records)]
            end = start + len(taken)
            if end < len(shelf):
                self._at[name] = end
            values, times = [value for value, _ in taken], [time for _, time in taken]
            return Fetch(name, values, end, times, finished=end == len(shelf))
        return None

    def on_commit(self, positions: Mapping[str, Any]) -> None:
        self._did("reader committed", dict(positions))

    def close(self) -> None:
        self._did("close")


def shelves(count: int, length: int) -> dict[str, Shelf]:
    return {f"s{i}": [(f"{i}-{n}", n * 1000 + i) for n in range(length)] for i in range(count)}


def values_of(content: dict[str, Shelf]) -> list[str]:
    return [value for shelf in content.values() for value, _ in shelf]


class Stuck(Shelves):
    """Its enumerator answers only when it is allowed to."""

    def create_enumerator(self, context: Any) -> SplitEnumerator:
        return StuckEnumerator()


class StuckEnumerator(SplitEnumerator):
    allowed = threading.Event()

    def discover(self) -> list[Split]:
        assert self.allowed.wait(patience(30))
        return [Split("s0", 0)]


def allow_after_last(value: str) -> str:
    if value == "last":
        StuckEnumerator.allowed.set()
    return value


class Broken(Shelves):
    def __init__(self, name: str, where: str) -> None:
        super().__init__(name, shelves(1, 1))
        self._where = where

    def create_enumerator(self, context: Any) -> SplitEnumerator:
        if self._where == "enumerator":
            return BrokenEnumerator()
        return super().create_enumerator(context)

    def create_reader(self, context: Any) -> SourceReader:
        return BrokenReader(self, self._where)


class BrokenEnumerator(SplitEnumerator):
    def discover(self) -> list[Split]:
        raise OSError("no such shelf")


class BrokenReader(ShelfReader):
    def __init__(self, source: Shelves, where: str) -> None:
        super().__init__(source)
        self._where = where

    def fetch(self, max_records: int) -> Fetch | None:
        if self._where == "reader":
            raise OSError("the shelf fell down")
        return Fetch("another", [1], 1)

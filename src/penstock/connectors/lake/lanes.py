"""Reads tables of files: all files of one version, and then, if wanted, those that each later version adds.

The files are dealt out to lanes, one for each subtask. A lane's position is a version, a file of it and a row of that:
versions never change, so that the same position always leads to the same rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from penstock.common.errors import JobExecutionError
from penstock.common.typeinfo import RowTypeInfo, TypeInformation
from penstock.connectors.lake.records import named_row_type, records_of
from penstock.functions.source import (
    EnumeratorContext,
    Fetch,
    ReaderContext,
    Source,
    SourceReader,
    Split,
    SplitEnumerator,
)


class TableView(ABC):
    """A table, as readers see it."""

    place: str

    def identity(self, version: int) -> str:
        """What tells the table of this version from another at the same place; nothing where its number does."""
        return ""

    @abstractmethod
    def newest(self) -> int:
        """The number of the newest version."""

    @abstractmethod
    def check(self, version: int) -> None:
        """An error if there is no such version."""

    @abstractmethod
    def after(self, version: int) -> int | None:
        """The version that follows; None while there is none."""

    @abstractmethod
    def files(self, version: int, whole: bool) -> list[str]:
        """The names of all files of a version, or of those that it has added, always in the same order."""

    @abstractmethod
    def read(self, version: int, whole: bool, file: str) -> Iterator[pa.RecordBatch]:
        """The rows of one of these files, always in the same order."""


@dataclass(frozen=True)
class LanePosition:
    version: int
    whole: bool = True  # all files of the version, not only those that it has added
    file: int = 0
    row: int = 0


@dataclass(frozen=True)
class Lane(Split):
    index: int = 0
    lanes: int = 1
    table: str = ""  # its identity; lanes of old savepoints do not know it


class LakeSource(Source):
    """The common part of sources of tables."""

    def __init__(self, view: Callable[[], TableView], row_type: Any, version: int | None, continuous: bool) -> None:
        super().__init__()
        self._row_type = named_row_type(row_type, type(self).__name__)
        self._view = view
        self._version = version
        self.bounded = not continuous

    def create_enumerator(self, context: EnumeratorContext) -> SplitEnumerator:
        return LaneEnumerator(self._view(), self._version, context.parallelism)

    def create_reader(self, context: ReaderContext) -> SourceReader:
        return LaneReader(self._view(), self._row_type, self.bounded)

    def get_produced_type(self) -> TypeInformation | None:
        return self._row_type


class LaneEnumerator(SplitEnumerator):
    """Deals the files out once: a lane stays what it is, whatever the parallelism becomes."""

    news_interval_ms = 1_000  # each question is a request to the store or to the catalog

    def __init__(self, view: TableView, version: int | None, lanes: int) -> None:
        self._view = view
        self._version = version
        self._lanes = lanes

    def discover(self) -> Iterable[Split]:
        if self._version is not None:
            self._view.check(self._version)
        version = self._view.newest() if self._version is None else self._version
        table, start = self._view.identity(version), LanePosition(version)
        return [Lane(f"lane-{n}", start, n, self._lanes, table) for n in range(self._lanes)]

    def has_news(self, positions: Mapping[str, LanePosition]) -> bool:
        newest = self._view.newest()
        return any(position.version != newest for position in positions.values())


class LaneReader(SourceReader):
    """Reads its lanes in turn, a batch of rows at a time."""

    def __init__(self, view: TableView, row_type: RowTypeInfo, finishes: bool) -> None:
        self._view = view
        self._row_type = row_type
        self._finishes = finishes
        self._lanes: dict[str, _OpenLane] = {}

    def add_split(self, split: Split, position: LanePosition) -> None:
        assert isinstance(split, Lane)
        self._lanes[split.split_id] = _OpenLane(self._view, split, position)

    def remove_split(self, split_id: str) -> None:
        del self._lanes[split_id]

    def fetch(self, max_records: int) -> Fetch | None:
        for split_id in list(self._lanes):
            lane = self._lanes.pop(split_id)
            self._lanes[split_id] = lane  # now the last: the others have their turn
            before = lane.position
            found = lane.next_rows(max_records, follow=not self._finishes)
            if found is not None:
                return Fetch(split_id, records_of(found, self._row_type, self._view.place), lane.position)
            if self._finishes:
                del self._lanes[split_id]
                return Fetch(split_id, [], lane.position, finished=True)
            if lane.position != before:
                return Fetch(split_id, [], lane.position)
        return None


class _OpenLane:
    """Where a lane is, with the file that it is reading."""

    def __init__(self, view: TableView, lane: Lane, position: LanePosition) -> None:
        self._view = view
        self._lane = lane
        self.position = position
        self._files: list[str] | None = None
        self._batches: Iterator[pa.RecordBatch] | None = None
        self._rest: pa.RecordBatch | None = None

    def next_rows(self, most: int, follow: bool) -> pa.RecordBatch | None:
        """None at the end of what there is."""
        while True:
            at = self.position
            if self._files is None:
                self._files = self._view.files(at.version, at.whole)[self._lane.index :: self._lane.lanes]
                if self._files:
                    self._check_identity()
            if at.file >= len(self._files):
                if not follow or not self._next_version():
                    return None
                continue
            found = self._from_file(self._files[at.file], most)
            if found is not None:
                return found
            self.position = replace(at, file=at.file + 1, row=0)

    def _next_version(self) -> bool:
        following = self._view.after(self.position.version)
        if following is None:
            return False
        self.position = LanePosition(following, whole=False)
        self._files = None
        return True

    def _check_identity(self) -> None:
        if self._lane.table and self._lane.table != self._view.identity(self.position.version):
            raise JobExecutionError(
                f"{self._view.place} was replaced by another table while this job was reading it, so that version"
                f" {self.position.version}, up to which it has read, means nothing any more. Start the job without its"
                " state to read the new table."
            )

    def _from_file(self, file: str, most: int) -> pa.RecordBatch | None:
        at = self.position
        if self._batches is None:
            self._batches = _behind(self._view.read(at.version, at.whole, file), at.row)
        if self._rest is None:
            self._rest = next(self._batches, None)
        if self._rest is None:
            self._batches = None
            return None
        found, left = self._rest.slice(0, most), self._rest.num_rows - most
        self._rest = self._rest.slice(most) if left > 0 else None
        self.position = replace(at, row=at.row + found.num_rows)
        return found


def _behind(batches: Iterator[pa.RecordBatch], rows: int) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        if rows < batch.num_rows:
            yield batch.slice(rows)
        rows = max(0, rows - batch.num_rows)

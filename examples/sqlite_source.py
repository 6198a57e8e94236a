"""A source of your own: every SQLite file of a directory is a split, and its table `events` is read row by row.

    python examples/sqlite_source.py DIRECTORY

See docs/connectors-own.md, which explains it step by step.
"""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock.common import Types, WatermarkStrategy
from penstock.connectors import Fetch, Source, SourceReader, Split, SplitEnumerator
from penstock.datastream import StreamExecutionEnvironment


@dataclass(frozen=True)
class DatabaseFile(Split):
    """The split's id is the path of the file; positions are row ids, and `start` is 0: before the first row."""


class SqliteSource(Source):
    """Rows (name, amount, moment) of all databases in a directory; with an interval also of those that come later."""

    def __init__(self, directory: str, discovery_interval_ms: int | None = None) -> None:
        self._directory = directory
        self._interval = discovery_interval_ms
        self.bounded = discovery_interval_ms is None

    def create_enumerator(self, context: Any) -> SplitEnumerator:
        return DirectoryEnumerator(self._directory, self._interval)

    def create_reader(self, context: Any) -> SourceReader:
        return RowReader(finishes=self.bounded)

    def get_produced_type(self) -> Any:
        return Types.TUPLE([Types.STRING(), Types.LONG(), Types.LONG()])


class DirectoryEnumerator(SplitEnumerator):
    """Runs on the driver, in a thread of its own."""

    def __init__(self, directory: str, interval_ms: int | None) -> None:
        self._directory = Path(directory)
        self.discovery_interval_ms = interval_ms

    def discover(self) -> list[DatabaseFile]:
        return [DatabaseFile(str(path), start=0) for path in sorted(self._directory.glob("*.sqlite"))]

    def has_news(self, positions: Mapping[str, Any]) -> bool:
        return any(_last_row(path) > position for path, position in positions.items())


class RowReader(SourceReader):
    """Runs in a worker. Its connections stay open from epoch to epoch."""

    def __init__(self, finishes: bool) -> None:
        self._finishes = finishes
        self._connections: dict[str, sqlite3.Connection] = {}
        self._positions: dict[str, int] = {}

    def add_split(self, split: Split, position: int) -> None:
        self._connections[split.split_id] = _connect(split.split_id)
        self._positions[split.split_id] = position

    def remove_split(self, split_id: str) -> None:
        self._connections.pop(split_id).close()
        del self._positions[split_id]

    def fetch(self, max_records: int) -> Fetch | None:
        for path in list(self._positions):
            position = self._positions.pop(path)
            rows = self._rows(path, position, max_records)
            if rows:
                self._positions[path] = rows[-1][0]  # now the last in the dictionary: the others have their turn
                return Fetch(path, [row[1:] for row in rows], position=rows[-1][0], timestamps=[row[3] for row in rows])
            if self._finishes:
                self._connections.pop(path).close()
                return Fetch(path, [], position, finished=True)
            self._positions[path] = position
        return None

    def _rows(self, path: str, position: int, max_records: int) -> list[Any]:
        query = "select rowid, name, amount, moment from events where rowid > ? order by rowid limit ?"
        return self._connections[path].execute(query, (position, max_records)).fetchall()

    def close(self) -> None:
        for connection in self._connections.values():
            connection.close()


def _connect(path: str) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{path}?mode=ro", uri=True)


def _last_row(path: str) -> int:
    connection = _connect(path)
    try:
        return int(connection.execute("select coalesce(max(rowid), 0) from events").fetchone()[0])
    finally:
        connection.close()


def main(directory: str) -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    events = env.from_source(SqliteSource(directory), WatermarkStrategy.for_monotonous_timestamps(), "databases")
    events.key_by(lambda event: event[0]).reduce(lambda a, b: (a[0], a[1] + b[1], b[2])).print()
    env.execute("sums of all databases")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])

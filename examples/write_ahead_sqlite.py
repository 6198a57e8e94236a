"""A write-ahead sink: what an epoch has brought goes to a SQLite file when the epoch is complete, and only once.

    python examples/write_ahead_sqlite.py FILE

See "The classic base classes" in docs/connectors-own.md.
"""

from __future__ import annotations

import sqlite3
import sys
from typing import Any

from penstock.common import WatermarkStrategy
from penstock.connectors import CheckpointCommitter, GenericWriteAheadSink
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.connectors.number_seq import NumberSequenceSource


class EpochTable(CheckpointCommitter):
    """Notes in the same file which epochs are in it."""

    def __init__(self, path: str) -> None:
        self._path = path

    def create_resource(self) -> None:
        with sqlite3.connect(self._path) as connection:
            connection.execute("create table if not exists epochs (owner text primary key, epoch integer, content)")
        connection.close()

    def open(self) -> None:
        self._connection = sqlite3.connect(self._path, check_same_thread=False)

    def close(self) -> None:
        self._connection.close()

    def commit_checkpoint(self, subtask_idx: int, checkpoint_id: int) -> None:
        self.commit_content(subtask_idx, checkpoint_id, "")

    def commit_content(self, subtask_idx: int, checkpoint_id: int, content: str) -> None:
        with self._connection:
            note = (self._owner(subtask_idx), checkpoint_id, content)
            self._connection.execute("replace into epochs values (?, ?, ?)", note)

    def is_checkpoint_committed(self, subtask_idx: int, checkpoint_id: int) -> bool:
        return self._noted(subtask_idx)[0] >= checkpoint_id

    def committed_content(self, subtask_idx: int) -> str:
        return self._noted(subtask_idx)[1]

    def _noted(self, subtask: int) -> tuple[int, str]:
        query = "select epoch, content from epochs where owner = ?"
        return self._connection.execute(query, (self._owner(subtask),)).fetchone() or (-1, "")

    def _owner(self, subtask: int) -> str:
        return f"{self.job_id}/{self.operator_id}/{subtask}"


class SqliteLog(GenericWriteAheadSink[Any]):
    """Rows carry the time of their log, and replace themselves if a crash comes before the note of the committer."""

    def __init__(self, path: str) -> None:
        super().__init__(EpochTable(path))
        self._path = path

    def open(self) -> None:
        self._connection = sqlite3.connect(self._path, check_same_thread=False)
        with self._connection:
            self._connection.execute(
                "create table if not exists log (epoch integer, moment integer, number integer, value,"
                " primary key (epoch, moment, number, value))"
            )

    def close(self) -> None:
        self._connection.close()

    def send_values(self, values: list[Any], checkpoint_id: int, timestamp: int) -> bool:
        rows = [(checkpoint_id, timestamp, number, value) for number, value in enumerate(values)]
        with self._connection:
            self._connection.executemany("insert or replace into log values (?, ?, ?, ?)", rows)
        return True


def main(path: str) -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    numbers = env.from_source(NumberSequenceSource(1, 1000), WatermarkStrategy.no_watermarks(), "numbers")
    numbers.sink_to(SqliteLog(path)).name("write-ahead log")
    env.execute("numbers in SQLite")
    with sqlite3.connect(path) as connection:
        rows, different = connection.execute("select count(*), count(distinct value) from log").fetchone()
    print(f"{rows} rows, {different} different")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])

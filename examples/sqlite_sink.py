"""A sink of your own: records go to a table of a SQLite file, each epoch in one transaction, exactly once.

    python examples/sqlite_sink.py FILE

See docs/connectors-own.md, which explains it step by step.
"""

from __future__ import annotations

import sqlite3
import sys
from typing import Any

from penstock.common import WatermarkStrategy
from penstock.connectors import Committer, CommitterContext, Records, Sink, SinkWriter, WriterContext
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.connectors.number_seq import NumberSequenceSource

Rows = list[tuple[Any, ...]]


class SqliteSink(Sink):
    """Appends tuples to a table. Beside it the file has a table of the epochs that are in it."""

    def __init__(self, path: str, table: str, columns: list[str]) -> None:
        self._path = path
        self._table = table
        self._columns = columns

    def create_writer(self, context: WriterContext) -> SinkWriter:
        return RowWriter()

    def create_committer(self, context: CommitterContext) -> Committer:
        return TransactionCommitter(self._path, self._table, self._columns, f"{context.job_id}/{context.operator_uid}")


class RowWriter(SinkWriter):
    """Runs in a worker. The rows of an epoch are few enough to be its committables; a large sink would stage files."""

    def __init__(self) -> None:
        self._rows: Rows = []

    def write(self, records: Records) -> None:
        self._rows.extend(records.values)

    def prepare_commit(self) -> Rows:
        rows, self._rows = self._rows, []
        return rows


class TransactionCommitter(Committer):
    """Runs on the driver: the rows of all writers, and the number of their epoch, in one transaction."""

    def __init__(self, path: str, table: str, columns: list[str], owner: str) -> None:
        self._path = path
        self._table = table
        self._columns = columns
        self._owner = owner

    def open(self) -> None:
        # Committers are called by one thread at a time, but not always by the same.
        self._connection = sqlite3.connect(self._path, check_same_thread=False)
        with self._connection:
            self._connection.execute(f"create table if not exists {self._table} ({', '.join(self._columns)})")
            self._connection.execute("create table if not exists epochs (owner text primary key, epoch integer)")

    def commit(self, epoch: int, committables: Rows) -> None:
        marks = ", ".join("?" * len(self._columns))
        with self._connection:  # one transaction
            if epoch <= self._last_epoch():
                return  # it was committed before the crash
            self._connection.executemany(f"insert into {self._table} values ({marks})", committables)
            self._connection.execute("replace into epochs values (?, ?)", (self._owner, epoch))

    def _last_epoch(self) -> int:
        found = self._connection.execute("select epoch from epochs where owner = ?", (self._owner,)).fetchone()
        return 0 if found is None else int(found[0])

    def close(self) -> None:
        if hasattr(self, "_connection"):
            self._connection.close()


def main(path: str) -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    numbers = env.from_source(NumberSequenceSource(1, 1000), WatermarkStrategy.no_watermarks(), "numbers")
    numbers.map(lambda number: (number, number * number)).sink_to(SqliteSink(path, "squares", ["number", "square"]))
    env.execute("squares")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])

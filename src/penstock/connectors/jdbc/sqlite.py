"""SQLite: a file that one process writes at a time."""

from __future__ import annotations

import datetime
import os
import sqlite3
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from penstock.common.errors import JobExecutionError
from penstock.connectors.jdbc.address import DatabaseAddress
from penstock.connectors.jdbc.dialect import Dialect, Rows

_AS_TEXT = (Decimal, datetime.date, datetime.time)  # which SQLite has no types for
_WAIT_SECONDS = 30


class SQLite(Dialect):
    mark = "?"
    insert_once = "INSERT OR IGNORE INTO"
    lock_tail = ""  # its transactions exclude each other

    def connect(self, address: DatabaseAddress) -> Any:
        if not os.path.exists(address.database):  # SQLite would make an empty one
            raise JobExecutionError(
                f"There is no file {address.database}. A SQLite database is made by who defines its tables, at a place"
                " that driver and workers see."
            )
        # Writers and committers are called by one thread at a time, but not always by the same.
        return sqlite3.connect(
            address.database, timeout=_WAIT_SECONDS, isolation_level="IMMEDIATE", check_same_thread=False
        )

    def is_away(self, error: Exception) -> bool:
        return isinstance(error, sqlite3.OperationalError) and "locked" in str(error)

    def upsert(self, table: str, columns: Sequence[str], key: Sequence[str]) -> str:
        others = [self.quoted(name) for name in columns if name not in key]
        action = f"UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in others)}" if others else "NOTHING"
        return f"{self.insert(table, columns)} ON CONFLICT ({', '.join(map(self.quoted, key))}) DO {action}"

    def adapted(self, rows: Rows) -> Rows:
        if not any(isinstance(value, _AS_TEXT) for row in rows for value in row):
            return rows
        return [tuple(str(value) if isinstance(value, _AS_TEXT) else value for value in row) for row in rows]

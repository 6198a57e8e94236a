"""Rows of a table by key, many keys with one question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.common.errors import ProgramError
from penstock.common.typeinfo import RowTypeInfo
from penstock.common.types import Row
from penstock.connectors.jdbc.options import JdbcConnectionOptions
from penstock.connectors.jdbc.session import Session
from penstock.connectors.jdbc.statement import Statement
from penstock.connectors.jdbc.values import RowMaker
from penstock.functions.lookup import LookupFunction

__all__ = ["JdbcLookupFunction"]

_KEYS_AT_ONCE = 400  # SQLite puts 500 SELECTs together


class JdbcLookupFunction(LookupFunction):
    """Rows of `row_type` out of a table, by the values of the key's columns."""

    def __init__(
        self,
        connection: JdbcConnectionOptions,
        table: str,
        row_type: RowTypeInfo,
        key: Sequence[str],
        max_retries: int = 3,
    ) -> None:
        names = row_type.get_field_names()
        if not key or any(name not in names for name in key):
            raise ProgramError(f"The key {list(key)} of a lookup must be among the columns {names}.")
        self._address = connection.address
        self._table = table
        self._row_type = row_type
        self._key = [names.index(name) for name in key]
        self._max_retries = max_retries
        self._session: Session | None = None

    def open(self) -> None:
        self._session = Session(self._address)
        self._rows = RowMaker(self._row_type)
        quoted = self._session.dialect.quoted
        self._table_name = self._session.dialect.table_name(self._table)
        self._columns = [quoted(name) for name in self._row_type.get_field_names()]

    def lookup(self, keys: Sequence[tuple[Any, ...]]) -> list[list[Row]]:
        wanted = list(dict.fromkeys(key for key in keys if None not in key))
        found: dict[tuple[Any, ...], list[Row]] = {}
        for start in range(0, len(wanted), _KEYS_AT_ONCE):
            asked = wanted[start : start + _KEYS_AT_ONCE]
            for number, *values in self._ask(self._question(len(asked)), [value for key in asked for value in key]):
                found.setdefault(asked[number], []).append(self._rows.row(values))
        return [found.get(key, []) for key in keys]

    def _question(self, count: int) -> str:
        """Which rows a key has is the database's to say: its texts may be equal without being the same."""
        key = [self._columns[at] for at in self._key]
        like_the_columns = f"SELECT -1 AS penstock_n, {', '.join(key)} FROM {self._table_name} WHERE 1 = 0"
        marks = ", ".join("?" * len(key))
        asked = [like_the_columns, *(f"SELECT {number}, {marks}" for number in range(count))]
        columns = ", ".join(["asked.penstock_n", *(f"there.{name}" for name in self._columns)])
        same = " AND ".join(f"there.{name} = asked.{name}" for name in key)
        return f"SELECT {columns} FROM ({' UNION ALL '.join(asked)}) asked JOIN {self._table_name} there ON {same}"

    def everything(self) -> dict[tuple[Any, ...], list[Any]]:
        found: dict[tuple[Any, ...], list[Any]] = {}
        for row in self._rows.rows(self._ask(f"SELECT {', '.join(self._columns)} FROM {self._table_name}", [])):
            found.setdefault(tuple(row[at] for at in self._key), []).append(row)
        return found

    def _ask(self, question: str, values: list[Any]) -> list[Any]:
        session = self._session
        assert session is not None, "the lookup is not open"
        text = Statement.parse(question)

        def ask(cursor: Any) -> list[Any]:
            cursor.execute(text.with_marks(session.dialect.mark), values)
            return list(cursor.fetchall())

        return session.run(ask, self._max_retries)

    def close(self) -> None:
        if self._session is not None:
            self._session.close()
            self._session = None

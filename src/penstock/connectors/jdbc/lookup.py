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

_KEYS_AT_ONCE = 500  # every database takes so many parameters


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
        names = [self._session.dialect.quoted(name) for name in self._row_type.get_field_names()]
        table = self._session.dialect.table_name(self._table)
        self._select = f"SELECT {', '.join(names)} FROM {table}"
        self._condition = "(" + " AND ".join(f"{names[at]} = ?" for at in self._key) + ")"

    def lookup(self, keys: Sequence[tuple[Any, ...]]) -> list[list[Row]]:
        wanted = list(dict.fromkeys(key for key in keys if None not in key))
        found: dict[tuple[Any, ...], list[Row]] = {}
        for start in range(0, len(wanted), _KEYS_AT_ONCE):
            asked = wanted[start : start + _KEYS_AT_ONCE]
            found |= self._ask(" WHERE " + " OR ".join([self._condition] * len(asked)), asked)
        return [found.get(key, []) for key in keys]

    def everything(self) -> dict[tuple[Any, ...], list[Any]]:
        return self._ask("", [])

    def _ask(self, where: str, keys: list[tuple[Any, ...]]) -> dict[tuple[Any, ...], list[Any]]:
        session = self._session
        assert session is not None, "the lookup is not open"
        text = Statement.parse(self._select + where)

        def ask(cursor: Any) -> Any:
            cursor.execute(text.with_marks(session.dialect.mark), [value for key in keys for value in key])
            return cursor.fetchall()

        found: dict[tuple[Any, ...], list[Any]] = {}
        for row in self._rows.rows(session.run(ask, self._max_retries)):
            found.setdefault(tuple(row[at] for at in self._key), []).append(row)
        return found

    def close(self) -> None:
        if self._session is not None:
            self._session.close()
            self._session = None

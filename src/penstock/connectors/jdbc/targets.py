"""What is done with the records of a stream: a statement for each, or a table that follows a changelog."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from itertools import chain
from typing import Any

from penstock.common.errors import JobExecutionError, ProgramError
from penstock.common.time import Instant
from penstock.common.typeinfo import RowTypeInfo
from penstock.common.types import Row, RowKind
from penstock.connectors.jdbc.dialect import Dialect, Rows
from penstock.connectors.jdbc.statement import Statement


class StatementTarget:
    """Executes one statement for each record; its fields are the parameters."""

    def __init__(self, text: str, type_info: RowTypeInfo | None) -> None:
        self.statement = Statement.parse(text)
        self.type_info = type_info
        if type_info is not None and len(type_info.get_field_types()) != self.statement.parameters:
            raise ProgramError(
                f"The statement has {self.statement.parameters} parameters (?), but the row type has"
                f" {len(type_info.get_field_types())} fields: {text}"
            )

    @property
    def table(self) -> str | None:
        """Where rows are inserted; None for other statements."""
        insert = self.statement.insert
        return None if insert is None else insert.table

    @property
    def name(self) -> str:
        return f"into {self.table}" if self.table is not None else f"by {'?'.join(self.statement.pieces)[:100]}"

    def rows_of(self, records: list[Any], dialect: Dialect) -> Rows:
        return _with_moments(list(map(_values, records)), dialect)

    def execute(self, cursor: Any, dialect: Dialect, rows: Rows) -> None:
        cursor.executemany(self.statement.with_marks(dialect.mark), rows)


class TableTarget:
    """Keeps a table as a changelog says: by key, or by appending if there is none."""

    def __init__(self, table: str, columns: Sequence[str], key: Sequence[str] = ()) -> None:
        unknown = [name for name in key if name not in columns]
        if unknown:
            raise ProgramError(f"The key {list(key)} of the table {table!r} is not among its columns {list(columns)}.")
        self.table = table
        self.columns = tuple(columns)
        self.key = tuple(key)
        self._at = [self.columns.index(name) for name in key]

    @property
    def name(self) -> str:
        return f"into {self.table}"

    def rows_of(self, records: list[Any], dialect: Dialect) -> Rows:
        """With a key: one more field, which says whether the row is deleted."""
        rows = []
        for record in records:
            kind = record._row_kind if isinstance(record, Row) else RowKind.INSERT
            if not self.key and kind is not RowKind.INSERT:
                raise JobExecutionError(
                    f"The table {self.table!r} is written without a key, so that rows can only be appended; the"
                    f" changelog has a row of the kind {kind}. Name the columns of its key."
                )
            if self.key and kind is RowKind.UPDATE_BEFORE:
                continue
            values = _values(record)
            if len(values) != len(self.columns):
                raise JobExecutionError(
                    f"The table {self.table!r} is written with the columns {', '.join(self.columns)}, but a record has"
                    f" {len(values)} fields."
                )
            rows.append((*values, kind is RowKind.DELETE) if self.key else values)
        for name, at in zip(self.key, self._at, strict=True):
            if any(row[at] is None for row in rows):
                raise JobExecutionError(
                    f"The table {self.table!r} is written by its key, but a record has no value in {name!r}, a column"
                    " of the key. Leave such records out, or name another key."
                )
        return _with_moments(rows, dialect)

    def execute(self, cursor: Any, dialect: Dialect, rows: Rows) -> None:
        if not self.key:
            text = dialect.insert(self.table, self.columns)
            cursor.executemany(Statement.parse(text).with_marks(dialect.mark), rows)
            return
        last = {tuple(row[at] for at in self._at): row for row in rows}
        deleted = [key for key, row in last.items() if row[-1]]
        present = [row[:-1] for row in last.values() if not row[-1]]
        for text, chosen in (
            (dialect.delete(self.table, self.key), deleted),
            (dialect.upsert(self.table, self.columns, self.key), present),
        ):
            if chosen:
                cursor.executemany(Statement.parse(text).with_marks(dialect.mark), chosen)


def _values(record: Any) -> tuple[Any, ...]:
    if isinstance(record, Row):
        return tuple(record._values)
    return tuple(record) if isinstance(record, (tuple, list)) else (record,)


def _with_moments(rows: Rows, dialect: Dialect) -> Rows:
    """Points in time in the driver's form and in UTC: not every way into a database heeds the zone of a value."""
    if not set(map(type, chain.from_iterable(rows))) & {Instant, datetime.datetime}:
        return rows

    def convert(value: Any) -> Any:
        if type(value) is Instant:
            return dialect.moment(value.seconds, value.nanos)
        if type(value) is datetime.datetime and value.tzinfo is not None:
            return value.astimezone(datetime.UTC)
        return value

    return [tuple(map(convert, row)) for row in rows]

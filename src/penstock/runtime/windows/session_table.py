"""The table of open sessions: rows by key, or columns where the aggregation has them; savepoints do not know which."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, NamedTuple

import pyarrow as pa

from penstock.runtime.state.disk_tables import DiskTables
from penstock.runtime.state.table import ValueTable
from penstock.runtime.windows.column_folding import ColumnFolding
from penstock.runtime.windows.saved_contents import Slot
from penstock.runtime.windows.saved_values import Convert, saved_as
from penstock.runtime.windows.session_columns import CannotFold, Pieces, SessionColumns


class SessionDelta(NamedTuple):
    """What happened to rows, to which keys of the columns, and what these have now."""

    rows: dict[Any, Any] | None
    keys: list[pa.Array]
    pieces: Pieces | None


class SessionTable(ValueTable):
    """Rows are in the value table itself. Either these or the columns hold sessions, never both."""

    __slots__ = ("_convert", "_save", "columns", "leave_columns")

    def __init__(self, convert: Convert, columns: SessionColumns, save: Callable[[Any], Any]) -> None:
        super().__init__()
        self._convert, self._save = convert, save
        self.columns = columns
        self.leave_columns: Callable[[], None]  # makes rows of the columns; its owner sets it

    def keys(self) -> Iterator[Any]:
        yield from super().keys()
        yield from dict.fromkeys(key for key, _, _, _ in self.columns.rows())

    def take_delta(self) -> Any:
        try:
            columns = self.columns.take_delta()
        except CannotFold:
            self.leave_columns()
            columns = self.columns.take_delta()
        rows = super().take_delta()
        return rows if columns is None else SessionDelta(rows, *columns)

    def full_delta(self) -> Any:
        return SessionDelta(super().full_delta(), [], self.columns.full_delta())

    def apply_delta(self, delta: Any) -> None:
        if not isinstance(delta, SessionDelta):
            super().apply_delta(delta)
            return
        if delta.rows is not None:
            super().apply_delta(delta.rows)
        self.columns.apply_delta(delta.keys, delta.pieces)

    def pieces(self, entries: int) -> Iterator[dict[Slot, Any]]:
        yield from map(self._convert, super().pieces(entries))
        rows = self.columns.rows()
        while some := list(islice(rows, entries)):
            yield {(key, (start, end)): self._save(accumulator) for key, start, end, accumulator in some}


def session_table(
    name: str, convert: Convert, columns: ColumnFolding | None, save: Callable[[Any], Any]
) -> Callable[[DiskTables | None], ValueTable]:
    """Makes the table; `convert` brings rows into the form of savepoints, `save` an accumulator."""

    def make(disk: DiskTables | None) -> ValueTable:
        if disk is not None or columns is None:
            return saved_as(name, convert)(disk)
        return SessionTable(convert, SessionColumns(columns), save)

    return make

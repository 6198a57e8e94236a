"""Rows with kinds out of the messages of the log."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.common.errors import JobExecutionError
from penstock.common.typeinfo import RowTypeInfo
from penstock.common.types import Row, RowKind
from penstock.connectors.jdbc.values import RowMaker
from penstock.connectors.postgres_cdc.pgoutput import UNCHANGED, Delete, Insert, Relation, Truncate, Update, Values
from penstock.connectors.postgres_cdc.positions import Key, LogPosition
from penstock.connectors.postgres_cdc.setup import TableShape

Loader = Callable[[bytes], Any]
LoaderOf = Callable[[int], Loader]  # by the number of a type
Change = Insert | Update | Delete | Truncate


class ChangeRows:
    """Makes the rows that a change means. With `upsert` an update is one row, and a deletion has its key only."""

    def __init__(self, table: TableShape, row_type: RowTypeInfo, upsert: bool, loader_of: LoaderOf) -> None:
        self._table = table
        self._names = row_type.get_field_names()
        self._rows = RowMaker(row_type)
        self._upsert = upsert
        self._loader_of = loader_of
        self._relation: int | None = None
        self._loaders: list[Loader] = []
        self._at: list[int] = []  # where the columns of the row type are in the table's
        self._key_at: list[int] = []

    def learn(self, relation: Relation) -> None:
        """How the table looks from here on; told again after each change of it."""
        named = (relation.schema, relation.name) == (self._table.schema, self._table.name)
        if self._relation is not None and named != (relation.oid == self._relation):
            raise JobExecutionError(
                f"The table {self._table} was renamed, or replaced by another one, while it was read: what that does to"
                " its rows is not in the log. Start the job anew, without its state and with another slot."
            )
        if not named:
            return
        there = [column.name for column in relation.columns]
        needed = [*self._names, *(column.name for column in self._table.key)]
        missing = [name for name in dict.fromkeys(needed) if name not in there]
        if missing:
            raise JobExecutionError(
                f"The log has no column {', '.join(missing)} of the table {self._table} (any more). If columns were"
                " dropped or renamed, start the job anew, without its state and with the columns that there are."
            )
        self._check_identity(relation.identity)
        self._relation = relation.oid
        self._loaders = [self._loader_of(column.type_oid) for column in relation.columns]
        self._at = [there.index(name) for name in self._names]
        self._key_at = [there.index(column.name) for column in self._table.key]

    def _check_identity(self, identity: str) -> None:
        if identity not in ("d", "f"):
            raise JobExecutionError(
                f"The REPLICA IDENTITY of {self._table} was changed while it was read, so that the log does not have"
                f" the primary key of old rows: ALTER TABLE {self._table} REPLICA IDENTITY"
                f" {'DEFAULT' if self._upsert else 'FULL'}, and start the job anew."
            )

    def rows(self, change: Change, xid: int, position: LogPosition) -> list[Row]:
        """Without those that were in the table already when it was read."""
        if isinstance(change, Truncate):
            if self._relation in change.relations:
                raise JobExecutionError(
                    f"The table {self._table} was truncated: which rows that has removed is not in the log. Start the"
                    " job anew, and remove rows with DELETE where their changes are read."
                )
            return []
        if change.relation != self._relation:
            return []
        if isinstance(change, Insert):
            return self._unless_seen(change.new, RowKind.INSERT, xid, position)
        if isinstance(change, Delete):
            self._check_old_row(whole=not change.key_only)
            return self._unless_seen(change.old, RowKind.DELETE, xid, position)
        return self._update(change, xid, position)

    def _update(self, change: Update, xid: int, position: LogPosition) -> list[Row]:
        old, new = change.old, change.new
        if old is not None:
            # What the log does not have of the old row is no NULL.
            has_old = range(len(old)) if not change.key_only else self._key_at
            new = [old[at] if value is UNCHANGED and at in has_old else value for at, value in enumerate(new)]
            if self._key(old) != self._key(new):
                self._check_old_row(whole=not change.key_only)
                gone = self._unless_seen(old, RowKind.DELETE, xid, position)
                return gone + self._unless_seen(new, RowKind.INSERT, xid, position)
        if position.was_seen(self._key(new), xid):
            return []
        after = self._row(new, RowKind.UPDATE_AFTER)
        if self._upsert:
            return [after]
        self._check_old_row(whole=old is not None and not change.key_only)
        assert old is not None
        return [self._row(old, RowKind.UPDATE_BEFORE), after]

    def _check_old_row(self, whole: bool) -> None:
        if not whole and not self._upsert:
            raise JobExecutionError(
                f"The log has no old rows of {self._table}: its REPLICA IDENTITY was changed while it was read. Set it"
                " to FULL again."
            )

    def _unless_seen(self, values: Values, kind: RowKind, xid: int, position: LogPosition) -> list[Row]:
        if position.was_seen(self._key(values), xid):
            return []
        if kind is RowKind.DELETE and self._upsert:
            values = [value if at in self._key_at else None for at, value in enumerate(values)]
        return [self._row(values, kind)]

    def _key(self, values: Values) -> Key:
        return tuple(self._value(values, at) for at in self._key_at)

    def _row(self, values: Values, kind: RowKind) -> Row:
        return self._rows.row([self._value(values, at) for at in self._at], kind)

    def _value(self, values: Values, at: int) -> Any:
        value = values[at]
        if value is None:
            return None
        if isinstance(value, bool):
            raise JobExecutionError(
                f"An update of {self._table} has left a large value alone, and the log does not repeat it: ALTER TABLE"
                f" {self._table} REPLICA IDENTITY FULL."
            )
        return self._loaders[at](value)

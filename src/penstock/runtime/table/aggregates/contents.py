"""Aggregate functions that have to remember all their values: lists, multisets, JSON, and what retractions need.

The values of a slot are a map: of a multiset value -> how often (less than 0 when more was taken back than came), of a
list number -> value, in which values that were taken back before they came have negative numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pyarrow as pa

from penstock.columns.kernels.datum import from_plain, plain_values
from penstock.columns.kernels.failure import ValueFailure
from penstock.columns.typesystem.base import DataType
from penstock.runtime.key_columns import Integers
from penstock.runtime.state.table import DELETED
from penstock.runtime.table.aggregates.interface import CallRows, Running
from penstock.runtime.table.runs import Runs
from penstock.runtime.table.slots import SlotField, SlotTable


class Contents:
    """The values of one slot, and where changes of them are noted."""

    def __init__(self, entries: dict[Any, Any], changes: dict[Any, Any]) -> None:
        self.entries = entries
        self._changes = changes

    def add(self, row: tuple[Any, ...], sign: int) -> None:
        raise NotImplementedError

    def absorb(self, entries: dict[Any, Any]) -> None:
        """Adds what another slot has."""
        raise NotImplementedError

    def _put(self, key: Any, value: Any) -> None:
        self.entries[key] = self._changes[key] = value

    def _drop(self, key: Any) -> None:
        del self.entries[key]
        self._changes[key] = DELETED


class Bag(Contents):
    """Value -> how often."""

    def add(self, row: tuple[Any, ...], sign: int) -> None:
        self._change(frozen(row[0]), sign)

    def absorb(self, entries: dict[Any, Any]) -> None:
        for value, count in entries.items():
            self._change(value, count)

    def _change(self, value: Any, by: int) -> None:
        count = self.entries.get(value, 0) + by
        if count:
            self._put(value, count)
        else:
            self._drop(value)

    def present(self) -> Iterable[Any]:
        return [value for value, count in self.entries.items() if count > 0]


class Sequel(Contents):
    """Number -> row, in order of arrival."""

    def add(self, row: tuple[Any, ...], sign: int) -> None:
        wanted = sign < 0  # a row is taken back by one that came, and the other way round
        for number, known in self.entries.items():
            if (number >= 0) is wanted and known == row:
                self._drop(number)
                return
            if sign > 0 and number >= 0:
                break  # those that were taken back before they came are the first ones
        if sign > 0:
            self._put(next(reversed(self.entries), -1) + 1 if self.entries else 0, row)
        else:
            self._owe(row)

    def _owe(self, row: tuple[Any, ...]) -> None:
        kept = dict(self.entries)
        number = min(0, min(kept, default=0)) - 1
        self.entries.clear()
        self.entries[number] = self._changes[number] = row
        self.entries.update(kept)

    def absorb(self, entries: dict[Any, Any]) -> None:
        for number, row in entries.items():
            self.add(row, 1 if number >= 0 else -1)

    def present(self) -> list[tuple[Any, ...]]:
        return [row for number, row in self.entries.items() if number >= 0]


class Pairs(Contents):
    """Key -> value; a key may be there once."""

    def add(self, row: tuple[Any, ...], sign: int) -> None:
        if sign > 0:
            if row[0] in self.entries:
                raise ValueFailure(f"JSON_OBJECTAGG: the key {row[0]!r} is there already. Keys must be unique.")
            self._put(row[0], row[1])
        elif row[0] in self.entries:
            self._drop(row[0])

    def absorb(self, entries: dict[Any, Any]) -> None:
        for key, value in entries.items():
            self._put(key, value)


Outcome = Callable[[Any], Any]


class ContentFunction:
    """Feeds the contents of slots row by row, and makes values of them."""

    def __init__(
        self,
        prefix: str,
        argument_types: Sequence[DataType],
        result_type: DataType,
        shape: type[Contents],
        outcome: Outcome,
        keeps_nulls: bool = False,
    ) -> None:
        self.fields: Sequence[SlotField] = ()
        self._map = f"{prefix}contents"
        self.maps: Sequence[str] = (self._map,)
        self._argument_types, self._result_type = argument_types, result_type
        self._shape, self._outcome, self._keeps_nulls = shape, outcome, keeps_nulls

    def running(self, table: SlotTable, runs: Runs, rows: CallRows) -> Running:
        before: list[Any] = []
        after: list[Any] = []
        self._feed(table, runs, rows, before, after)
        return Running(from_plain(before + after, self._result_type))

    def accumulate(self, table: SlotTable, runs: Runs, rows: CallRows) -> None:
        self._feed(table, runs, rows, None, [])

    def _feed(self, table: SlotTable, runs: Runs, rows: CallRows, before: list[Any] | None, after: list[Any]) -> None:
        columns = [plain_values(c, kind) for c, kind in zip(rows.arguments, self._argument_types, strict=True)]
        cells = list(zip(*columns, strict=True))
        signs = [1] * rows.count if rows.signs is None else rows.signs.tolist()
        outcome, keeps_nulls = self._outcome, self._keeps_nulls
        for slot, fresh, places in runs.each():
            if fresh:
                table.clear(self._map, slot)
            contents = self._shape(*table.writable(self._map, slot))
            value = outcome(contents) if before is not None else None
            if before is not None:
                before.append(value)
            for place in places:
                row, sign = cells[place], signs[place]
                if sign and (keeps_nulls or row[0] is not None):
                    contents.add(row, sign)
                    if before is not None:
                        value = outcome(contents)
                after.append(value)

    def value(self, table: SlotTable, slots: Integers) -> pa.Array:
        values = [self._outcome(self._shape(table.entries(self._map, slot), {})) for slot in slots.tolist()]
        return from_plain(values, self._result_type)

    def merge(self, table: SlotTable, into: Integers, other: SlotTable, sources: Integers) -> None:
        for slot, source in zip(into.tolist(), sources.tolist(), strict=True):
            self._shape(*table.writable(self._map, slot)).absorb(other.entries(self._map, source))


# -- what contents come to ---------------------------------------------------------------------------------------------


def largest(bag: Bag) -> Any:
    return max(bag.present(), default=None)


def smallest(bag: Bag) -> Any:
    return min(bag.present(), default=None)


def first(sequel: Sequel) -> Any:
    return next((row[0] for number, row in sequel.entries.items() if number >= 0), None)


def last(sequel: Sequel) -> Any:
    return sequel.entries[number][0] if (number := next(reversed(sequel.entries), -1)) >= 0 else None


def single(sequel: Sequel) -> Any:
    rows = sequel.present()
    if len(rows) > 1:
        raise ValueFailure(
            "A subquery that stands for one value gave more than one row: add a LIMIT 1 or an aggregate."
        )
    return rows[0][0] if rows else None


def multiset(bag: Bag) -> dict[Any, int]:
    return {value: count for value, count in bag.entries.items() if count > 0}


def different(bag: Bag) -> int:
    return sum(count > 0 for count in bag.entries.values())


def listed(sequel: Sequel) -> list[Any] | None:
    return [row[0] for row in sequel.present()] or None


def joined(sequel: Sequel) -> str | None:
    rows = sequel.present()
    if not rows:
        return None
    return str(rows[0][0]) + "".join(("," if len(row) == 1 else row[1]) + row[0] for row in rows[1:])


def frozen(value: Any) -> Any:
    return tuple(map(frozen, value)) if isinstance(value, list) else value

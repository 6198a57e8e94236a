"""DISTINCT: a value counts when it comes for the first time, and stops to count when it was taken back as often."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from penstock.columns.kernels.datum import plain_values
from penstock.columns.typesystem.base import DataType
from penstock.runtime.key_columns import Integers
from penstock.runtime.state.table import DELETED
from penstock.runtime.table.aggregates.contents import frozen
from penstock.runtime.table.aggregates.interface import AggregateFunction, CallRows, Running, Signs
from penstock.runtime.table.runs import Runs
from penstock.runtime.table.slots import SlotTable


class Distinct:
    """Another function that sees each value once: value -> how often it has come, for each slot."""

    def __init__(self, prefix: str, function: AggregateFunction, argument_types: Sequence[DataType]) -> None:
        self._function = function
        self._types = argument_types
        self._map = f"{prefix}values"
        self.fields = function.fields
        self.maps = (*function.maps, self._map)

    def running(self, table: SlotTable, runs: Runs, rows: CallRows) -> Running:
        return self._function.running(table, runs, self._different(table, runs, rows))

    def accumulate(self, table: SlotTable, runs: Runs, rows: CallRows) -> None:
        self._function.accumulate(table, runs, self._different(table, runs, rows))

    def value(self, table: SlotTable, slots: Integers) -> pa.Array:
        return self._function.value(table, slots)

    def merge(self, table: SlotTable, into: Integers, other: SlotTable, sources: Integers) -> None:
        """The other's values that are new here are added one by one; the merged function could not tell them apart."""
        for slot, source in zip(into.tolist(), sources.tolist(), strict=True):
            counts, changes = table.writable(self._map, slot)
            theirs = other.entries(self._map, source)
            new = [value for value in theirs if value not in counts]
            for value, count in theirs.items():
                counts[value] = changes[value] = counts.get(value, 0) + count
            if new:
                self._add_new(table, slot, new)

    def _add_new(self, table: SlotTable, slot: int, values: list[tuple[object, ...]]) -> None:
        from penstock.columns.kernels.datum import from_plain

        columns = [from_plain(part, kind) for part, kind in zip(zip(*values, strict=True), self._types, strict=True)]
        runs = Runs(
            np.arange(len(values)), np.zeros(1, np.int64), np.array([len(values)]), np.array([slot]),
            np.zeros(1, np.bool_),
        )  # fmt: skip
        self._function.accumulate(table, runs, CallRows(columns, None, len(values)))

    def _different(self, table: SlotTable, runs: Runs, rows: CallRows) -> CallRows:
        """The rows with a sign only where a value comes or goes."""
        columns = [plain_values(c, kind) for c, kind in zip(rows.arguments, self._types, strict=True)]
        hashable = [
            list(map(frozen, column)) if kind.children() else column
            for column, kind in zip(columns, self._types, strict=True)
        ]
        cells = list(zip(*hashable, strict=True))
        signs = [1] * rows.count if rows.signs is None else rows.signs.tolist()
        counted = [0] * rows.count
        for slot, fresh, places in runs.each():
            if fresh:
                table.clear(self._map, slot)
            seen = [place for place in places if signs[place]]
            if not seen:
                continue  # a filter has left nothing: no map is made
            counts, changes = table.writable(self._map, slot)
            get = counts.get
            for place in seen:
                sign = signs[place]
                value = cells[place]
                before = get(value, 0)
                now = before + sign
                if now:
                    counts[value] = changes[value] = now
                else:
                    del counts[value]
                    changes[value] = DELETED
                if (before > 0) is not (now > 0):
                    counted[place] = sign
        return CallRows(rows.arguments, _signs(counted), rows.count)


def _signs(counted: list[int]) -> Signs:
    return np.array(counted, np.int8)

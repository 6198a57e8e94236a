"""DISTINCT over whole numbers and texts of groups: the same as `Distinct`, but for whole batches."""

from __future__ import annotations

import pyarrow as pa

from penstock.columns.typesystem.arrow_mapping import to_arrow_type
from penstock.columns.typesystem.base import DataType
from penstock.runtime.key_columns import Integers
from penstock.runtime.table.aggregates.interface import AggregateFunction, CallRows, Running
from penstock.runtime.table.counted_values import CountedValues, RunValues
from penstock.runtime.table.runs import Runs
from penstock.runtime.table.slot_maps import ValueCounts
from penstock.runtime.table.slots import SlotTable


class CountedDistinct:
    """Another function that sees each value once. Calls with the same argument share the numbers of its values."""

    def __init__(self, prefix: str, function: AggregateFunction, numbered: RunValues) -> None:
        self._function = function
        self._map = f"{prefix}values"
        self._numbered = numbered
        self.fields = function.fields
        self.maps = (*function.maps, ValueCounts(self._map))

    @staticmethod
    def takes(argument_types: list[DataType]) -> bool:
        if len(argument_types) != 1:
            return False
        kind = to_arrow_type(argument_types[0])
        return bool(pa.types.is_string(kind) or pa.types.is_signed_integer(kind))

    def running(self, table: SlotTable, runs: Runs, rows: CallRows) -> Running:
        return self._function.running(table, runs, self._different(table, runs, rows))

    def accumulate(self, table: SlotTable, runs: Runs, rows: CallRows) -> None:
        self._function.accumulate(table, runs, self._different(table, runs, rows))

    def value(self, table: SlotTable, slots: Integers) -> pa.Array:
        return self._function.value(table, slots)

    def merge(self, table: SlotTable, into: Integers, other: SlotTable, sources: Integers) -> None:
        raise AssertionError("groups are never merged: this is for operators that do not")

    def _different(self, table: SlotTable, runs: Runs, rows: CallRows) -> CallRows:
        """The rows with a sign only where a value comes or goes."""
        counts = table.maps_of(self._map)
        assert isinstance(counts, CountedValues)
        self._numbered.number(runs, rows.arguments[0])
        return CallRows(rows.arguments, counts.count(runs, rows.signs, self._numbered, rows.count), rows.count)

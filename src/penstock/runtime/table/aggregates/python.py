"""Aggregate functions of users: an accumulator of theirs for each slot, or all rows for one that takes Series."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from penstock.columns.kernels.python_columns import from_python
from penstock.columns.typed.python_call import PythonFunction, argument_values
from penstock.columns.typesystem.base import DataType
from penstock.runtime.key_columns import Integers
from penstock.runtime.table.aggregates.interface import CallRows, Running
from penstock.runtime.table.aggregates.series_frames import called_with
from penstock.runtime.table.runs import Runs
from penstock.runtime.table.slots import SlotField, SlotTable


class PythonAggregate:
    """Calls accumulate() or retract() for each row, and get_value() where somebody sees the value."""

    def __init__(self, prefix: str, function: PythonFunction, argument_types: Sequence[DataType]) -> None:
        self._function = SeriesAggregate(function, argument_types) if function.pandas else function.function
        self._name, self._result_type = function.name, function.result_type
        self._types = argument_types
        self._field = f"{prefix}accumulator"
        self.fields = (SlotField(self._field, object, None),)
        self.maps: Sequence[str] = ()

    def running(self, table: SlotTable, runs: Runs, rows: CallRows) -> Running:
        before: list[Any] = []
        after: list[Any] = []
        self._feed(table, runs, rows, before, after)
        return Running(self._column(before + after))

    def accumulate(self, table: SlotTable, runs: Runs, rows: CallRows) -> None:
        self._feed(table, runs, rows, None, [])

    def _feed(self, table: SlotTable, runs: Runs, rows: CallRows, before: list[Any] | None, after: list[Any]) -> None:
        values = [argument_values(column, kind) for column, kind in zip(rows.arguments, self._types, strict=True)]
        cells = list(zip(*values, strict=True)) if values else [()] * rows.count
        signs = [1] * rows.count if rows.signs is None else rows.signs.tolist()
        function, accumulators = self._function, table.column(self._field)
        for slot, fresh, places in runs.each():
            accumulator = None if fresh else accumulators[slot]
            if accumulator is None:
                accumulator = function.create_accumulator()
            value = None
            if before is not None:
                value = self._value(accumulator)
                before.append(value)
            for place in places:
                sign = signs[place]
                if sign:
                    (function.accumulate if sign > 0 else function.retract)(accumulator, *cells[place])
                    if before is not None:
                        value = self._value(accumulator)
                after.append(value)
            accumulators[slot] = accumulator

    def _value(self, accumulator: Any) -> Any:
        # A value may be the accumulator itself, which goes on to change.
        value = self._function.get_value(accumulator)
        return value if value is None or isinstance(value, (int, float, str, bytes)) else copy.deepcopy(value)

    def value(self, table: SlotTable, slots: Integers) -> pa.Array:
        known = (table.column(self._field)[slot] for slot in slots.tolist())
        made = [self._function.create_accumulator() if one is None else one for one in known]
        return self._column([self._value(accumulator) for accumulator in made])

    def merge(self, table: SlotTable, into: Integers, other: SlotTable, sources: Integers) -> None:
        accumulators, theirs = table.column(self._field), other.column(self._field)
        for slot, source in zip(into.tolist(), sources.tolist(), strict=True):
            if theirs[source] is not None:
                ours = accumulators[slot]
                ours = self._function.create_accumulator() if ours is None else ours
                self._function.merge(ours, [copy.deepcopy(theirs[source])])
                accumulators[slot] = ours

    def _column(self, values: list[Any]) -> pa.Array:
        return from_python(values, self._result_type, f"The result of {self._name}")


class SeriesAggregate:
    """A function of whole Series as one that takes row after row."""

    def __init__(self, function: PythonFunction, types: Sequence[DataType]) -> None:
        self._function, self._types = function, types

    def create_accumulator(self) -> list[tuple[Any, ...]]:
        return []

    def accumulate(self, rows: list[tuple[Any, ...]], *row: Any) -> None:
        rows.append(row)

    def retract(self, rows: list[tuple[Any, ...]], *row: Any) -> None:
        if row in rows:
            rows.remove(row)

    def merge(self, rows: list[tuple[Any, ...]], others: Sequence[list[tuple[Any, ...]]]) -> None:
        for other in others:
            rows.extend(other)

    def get_value(self, rows: list[tuple[Any, ...]]) -> Any:
        if not rows:
            return None
        columns = zip(zip(*rows, strict=True), self._types, strict=True)
        return called_with([from_python(column, kind) for column, kind in columns], self._types, self._function)

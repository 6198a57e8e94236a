"""Keyed operators with one call per record: map, flat_map and filter with state, and rolling reduce."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from penstock.common.types import Row
from penstock.functions.state_descriptors import ValueStateDescriptor
from penstock.runtime.batch import Batch
from penstock.runtime.blueprint import OperatorBlueprint
from penstock.runtime.context import SubtaskContext
from penstock.runtime.operators.base import Operator
from penstock.runtime.operators.process import TimedOperator
from penstock.runtime.operators.rolling_columns import RollingColumns
from penstock.runtime.ownership import copied, given
from penstock.runtime.state.table import ABSENT, DELETED, ValueTable


class KeyedCallOperator(TimedOperator):
    """Calls the function for one record after the other, with the record's key current."""

    takes_rows = True
    method = ""

    def process(self, batch: Batch, input_index: int) -> None:
        call, scope = getattr(self.function, self._method_name(input_index)), self.scope
        assert batch.keys is not None
        results = []
        for key, value in zip(batch.keys, batch.values, strict=True):
            scope.key = key
            result = call(value)
            results.append(given(result) if self.keeps_given else result)
        self.emit_results(batch, results)

    def _method_name(self, input_index: int) -> str:
        return self.method

    def emit_results(self, batch: Batch, results: list[Any]) -> None:
        raise NotImplementedError

    def emit_flattened(self, batch: Batch, results: list[Any]) -> None:
        values: list[Any] = []
        timestamps: list[int] | None = None if batch.timestamps is None else []
        for position, items in enumerate(results):
            if items is None:
                continue
            before = len(values)
            values.extend(items)
            if timestamps is not None:
                timestamps += [batch.timestamps[position]] * (len(values) - before)  # type: ignore[index]
        if values:
            self.output.emit(Batch(values, timestamps))


class KeyedMapOperator(KeyedCallOperator):
    method = "map"

    def emit_results(self, batch: Batch, results: list[Any]) -> None:
        self.output.emit(Batch(results, batch.timestamps))


class KeyedFlatMapOperator(KeyedCallOperator):
    method = "flat_map"

    def process(self, batch: Batch, input_index: int) -> None:
        # A generator runs while it is consumed: each one must be consumed while its key is current.
        call, scope = self.function.flat_map, self.scope
        assert batch.keys is not None
        results = []
        for key, value in zip(batch.keys, batch.values, strict=True):
            scope.key = key
            items: list[Any] = []
            self.adder(items)(call(value))
            results.append(items)
        self.emit_flattened(batch, results)


class KeyedFilterOperator(KeyedCallOperator):
    method = "filter"

    def emit_results(self, batch: Batch, results: list[Any]) -> None:
        kept = [position for position, keep in enumerate(results) if keep]
        timestamps = batch.timestamps
        if kept:
            self.output.emit(
                Batch(
                    [batch.values[i] for i in kept],
                    None if timestamps is None else [timestamps[i] for i in kept],
                )
            )


class KeyedCoMapOperator(KeyedCallOperator):
    def _method_name(self, input_index: int) -> str:
        return "map1" if input_index == 0 else "map2"

    def emit_results(self, batch: Batch, results: list[Any]) -> None:
        self.emit_flattened(batch, [None if result is None else (result,) for result in results])


class KeyedCoFlatMapOperator(KeyedCallOperator):
    def process(self, batch: Batch, input_index: int) -> None:
        call = self.function.flat_map1 if input_index == 0 else self.function.flat_map2
        scope = self.scope
        assert batch.keys is not None
        results: list[Any] = []
        for key, value in zip(batch.keys, batch.values, strict=True):
            scope.key = key
            given_items = call(value)
            items: list[Any] = []
            if given_items is not None:
                self.adder(items)(given_items)
            results.append(items)
        self.emit_flattened(batch, results)


class KeyAndValueOperator(Operator):
    """Makes Row(key, record) of every record."""

    def process(self, batch: Batch, input_index: int) -> None:
        assert batch.keys is not None
        pairs = list(map(Row, batch.keys, batch.values))
        self.output.emit(Batch(pairs, batch.timestamps))


class ReduceOperator(TimedOperator):
    """Rolling reduce: the new value of the key after every record, or in batch mode once at the end."""

    STATE = "_reduced"

    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        super().__init__(blueprint, context)
        self._only_final = bool(blueprint.params.get("only_final"))
        self._descriptor = ValueStateDescriptor(self.STATE, blueprint.output_type)
        self._columns = RollingColumns.of(self.function, blueprint.output_type)

    def open(self) -> None:
        self.backend.table_of(self._descriptor)
        super().open()

    def process(self, batch: Batch, input_index: int) -> None:
        table: ValueTable = self.backend.table_of(self._descriptor)
        if self._columns is not None:
            folded = self._columns.fold(batch, table)
            if folded is not None:
                if not self._only_final:
                    self.output.emit(folded)
                return
            self._columns.flush(table)
        reduce, scope, changes, base = self.function.reduce, self.scope, table.changes, table.base
        assert batch.keys is not None
        results = []
        for key, value in zip(batch.keys, batch.values, strict=True):
            current = changes.get(key, ABSENT)
            if current is ABSENT:
                current = base.get(key, ABSENT)
            if current is not ABSENT and current is not DELETED:
                scope.key = key
                value = reduce(current, value)
            changes[key] = value
            results.append(copied(value) if self.keeps_given else value)
        if not self._only_final:
            self.output.emit(Batch(results, batch.timestamps))

    def end_epoch(self) -> None:
        self._flush_columns()
        super().end_epoch()

    def _flush_columns(self) -> None:
        if self._columns is not None:
            self._columns.flush(self.backend.table_of(self._descriptor))

    def finish(self) -> None:
        self._flush_columns()
        if self._only_final:
            table: ValueTable = self.backend.table_of(self._descriptor)
            values = [table.get(key) for key in _sorted_if_possible(table.keys())]
            if values:
                self.output.emit(Batch(values))
        super().finish()


def _sorted_if_possible(keys: Iterable[Any]) -> list[Any]:
    """Batch mode goes through the keys in order, where they have one."""
    found = list(keys)
    try:
        return sorted(found)
    except TypeError:
        return found

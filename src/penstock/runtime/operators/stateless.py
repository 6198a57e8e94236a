"""Operators that look at one record at a time and remember nothing."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from penstock.runtime.arrow_codec import codec_for
from penstock.runtime.batch import Batch
from penstock.runtime.blueprint import OperatorBlueprint
from penstock.runtime.context import SubtaskContext
from penstock.runtime.operators.base import FunctionOperator


class MapOperator(FunctionOperator):
    """One result for every record; None is a result like any other."""

    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        super().__init__(blueprint, context)
        # A function that only moves fields around says which, and does it to columns too.
        self._fields: tuple[int, ...] | None = getattr(self.function, "fields", None)
        self._codec = None if self._fields is None else codec_for(blueprint.output_type)

    def process(self, batch: Batch, input_index: int) -> None:
        if self._codec is not None and self._fields is not None:
            columns = [batch.field(position) for position in self._fields]
            if all(column is not None for column in columns):
                moved = pa.RecordBatch.from_arrays(columns, schema=self._codec.schema)
                self.output.emit(Batch.of_columns(self._codec, moved, batch.times))
                return
        self.output.emit(Batch(self.results_of(self.function.map, batch), batch.timestamps))


class FilterOperator(FunctionOperator):
    """Keeps the records for which the function says true."""

    def process(self, batch: Batch, input_index: int) -> None:
        kept = batch.keyed(None).filter(list(map(self.function.filter, batch.values)))
        if len(kept):
            self.output.emit(kept)


class FlatMapOperator(FunctionOperator):
    """Any number of results for every record."""

    takes_rows = True

    def process(self, batch: Batch, input_index: int) -> None:
        values: list[Any] = []
        add = self.adder(values)
        if batch.timestamps is None:
            for results in map(self.function.flat_map, batch.values):
                add(results)
            timestamps = None
        else:
            timestamps = []
            for results, timestamp in zip(map(self.function.flat_map, batch.values), batch.timestamps, strict=True):
                before = len(values)
                add(results)
                timestamps.extend([timestamp] * (len(values) - before))
        if values:
            self.output.emit(Batch(values, timestamps))


class CoMapOperator(FunctionOperator):
    """A function for each of two inputs; None is dropped, as in PyFlink."""

    takes_rows = True

    def process(self, batch: Batch, input_index: int) -> None:
        function = self.function.map1 if input_index == 0 else self.function.map2
        results = self.results_of(function, batch)
        kept = Batch(results, batch.timestamps).filter([result is not None for result in results])
        if len(kept):
            self.output.emit(kept)


class CoFlatMapOperator(FunctionOperator):
    """Any number of results for every record of each of two inputs; None means no result."""

    takes_rows = True

    def process(self, batch: Batch, input_index: int) -> None:
        function = self.function.flat_map1 if input_index == 0 else self.function.flat_map2
        values: list[Any] = []
        add = self.adder(values)
        timestamps: list[int] | None = None if batch.timestamps is None else []
        for position, results in enumerate(map(function, batch.values)):
            if results is None:
                continue
            before = len(values)
            add(results)
            if timestamps is not None:
                assert batch.timestamps is not None
                timestamps.extend([batch.timestamps[position]] * (len(values) - before))
        if values:
            self.output.emit(Batch(values, timestamps))


class PassOperator(FunctionOperator):
    """Emits what it gets; stands where a stream needs an operator of its own (a chain break, a union)."""

    def process(self, batch: Batch, input_index: int) -> None:
        self.output.emit(batch)

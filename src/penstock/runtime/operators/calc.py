"""Filters and computes columns: what the Table layer compiles expressions to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from penstock.common.errors import ProgramError
from penstock.runtime.arrow_codec import codec_for
from penstock.runtime.batch import KIND, Batch, Codec
from penstock.runtime.blueprint import OperatorBlueprint
from penstock.runtime.context import SubtaskContext
from penstock.runtime.operators.base import Operator

Kernel = Callable[[pa.RecordBatch], Any]


class CalcOperator(Operator):
    """Runs kernels over the columns of a batch, one after the other.

    The function is a sequence of picklable kernels, the parameter `input_type` the type of the records. A kernel takes
    a record batch and returns either a boolean array, which keeps the records for which it is true (null counts as
    false, as in SQL's WHERE), or a record batch of the same length, which replaces the fields. What the last one
    returns has to fit the output type. Timestamps and row kinds stay with their records.
    """

    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        super().__init__(blueprint, context)
        self._kernels: tuple[Kernel, ...] = tuple(blueprint.function)
        self._input = _codec(blueprint.params["input_type"])
        self._output = _codec(blueprint.output_type)

    def process(self, batch: Batch, input_index: int) -> None:
        batch = batch.in_columns(self._input)
        columns, times, kinds = self._fields(batch.columns), batch.times, batch.kinds
        for kernel in self._kernels:
            result = kernel(columns)
            if not isinstance(result, pa.BooleanArray):
                columns = result
                continue
            mask = result.fill_null(False)
            chosen = mask.to_numpy(zero_copy_only=False)
            columns = columns.filter(mask)
            times = None if times is None else times[chosen]
            kinds = None if kinds is None else kinds[chosen]
            if not columns.num_rows:
                return
        self.output.emit(Batch.of_columns(self._output, self._fitted(columns), times, kinds=kinds))

    def _fields(self, columns: Any) -> pa.RecordBatch:
        if KIND in columns.schema.names:
            columns = columns.remove_column(columns.schema.get_field_index(KIND))
        if columns.num_columns != len(self._input.schema):
            raise ProgramError(f"{self.blueprint.name} got a record that is None; rows of a table are never None")
        return columns

    def _fitted(self, columns: pa.RecordBatch) -> pa.RecordBatch:
        schema = self._output.schema
        if columns.schema.types != schema.types:
            raise TypeError(f"the kernels gave columns of {columns.schema.types}, declared are {schema.types}")
        return pa.RecordBatch.from_arrays(columns.columns, schema=schema)


def _codec(type_info: Any) -> Codec:
    codec = codec_for(type_info)
    if codec is None:
        raise TypeError(f"records of {type_info!r} have no columns; declare a row type")
    return codec

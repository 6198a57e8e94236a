"""OVER in batch programs: all rows wait for the end, where each partition is sorted and every call sees its frame."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from penstock.columns.typed.nodes import OverCall
from penstock.runtime.batch import MAX_TIMESTAMP, Batch
from penstock.runtime.blueprint import OperatorBlueprint
from penstock.runtime.context import SubtaskContext
from penstock.runtime.key_columns import numbered
from penstock.runtime.table.aggregating import AggregatingOperator
from penstock.runtime.table.codec import TableCodec
from penstock.runtime.table.keys import RowKey
from penstock.runtime.table.over_frames import SortedPartitions, aggregates_of
from penstock.runtime.table.pending_rows import PendingRows
from penstock.runtime.table.row_type import TableRowType


@dataclass(frozen=True)
class BatchOverParams:
    """Calls of one partitioning; arguments and sort keys are columns of the input."""

    input_type: TableRowType
    keys: tuple[int, ...]
    calls: tuple[OverCall, ...]


class BatchOverOperator(AggregatingOperator):
    """The columns of each row, and after them the values of the calls; rows in the order of the first window."""

    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        super().__init__(blueprint, context)
        self._params: BatchOverParams = blueprint.params["over"]
        self._input, self._output = TableCodec(self._params.input_type), TableCodec(blueprint.output_type)
        self._key = RowKey(self._params.input_type, self._params.keys)
        self._rows = PendingRows(self, "_rows", self._params.input_type, self._params.keys)
        self._calls = aggregates_of(self._params.calls)

    def loaded(self) -> None:
        self._rows.loaded()

    def process(self, batch: Batch, input_index: int) -> None:
        self._rows.add(self._input.arrays(batch), np.zeros(len(batch), np.int64))

    def finish(self) -> None:
        columns, times, _ = self._rows.take_until(MAX_TIMESTAMP)
        if len(times):
            self._emit(columns)
        super().finish()

    def _emit(self, columns: pa.RecordBatch) -> None:
        arrays = list(columns.columns)
        keys = self._key.key_column_of(self._input.batch(arrays, rows=columns.num_rows))
        codes = numbered(keys).codes.astype(np.int64)
        values = [SortedPartitions(arrays, codes, one.order_by).values(one) for one in self._params.calls]
        first = SortedPartitions(arrays, codes, self._params.calls[0].order_by).order
        shown = pa.array(first)
        self.output.emit(self._output.batch([one.take(shown) for one in [*arrays, *values]], rows=len(first)))

"""Top-N of each window: rows are ranked when the window is complete; deduplication is the top 1 by time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from penstock.columns.typed.nodes import SortKey
from penstock.runtime.batch import Batch
from penstock.runtime.blueprint import OperatorBlueprint
from penstock.runtime.context import SubtaskContext
from penstock.runtime.key_columns import Integers, numbered
from penstock.runtime.operators.base import Operator
from penstock.runtime.table.codec import TableCodec
from penstock.runtime.table.column_order import ranks_of
from penstock.runtime.table.keys import key_column
from penstock.runtime.table.pending_rows import PendingRows
from penstock.runtime.table.row_type import TableRowType
from penstock.runtime.table.window_times import WindowClock, millis

_FEW = 1 << 15


@dataclass(frozen=True)
class WindowRankParams:
    """The partition has the window's columns; ranks from start to end stay, and are shown if numbered."""

    input_type: TableRowType
    partition: tuple[int, ...]
    window_end: int
    order_by: tuple[SortKey, ...]
    start: int
    end: int
    numbered: bool
    zone: str | None = None
    last_of_equals: bool = False  # of rows that are equal in order, the one that came last is first


class WindowRankOperator(Operator):
    """Rows that others have pushed out of the ranks are given up before the window is complete."""

    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        super().__init__(blueprint, context)
        self._params: WindowRankParams = blueprint.params["rank"]
        self._input, self._output = TableCodec(self._params.input_type), TableCodec(blueprint.output_type)
        self._pending = PendingRows(self, "_pending", self._params.input_type, self._params.partition)
        self._clock = WindowClock(self._params.zone)
        self._late = context.memory.metrics.counter("numLateRecordsDropped")
        self._next_pruning = _FEW

    def loaded(self) -> None:
        self._pending.loaded()

    def process(self, batch: Batch, input_index: int) -> None:
        arrays = self._input.arrays(batch)
        over = self._clock.moments(millis(arrays[self._params.window_end]) - 1)
        late = over <= self.watermark
        if late.any():
            self._late.inc(int(np.count_nonzero(late)))
            mask = pa.array(~late)
            arrays, over = [array.filter(mask) for array in arrays], over[~late]
        self._pending.add(arrays, over)
        if len(self._pending) > self._next_pruning:
            self._pending.prune(lambda columns: self._ranks(columns)[1] <= self._params.end)
            self._next_pruning = max(_FEW, 2 * len(self._pending))

    def process_watermark(self, timestamp: int) -> None:
        columns, times, _ = self._pending.take_until(timestamp)
        if len(times):
            self._emit(columns)
        super().process_watermark(timestamp)

    def _ranks(self, columns: pa.RecordBatch) -> tuple[Integers, Integers]:
        """The order by partition and rank, and the rank of each row."""
        places, types = self._params.partition, self._params.input_type.types
        keys = key_column([columns.column(p) for p in places], [types[p] for p in places], columns.num_rows)
        codes = numbered(keys).codes.astype(np.int64)
        arrival = np.arange(len(codes))
        ties = -arrival if self._params.last_of_equals else arrival
        order = np.lexsort((ties, *ranks_of(columns.columns, self._params.order_by), codes))
        ordered = codes[order]
        first = np.r_[True, ordered[1:] != ordered[:-1]]
        nth = np.arange(len(order)) - np.maximum.accumulate(np.where(first, np.arange(len(order)), 0))
        ranks = np.empty(len(order), np.int64)
        ranks[order] = nth + 1
        return order, ranks

    def _emit(self, columns: pa.RecordBatch) -> None:
        order, ranks = self._ranks(columns)
        ranks = ranks[order]
        chosen = (ranks >= self._params.start) & (ranks <= self._params.end)
        found = list(columns.take(pa.array(order[chosen])).columns)
        if self._params.numbered:
            found.append(pa.array(ranks[chosen]))
        if chosen.any():
            self.output.emit(self._output.batch(found, rows=int(np.count_nonzero(chosen))))

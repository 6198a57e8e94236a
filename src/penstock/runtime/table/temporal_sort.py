"""ORDER BY a time attribute: rows wait for the watermark and leave in the order of time and of further columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from penstock.columns.typed.nodes import SortKey
from penstock.runtime.batch import MAX_TIMESTAMP, MIN_TIMESTAMP, Batch
from penstock.runtime.blueprint import OperatorBlueprint
from penstock.runtime.context import SubtaskContext
from penstock.runtime.operators.base import Operator
from penstock.runtime.table.codec import TableCodec
from penstock.runtime.table.column_order import ranks_of
from penstock.runtime.table.pending_rows import PendingRows
from penstock.runtime.table.row_type import TableRowType
from penstock.runtime.table.window_times import millis


@dataclass(frozen=True)
class TemporalSortParams:
    """The first key is the time column, ascending; operands of the others are columns too."""

    input_type: TableRowType
    time_column: int
    others: tuple[SortKey, ...]
    event_time: bool = True


class TemporalSortOperator(Operator):
    """Flink's rule for late rows: dropped only if they are not later than the last row that has left."""

    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        super().__init__(blueprint, context)
        self._params: TemporalSortParams = blueprint.params["sort"]
        self._codec = TableCodec(self._params.input_type)
        self._pending = PendingRows(self, "_pending", self._params.input_type, ())
        self._left = MIN_TIMESTAMP
        self._late = context.memory.metrics.counter("numLateRecordsDropped")

    def loaded(self) -> None:
        self._pending.loaded()

    def process(self, batch: Batch, input_index: int) -> None:
        if self._params.event_time:
            times = millis(self._codec.arrays(batch)[self._params.time_column])
            late = times <= self._left
            if late.any():
                self._late.inc(int(np.count_nonzero(late)))
                batch, times = batch.filter(~late), times[~late]
        else:
            times = np.full(len(batch), self.context.clock(), np.int64)
        self._pending.add(self._codec.arrays(batch), times)

    def process_watermark(self, timestamp: int) -> None:
        if self._params.event_time:
            self._emit(timestamp)
        super().process_watermark(timestamp)

    def next_processing_time(self) -> int | None:
        # Rows of one millisecond are put in order, so that it must be over.
        first = self._pending.earliest
        return None if self._params.event_time or first is None else first + 1

    def advance_processing_time(self, now: int) -> None:
        if not self._params.event_time:
            self._emit(now - 1)

    def finish(self) -> None:
        if not self._params.event_time:
            self._emit(MAX_TIMESTAMP)
        super().finish()

    def _emit(self, until: int) -> None:
        columns, times, _ = self._pending.take_until(until)
        if not len(times):
            return
        self._left = int(times[-1])
        taken = columns
        if self._params.others:
            taken = columns.take(pa.array(np.lexsort((*ranks_of(columns.columns, self._params.others), times))))
        self.output.emit(self._codec.batch(list(taken.columns), rows=len(times)))

    def extra(self) -> Any:
        return self._left

    def restore_extra(self, extra: Any) -> None:
        self._left = extra

"""Watermarks of a table: computed from its rows, and decided by the rows alone, so that every run decides the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from penstock.columns.kernels.datum import Session, as_array
from penstock.columns.typed.evaluation import Rows, evaluate
from penstock.columns.typed.nodes import Typed
from penstock.common.errors import JobExecutionError
from penstock.runtime.batch import MAX_TIMESTAMP, MIN_TIMESTAMP, Batch, Integers
from penstock.runtime.blueprint import OperatorBlueprint
from penstock.runtime.context import SubtaskContext
from penstock.runtime.operators.base import Operator
from penstock.runtime.table.calc import session_at
from penstock.runtime.table.codec import TableCodec
from penstock.runtime.table.row_type import TableRowType

_TOUCHING = 1  # a session that ends where a row begins would take it in, unless the watermark closed it before


@dataclass(frozen=True)
class WatermarkParams:
    """The expression gives the watermark after each row, in milliseconds since 1970 of the rowtime's kind of clock."""

    input_type: TableRowType
    rowtime: int
    expression: Typed
    session: Session
    interval_ms: int = 200
    idle_timeout_ms: int = 0
    every: bool = False  # also those that decide nothing, because somebody looks at them


class TableWatermarkOperator(Operator):
    """Emits a watermark whenever it has risen by more than the interval, as Flink's assigner does.

    A watermark cuts the batch only where a row follows that is not later than it; where none follows, the next one
    says all that it would have said, and the last one says it after the batch. What the last rows gave is told when
    nothing follows for the interval.
    """

    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        super().__init__(blueprint, context)
        self._params: WatermarkParams = blueprint.params["watermark"]
        self._codec = TableCodec(self._params.input_type)
        self._reached = 0  # the highest watermark of a row
        self._told = 0  # the last one that was counted as emitted
        self._last_rows_at: int | None = None
        self._idle = False

    @property
    def idle(self) -> bool:
        return self._idle

    def process(self, batch: Batch, input_index: int) -> None:
        if self._idle:
            self._idle = False
            self.output.emit_idleness(False)
        batch = batch.in_columns(self._codec)
        now = self.context.clock()
        self._last_rows_at = now
        arrays = self._codec.arrays(batch)
        times = self._rowtimes(arrays[self._params.rowtime])
        rows = Rows(arrays, len(batch), session_at(self._params.session, now))
        marks = as_array(evaluate(self._params.expression, rows), len(batch))
        reached = np.maximum.accumulate(np.maximum(_millis(marks, MIN_TIMESTAMP), self._reached))
        start = 0
        for place, watermark in self._cuts(reached, times):
            self.output.emit(batch.slice(start, place + 1))
            self._emit(watermark)
            start = place + 1
        if start < len(batch):
            self.output.emit(batch.slice(start, len(batch)) if start else batch)
        self._reached = int(reached[-1])

    def _rowtimes(self, column: pa.Array) -> Integers:
        if column.null_count:
            name = self._params.input_type.names[self._params.rowtime]
            raise JobExecutionError(
                f"A row has NULL in its rowtime column {name!r}: filter such rows, or compute the column with COALESCE."
            )
        return _millis(column, 0)

    def _cuts(self, reached: Integers, times: Integers) -> list[tuple[int, int]]:
        """After which rows which watermark is told; only those that matter for the rows that follow, and the last."""
        due: list[tuple[int, int]] = []
        told, place = self._told, 0
        while True:
            place += int(np.searchsorted(reached[place:], told + self._params.interval_ms, side="right"))
            if place >= len(reached):
                break
            told = int(reached[place])
            due.append((place, told))
        self._told = told
        if self._params.every:
            return due
        ends = [*(place for place, _ in due[1:]), len(times) - 1][: len(due)]
        cuts = [
            (place, watermark)
            for (place, watermark), end in zip(due, ends, strict=True)
            if int(times[place + 1 : end + 1].min(initial=MAX_TIMESTAMP)) <= watermark + _TOUCHING
        ]
        if due and cuts[-1:] != due[-1:]:
            cuts.append((len(times) - 1, told))  # the rows after it are later: they need not be apart from the others
        return cuts

    def _emit(self, watermark: int) -> None:
        if watermark > self.watermark:
            self.watermark = watermark
            self.output.emit_watermark(watermark)

    def process_watermark(self, timestamp: int) -> None:
        """Those from above are replaced, but for the one that says that the input has ended."""
        if timestamp == MAX_TIMESTAMP:
            super().process_watermark(timestamp)  # also when it was told before a savepoint: those after it forgot

    def process_idleness(self, idle: bool) -> None:
        self._idle = idle
        self.output.emit_idleness(idle)

    def next_processing_time(self) -> int | None:
        if self._last_rows_at is None or self.watermark == MAX_TIMESTAMP:
            return None
        if self._reached > self._told:
            return self._last_rows_at + self._params.interval_ms
        if self._params.idle_timeout_ms and not self._idle:
            return self._last_rows_at + self._params.idle_timeout_ms
        return None

    def advance_processing_time(self, now: int) -> None:
        due = self.next_processing_time()
        if due is None or now < due:
            return
        if self._reached > self._told:
            self._told = self._reached
            self._emit(self._reached)
        else:
            self._idle = True
            self.output.emit_idleness(True)

    def extra(self) -> Any:
        return self._reached, self._told, self._idle

    def restore_extra(self, extra: Any) -> None:
        self._reached, self._told, self._idle = extra


def _millis(column: pa.Array, missing: int) -> Integers:
    """Moments in milliseconds."""
    whole = column.cast(pa.timestamp("ms"), safe=False).cast(pa.int64())
    filled = whole.fill_null(missing) if whole.null_count else whole
    numbers: Integers = filled.to_numpy(zero_copy_only=False)
    return numbers

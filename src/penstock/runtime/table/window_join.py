"""Window joins: rows of two sides that belong to the same window, put together when it is complete."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from penstock.columns.kernels.datum import Session
from penstock.columns.typed.evaluation import matching
from penstock.columns.typed.nodes import Typed
from penstock.runtime.batch import Batch
from penstock.runtime.blueprint import OperatorBlueprint
from penstock.runtime.context import SubtaskContext
from penstock.runtime.key_columns import Integers, numbered
from penstock.runtime.table.calc import session_at
from penstock.runtime.table.codec import TableCodec
from penstock.runtime.table.keys import key_column
from penstock.runtime.table.pair_condition import JoiningOperator
from penstock.runtime.table.pending_rows import PendingRows
from penstock.runtime.table.row_type import TableRowType
from penstock.runtime.table.window_times import WindowClock, millis


@dataclass(frozen=True)
class WindowedSide:
    """`keys` include the columns of the window, of which `end` is one."""

    row_type: TableRowType
    keys: tuple[int, ...]
    end: int
    null_keys: tuple[int, ...] = ()  # those of the keys of which NULL is equal to NULL


@dataclass(frozen=True)
class WindowJoinParams:
    kind: str
    left: WindowedSide
    right: WindowedSide
    condition: Typed | None = None
    zone: str | None = None
    session: Session = Session()


class WindowJoinOperator(JoiningOperator):
    """Emits insertions only, once for each window."""

    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        super().__init__(blueprint, context)
        params = self._params = blueprint.params["join"]
        self._sides = (params.left, params.right)
        self._codecs = tuple(TableCodec(side.row_type) for side in self._sides)
        self._pending = tuple(
            PendingRows(self, name, side.row_type, side.keys)
            for name, side in zip(("left", "right"), self._sides, strict=True)
        )
        self._output = TableCodec(blueprint.output_type)
        self._clock = WindowClock(params.zone)
        self._late = context.memory.metrics.counter("numLateRecordsDropped")

    def loaded(self) -> None:
        for pending in self._pending:
            pending.loaded()

    def process(self, batch: Batch, input_index: int) -> None:
        arrays = self._codecs[input_index].arrays(batch)
        over = self._clock.moments(millis(arrays[self._sides[input_index].end]) - 1)
        late = over <= self.watermark
        if late.any():
            self._late.inc(int(np.count_nonzero(late)))
            mask = pa.array(~late)
            arrays, over = [array.filter(mask) for array in arrays], over[~late]
        self._pending[input_index].add(arrays, over)

    def process_watermark(self, timestamp: int) -> None:
        left, right = (pending.take_until(timestamp)[0] for pending in self._pending)
        if left.num_rows or right.num_rows:
            self._join(left, right)
        super().process_watermark(timestamp)

    def _join(self, left: pa.RecordBatch, right: pa.RecordBatch) -> None:
        kind = self._params.kind
        rows, others = self._pairs(left, right)
        matched_left = np.zeros(left.num_rows, np.bool_)
        matched_left[rows] = True
        if kind in ("SEMI", "ANTI"):
            chosen = left.filter(pa.array(matched_left == (kind == "SEMI")))
            if chosen.num_rows:
                self.output.emit(self._output.batch(list(chosen.columns), rows=chosen.num_rows))
            return
        if kind in ("LEFT", "FULL"):
            alone = np.flatnonzero(~matched_left)
            rows, others = np.concatenate([rows, alone]), np.concatenate([others, np.full(len(alone), -1)])
        if kind in ("RIGHT", "FULL"):
            matched_right = np.zeros(right.num_rows, np.bool_)
            matched_right[others[others >= 0]] = True
            alone = np.flatnonzero(~matched_right)
            rows, others = np.concatenate([rows, np.full(len(alone), -1)]), np.concatenate([others, alone])
        if len(rows):
            ours = left.take(pa.array(rows, pa.int64(), mask=rows < 0)).columns
            theirs = right.take(pa.array(others, pa.int64(), mask=others < 0)).columns
            self.output.emit(self._output.batch([*ours, *theirs], rows=len(rows)))

    def _pairs(self, left: pa.RecordBatch, right: pa.RecordBatch) -> tuple[Integers, Integers]:
        rows, others = equal_pairs(_keys(left, self._sides[0]), _keys(right, self._sides[1]))
        known = np.ones(len(rows), np.bool_)
        for side, columns, places in ((self._sides[0], left, rows), (self._sides[1], right, others)):
            for key in set(side.keys).difference(side.null_keys):
                if columns.column(key).null_count:
                    known &= columns.column(key).is_valid().to_numpy(zero_copy_only=False)[places]
        rows, others = rows[known], others[known]
        condition = self._params.condition
        if condition is None or not len(rows):
            return rows, others
        both = [*left.take(pa.array(rows)).columns, *right.take(pa.array(others)).columns]
        hold = matching(condition, both, len(rows), session_at(self._params.session, self.context.clock()))
        return rows[hold], others[hold]


def _keys(columns: pa.RecordBatch, side: WindowedSide) -> pa.Array:
    chosen = [columns.column(place) for place in side.keys]
    return key_column(chosen, [side.row_type.types[place] for place in side.keys], columns.num_rows)


def equal_pairs(left: pa.Array, right: pa.Array) -> tuple[Integers, Integers]:
    """All pairs of positions with equal keys, in the order of the left and then of the right."""
    codes = numbered(pa.concat_arrays([left, right])).codes.astype(np.int64)
    ours, theirs = codes[: len(left)], codes[len(left) :]
    order = np.argsort(theirs, kind="stable")
    ordered = theirs[order]
    starts, ends = np.searchsorted(ordered, ours, side="left"), np.searchsorted(ordered, ours, side="right")
    counts = ends - starts
    rows = np.repeat(np.arange(len(ours)), counts)
    nth = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    return rows, order[np.repeat(starts, counts) + nth]

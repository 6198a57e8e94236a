"""Temporal joins: each row of the left meets the version of a right row that was valid at its time."""

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
from penstock.runtime.table.change_rows import BEFORE, DELETE
from penstock.runtime.table.codec import TableCodec, with_kinds
from penstock.runtime.table.interval_join import TimedSide
from penstock.runtime.table.keys import RowKey
from penstock.runtime.table.pair_condition import JoiningOperator
from penstock.runtime.table.pending_rows import PendingRows
from penstock.runtime.table.row_chains import RowChains
from penstock.runtime.table.row_store import row_store
from penstock.runtime.table.window_times import millis

_TIME, _KIND = "time", "kind"
_FEW = 4096


@dataclass(frozen=True)
class TemporalJoinParams:
    """kind is INNER or LEFT. Without event time the right side has only its last version, and answers come at once."""

    kind: str
    left: TimedSide
    right: TimedSide
    condition: Typed | None = None
    event_time: bool = True
    session: Session = Session()


class TemporalJoinOperator(JoiningOperator):
    """A deletion is a version too: the row is not there from then on. Kinds of the left pass through."""

    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        super().__init__(blueprint, context)
        params = self._params = blueprint.params["join"]
        self._left, self._right = TableCodec(params.left.row_type), TableCodec(params.right.row_type)
        self._left_key = RowKey(params.left.row_type, params.left.keys)
        self._right_key = RowKey(params.right.row_type, params.right.keys)
        self._output = TableCodec(blueprint.output_type)
        self._pending = PendingRows(self, "left", params.left.row_type, params.left.keys)
        self._versions = row_store(self, "right", self._right.schema, self._right_keys, (_TIME, _KIND))
        self._chains = RowChains(self._versions)
        self._next_cleanup = _FEW

    def _right_keys(self, columns: pa.RecordBatch) -> pa.Array:
        return self._right_key.key_column_of(self._right.batch(list(columns.columns), rows=columns.num_rows))

    def _left_keys(self, columns: pa.RecordBatch) -> pa.Array:
        return self._left_key.key_column_of(self._left.batch(list(columns.columns), rows=columns.num_rows))

    def loaded(self) -> None:
        self._pending.loaded()
        self._chains.rebuild()

    # -- rows ----------------------------------------------------------------------------------------------------

    def process(self, batch: Batch, input_index: int) -> None:
        kinds = with_kinds(batch)
        if input_index == 1:
            self._take_versions(self._right.arrays(batch), kinds.astype(np.int64))
            return
        arrays = self._left.arrays(batch)
        if self._params.event_time:
            self._pending.add(arrays, millis(arrays[self._params.left.time_column]), kinds.astype(np.int64))
        else:
            columns = pa.RecordBatch.from_arrays(arrays, schema=self._left.schema)
            self._join(columns, np.zeros(len(kinds), np.int64), kinds.astype(np.int64))

    def _take_versions(self, arrays: list[pa.Array], kinds: Integers) -> None:
        columns = pa.RecordBatch.from_arrays(arrays, schema=self._right.schema)
        told = kinds != BEFORE  # what a row was before is the version before
        if not told.all():
            columns, kinds = columns.filter(pa.array(told)), kinds[told]
        if not len(kinds):
            return
        keys = self._right_keys(columns)
        if self._params.event_time:
            times = millis(columns.column(self._params.right.time_column))
        else:
            times = np.zeros(len(kinds), np.int64)
            self._versions.delete(np.unique(self._chains.find(keys)[1]))
        self._chains.add(keys, self._versions.append(columns, time=times, kind=kinds))

    def process_watermark(self, timestamp: int) -> None:
        if self._params.event_time:
            columns, times, kinds = self._pending.take_until(timestamp, by_time=False)
            if len(times):
                self._join(columns, times, kinds)
            if len(self._versions) >= self._next_cleanup:
                self._clean_up(timestamp)
        super().process_watermark(timestamp)

    def _join(self, columns: pa.RecordBatch, times: Integers, kinds: Integers) -> None:
        rows, numbers = self._valid_versions(columns, times)
        if self._params.condition is not None and len(rows):
            both = [*columns.take(pa.array(rows)).columns, *self._versions.take(numbers)]
            session = session_at(self._params.session, self.context.clock())
            hold = matching(self._params.condition, both, len(rows), session)
            rows, numbers = rows[hold], numbers[hold]
        found = np.full(len(times), -1, np.int64)
        found[rows] = numbers
        if self._params.kind == "INNER":
            chosen = found >= 0
            columns, found, kinds = columns.filter(pa.array(chosen)), found[chosen], kinds[chosen]
        if len(found):
            right = self._versions.take(found, found >= 0)
            shown = kinds.astype(np.int8)
            self.output.emit(self._output.batch([*columns.columns, *right], shown if shown.any() else None, len(found)))

    def _valid_versions(self, columns: pa.RecordBatch, times: Integers) -> tuple[Integers, Integers]:
        """For each left row that has one, its version: the last that came of those that are not later than it."""
        rows, numbers = self._chains.find(self._left_keys(columns))
        for place in self._params.left.keys:
            column = columns.column(place)
            if column.null_count:
                known = column.is_valid().to_numpy(zero_copy_only=False)[rows]
                rows, numbers = rows[known], numbers[known]
        if not len(rows):
            return rows, numbers
        version_times = self._versions.note(_TIME)[numbers]
        early = version_times <= times[rows]
        rows, numbers, version_times = rows[early], numbers[early], version_times[early]
        order = np.lexsort((numbers, version_times, rows))
        rows, numbers = rows[order], numbers[order]
        last = np.r_[rows[1:] != rows[:-1], True] if len(rows) else np.zeros(0, np.bool_)
        rows, numbers = rows[last], numbers[last]
        there = self._versions.note(_KIND)[numbers] != DELETE
        return rows[there], numbers[there]

    def _clean_up(self, watermark: int) -> None:
        """Versions that no left row can ask for: those before the one that is valid now."""
        numbers = self._versions.numbers()
        times = self._versions.note(_TIME)[numbers]
        past = times <= watermark
        numbers, times = numbers[past], times[past]
        codes = numbered(self._right_keys(self._versions.batch(numbers))).codes
        order = np.lexsort((numbers, times, codes))
        codes, numbers = codes[order], numbers[order]
        replaced = np.r_[codes[1:] == codes[:-1], False] if len(codes) else np.zeros(0, np.bool_)
        replaced |= self._versions.note(_KIND)[numbers] == DELETE
        self._versions.delete(numbers[replaced])
        if self._versions.compact():
            self._chains.rebuild()
        self._next_cleanup = max(_FEW, 2 * len(self._versions))

"""Interval joins: rows of two streams whose times are near each other; state lasts as long as the interval."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from penstock.columns.kernels.datum import Session
from penstock.columns.typed.evaluation import matching
from penstock.columns.typed.nodes import Typed
from penstock.runtime.batch import MAX_TIMESTAMP, MIN_TIMESTAMP, Batch
from penstock.runtime.blueprint import OperatorBlueprint
from penstock.runtime.context import SubtaskContext
from penstock.runtime.key_columns import Booleans, Integers
from penstock.runtime.operators.base import Operator
from penstock.runtime.table.calc import session_at
from penstock.runtime.table.codec import TableCodec
from penstock.runtime.table.keys import RowKey
from penstock.runtime.table.pair_condition import JoiningOperator
from penstock.runtime.table.row_chains import RowChains
from penstock.runtime.table.row_store import row_store
from penstock.runtime.table.row_type import TableRowType
from penstock.runtime.table.window_times import millis

_TIME, _MATCHED = "time", "matched"


@dataclass(frozen=True)
class TimedSide:
    row_type: TableRowType
    keys: tuple[int, ...]
    time_column: int
    null_keys: tuple[int, ...] = ()  # those of the keys of which NULL is equal to NULL


@dataclass(frozen=True)
class IntervalJoinParams:
    """The left time minus the right one is from lower to upper, in milliseconds."""

    kind: str
    left: TimedSide
    right: TimedSide
    lower: int
    upper: int
    condition: Typed | None = None
    event_time: bool = True
    session: Session = Session()


class _Side:
    def __init__(self, operator: Operator, name: str, params: TimedSide, outer: bool, reach: tuple[int, int]) -> None:
        self.params = params
        self.outer = outer
        self.reach = reach  # partners have times from `time + reach[0]` to `time + reach[1]`
        self.codec = TableCodec(params.row_type)
        self._key = RowKey(params.row_type, params.keys)
        self.store = row_store(operator, name, self.codec.schema, self.key_column, (_TIME, _MATCHED))
        self.chains = RowChains(self.store)
        self.earliest = MAX_TIMESTAMP

    def key_column(self, columns: pa.RecordBatch) -> pa.Array:
        return self._key.key_column_of(self.codec.batch(list(columns.columns), rows=columns.num_rows))

    def loaded(self) -> None:
        self.chains.rebuild()
        self.earliest = int(self.store.note(_TIME)[self.store.numbers()].min(initial=MAX_TIMESTAMP))

    def can_match(self, columns: pa.RecordBatch) -> Booleans | None:
        found: Booleans | None = None
        for place in set(self.params.keys).difference(self.params.null_keys):
            column = columns.column(place)
            if column.null_count:
                valid = column.is_valid().to_numpy(zero_copy_only=False)
                found = valid if found is None else found & valid
        return found

    def keep(self, columns: pa.RecordBatch, keys: pa.Array, times: Integers, matched: Booleans, kept: Booleans) -> None:
        if not kept.any():
            return
        mask = pa.array(kept)
        numbers = self.store.append(columns.filter(mask), time=times[kept], matched=matched[kept].astype(np.int64))
        self.chains.add(keys.filter(mask), numbers)
        self.earliest = min(self.earliest, int(times[kept].min()))

    def expire(self, now: int) -> list[pa.Array] | None:
        """Removes rows that no row of the other side can reach any more; of an outer side, those that met nobody."""
        if self.earliest + self.reach[1] > now or not len(self.store):
            return None
        numbers = self.store.numbers()
        times = self.store.note(_TIME)[numbers]
        over = times + self.reach[1] <= now
        gone = numbers[over]
        self.earliest = int(times[~over].min(initial=MAX_TIMESTAMP))
        lonely = gone[self.store.note(_MATCHED)[gone] == 0]
        lonely = lonely[np.argsort(self.store.note(_TIME)[lonely], kind="stable")]
        padded = self.store.take(lonely) if self.outer and len(lonely) else None
        self.store.delete(gone)
        if self.store.compact():
            self.chains.rebuild()
        return padded


class TableIntervalJoinOperator(JoiningOperator):
    """Emits insertions only: pairs at once, rows of an outer side that met nobody when their time is over."""

    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        super().__init__(blueprint, context)
        params = self._params = blueprint.params["join"]
        left_outer, right_outer = params.kind in ("LEFT", "FULL"), params.kind in ("RIGHT", "FULL")
        self._sides = (
            _Side(self, "left-rows", params.left, left_outer, (-params.upper, -params.lower)),
            _Side(self, "right-rows", params.right, right_outer, (params.lower, params.upper)),
        )
        self._output = TableCodec(blueprint.output_type)

    def loaded(self) -> None:
        for side in self._sides:
            side.loaded()

    def process(self, batch: Batch, input_index: int) -> None:
        own, other = self._sides[input_index], self._sides[1 - input_index]
        columns = pa.RecordBatch.from_arrays(own.codec.arrays(batch), schema=own.codec.schema)
        if self._params.event_time:
            times, now = millis(columns.column(own.params.time_column), MIN_TIMESTAMP), self.watermark
        else:
            now = self.context.clock()
            times = np.full(len(batch), now, np.int64)
        keys = own.key_column(columns)
        rows, numbers = self._pairs(own, other, columns, keys, times)
        matched = np.zeros(len(times), np.bool_)
        if len(rows):
            matched[rows] = True
            if other.outer:
                other.store.set_note(_MATCHED, np.unique(numbers), np.ones(len(np.unique(numbers)), np.int64))
            self._emit(own, columns.take(pa.array(rows)).columns, other.store.take(numbers))
        findable = own.can_match(columns)
        # A row that nobody can reach any more is not kept; an outer one that met nobody goes out alone.
        kept = times + own.reach[1] > now
        kept = kept if findable is None else kept & findable
        own.keep(columns, keys, times, matched, kept)
        alone = ~kept & ~matched
        if own.outer and alone.any():
            self._emit_alone(own, columns.filter(pa.array(alone)).columns)

    def _pairs(
        self, own: _Side, other: _Side, columns: pa.RecordBatch, keys: pa.Array, times: Integers
    ) -> tuple[Integers, Integers]:
        findable = own.can_match(columns)
        asked = None if findable is None else np.flatnonzero(findable)
        rows, numbers = other.chains.find(keys if asked is None else keys.take(pa.array(asked)))
        rows = rows if asked is None else asked[rows]
        apart = other.store.note(_TIME)[numbers] - times[rows]
        near = (apart >= own.reach[0]) & (apart <= own.reach[1])
        rows, numbers = rows[near], numbers[near]
        condition = self._params.condition
        if condition is None or not len(rows):
            return rows, numbers
        both = self._both(own, columns.take(pa.array(rows)).columns, other.store.take(numbers))
        hold = matching(condition, both, len(rows), session_at(self._params.session, self.context.clock()))
        return rows[hold], numbers[hold]

    def _both(self, own: _Side, ours: list[pa.Array], theirs: list[pa.Array]) -> list[pa.Array]:
        return [*ours, *theirs] if own is self._sides[0] else [*theirs, *ours]

    def _emit(self, own: _Side, ours: list[pa.Array], theirs: list[pa.Array]) -> None:
        self.output.emit(self._output.batch(self._both(own, ours, theirs), rows=len(ours[0])))

    def _emit_alone(self, own: _Side, ours: list[pa.Array]) -> None:
        other = self._sides[1 if own is self._sides[0] else 0]
        self._emit(own, ours, [pa.nulls(len(ours[0]), column.type) for column in other.codec.schema])

    # -- time ----------------------------------------------------------------------------------------------------

    def process_watermark(self, timestamp: int) -> None:
        if self._params.event_time:
            self._expire(timestamp)
        super().process_watermark(timestamp)

    def advance_processing_time(self, now: int) -> None:
        if not self._params.event_time:
            self._expire(now)

    def next_processing_time(self) -> int | None:
        if self._params.event_time:
            return None
        return min((side.earliest + side.reach[1] for side in self._sides if len(side.store)), default=None)

    def finish(self) -> None:
        self._expire(MAX_TIMESTAMP)
        super().finish()

    def _expire(self, now: int) -> None:
        for side in self._sides:
            padded = side.expire(now)
            if padded is not None:
                self._emit_alone(side, padded)

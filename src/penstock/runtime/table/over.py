"""OVER: for each row the aggregates over the rows before it, in the order of time.

Accumulators go on from row to row. A row that leaves a bounded window is taken back from them, so that a batch becomes
a sequence of rows that come and go, which the aggregate functions take in at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
import pyarrow as pa

from penstock.columns.typed.nodes import Aggregate
from penstock.columns.typed.python_call import PythonFunction
from penstock.runtime.batch import MAX_TIMESTAMP, MIN_TIMESTAMP, Batch
from penstock.runtime.blueprint import OperatorBlueprint
from penstock.runtime.context import SubtaskContext
from penstock.runtime.key_columns import Integers, numbered
from penstock.runtime.table.aggregates.calls import AggregateCalls, argument_column, functions_of
from penstock.runtime.table.aggregates.series_frames import SeriesFrames, series_function
from penstock.runtime.table.aggregating import AggregatingOperator
from penstock.runtime.table.codec import TableCodec
from penstock.runtime.table.keyed_slots import slot_table
from penstock.runtime.table.keys import RowKey
from penstock.runtime.table.pending_rows import PendingRows
from penstock.runtime.table.row_chains import RowChains
from penstock.runtime.table.row_store import row_store
from penstock.runtime.table.row_type import TableRowType
from penstock.runtime.table.runs import Runs
from penstock.runtime.table.slots import SlotField
from penstock.runtime.table.window_times import millis

_LAST, _CLEANUP, _TIME = "last", "cleanup", "time"


class Shown(Enum):
    """Whose value a row shows: that of its frame's end, its own, or that of the first row of its time."""

    FRAME = "frame"
    ROW = "row"
    FIRST_PEER = "first"


@dataclass(frozen=True)
class OverParams:
    """`preceding` is the number of rows or of milliseconds before the current one; None for all.

    Arguments of calls are columns of the input, or the one after them: whether a row is the first of its time. With
    `event_time` rows wait for the watermark.
    """

    input_type: TableRowType
    keys: tuple[int, ...]
    time_column: int
    calls: tuple[Aggregate, ...]
    by_rows: bool
    preceding: int | None = None
    event_time: bool = True
    shown: tuple[Shown, ...] = ()  # by call; () for all FRAME


class OverOperator(AggregatingOperator):
    """The columns of each row, and after them the values of the calls."""

    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        super().__init__(blueprint, context)
        params = self._params = blueprint.params["over"]
        self._input, self._output = TableCodec(params.input_type), TableCodec(blueprint.output_type)
        self._bounded = params.preceding is not None
        # Functions of Series have no accumulators: they are given the rows of the window, of which there is an end.
        self._of_series = [place for place, call in enumerate(params.calls) if series_function(call)]
        accumulating = [call for place, call in enumerate(params.calls) if place not in self._of_series]
        self._calls = AggregateCalls(accumulating, retracting=self._bounded)
        last = SlotField(_LAST, np.int64, MIN_TIMESTAMP), SlotField(_CLEANUP, np.int64, MIN_TIMESTAMP)
        fields = [*self._calls.fields, *(last if self._bounded else ())]
        self._table = slot_table(self, "_accumulators", fields, self._calls.maps)
        self._key = RowKey(params.input_type, params.keys)
        # Rows of one time come together, so that they wait for its end; by the clock only windows of time do.
        self._waits = params.event_time or (self._bounded and not params.by_rows)
        self._pending = PendingRows(self, "_pending", params.input_type, params.keys)
        self._late = context.memory.metrics.counter("numLateRecordsDropped")
        if self._bounded:
            self._window = row_store(self, "_window", self._input.schema, self._key_column, (_TIME,))
            self._chains = RowChains(self._window)

    def _key_column(self, columns: pa.RecordBatch) -> pa.Array:
        return self._key.key_column_of(self._input.batch(list(columns.columns), rows=columns.num_rows))

    def _user_functions(self) -> Sequence[PythonFunction]:
        return functions_of(self._params.calls)

    def loaded(self) -> None:
        self._pending.loaded()
        if self._bounded:
            self._chains.rebuild()

    # -- when rows are due -----------------------------------------------------------------------------------------

    def process(self, batch: Batch, input_index: int) -> None:
        arrays = self._input.arrays(batch)
        if self._params.event_time:
            self._wait(batch, arrays)
            return
        times = np.full(len(batch), self.context.clock(), np.int64)
        if self._waits:
            self._pending.add(arrays, times)
        else:
            self._compute(pa.RecordBatch.from_arrays(arrays, schema=self._input.schema), times)

    def _wait(self, batch: Batch, arrays: list[pa.Array]) -> None:
        column = arrays[self._params.time_column]
        times = millis(column, MIN_TIMESTAMP)
        late = times <= self.watermark
        if self._bounded:
            assert batch.key_column is not None
            slots = self._table.place(batch.key_column).by_row
            late = times <= self._table.column(_LAST)[slots]
            if not self._params.by_rows:
                self._note_cleanup(slots[~late], times[~late])
        if late.any():
            self._late.inc(int(np.count_nonzero(late)))
            mask = pa.array(~late)
            arrays, times = [array.filter(mask) for array in arrays], times[~late]
        self._pending.add(arrays, times)

    def _note_cleanup(self, slots: Integers, times: Integers) -> None:
        """When a key will be forgotten: Flink's moment, because a late row is told by what is left of its key."""
        cleanup, span = self._table.column(_CLEANUP), self._params.preceding
        for slot, time in zip(slots.tolist(), times.tolist(), strict=True):
            if cleanup[slot] < time + span + 1:
                cleanup[slot] = time + int(span * 1.5) + 1
        self._table.mark(slots)

    def process_watermark(self, timestamp: int) -> None:
        if self._params.event_time:
            columns, times, _ = self._pending.take_until(timestamp)
            if len(times):
                self._compute(columns, times)
            self._forget(timestamp)
        super().process_watermark(timestamp)

    def next_processing_time(self) -> int | None:
        first = None if self._params.event_time else self._pending.earliest
        return None if first is None else first + 1

    def advance_processing_time(self, now: int) -> None:
        self._compute_until(now - 1)

    def finish(self) -> None:
        self._compute_until(MAX_TIMESTAMP)
        super().finish()

    def _compute_until(self, time: int) -> None:
        """Rows that wait for the end of their millisecond."""
        if not self._params.event_time and self._waits:
            columns, times, _ = self._pending.take_until(time)
            if len(times):
                self._compute(columns, times)

    # -- values --------------------------------------------------------------------------------------------------

    def _compute(self, columns: pa.RecordBatch, times: Integers) -> None:
        """Rows in the order of time."""
        keys = self._key_column(columns)
        codes = numbered(keys).codes.astype(np.int64)
        order = np.argsort(codes, kind="stable")
        values = self._bounded_values(keys, columns, codes, times, order) if self._bounded else None
        if values is None:
            placed = self._table.place(keys)
            runs = Runs.by_slot(placed.codes, placed.slots, ~self._table.alive[placed.slots])
            first, last = self._peers(codes, times, order)
            own = np.arange(len(times))
            trails = self._calls.running(
                self._table, runs, [*columns.columns, pa.array(first == own)], None, len(times)
            )
            self._table.mark(placed.slots)
            places = np.empty(len(times), np.int64)
            places[runs.order] = own + len(runs.starts)
            frame = own if self._params.by_rows else last
            rows = {Shown.FRAME: frame, Shown.ROW: own, Shown.FIRST_PEER: first}
            values = [
                trail.values.take(pa.array(places[rows[shown]]))
                for trail, shown in zip(trails, self._params.shown or (Shown.FRAME,) * len(trails), strict=True)
            ]
        self.output.emit(self._output.batch([*columns.columns, *values], rows=len(times)))

    def _peers(self, codes: Integers, times: Integers, order: Integers) -> tuple[Integers, Integers]:
        """For each row the first and the last one of the same time; rows that do not wait have none beside them."""
        count = len(order)
        if not self._waits:
            return np.arange(count), np.arange(count)
        sorted_codes, sorted_times = codes[order], times[order]
        differs = (sorted_codes[1:] != sorted_codes[:-1]) | (sorted_times[1:] != sorted_times[:-1])
        starts, ends = np.flatnonzero(np.r_[True, differs]), np.flatnonzero(np.r_[differs, True])
        group = np.searchsorted(ends, np.arange(count))
        first, last = np.empty(count, np.int64), np.empty(count, np.int64)
        first[order], last[order] = order[starts[group]], order[ends[group]]
        return first, last

    def _bounded_values(
        self, keys: pa.Array, columns: pa.RecordBatch, codes: Integers, times: Integers, order: Integers
    ) -> list[pa.Array]:
        """Rows of the window that are there already come first in each key; each row that leaves does so before the row
        that makes it leave."""
        _, first = np.unique(codes, return_index=True)
        positions, old = self._chains.find(keys.take(pa.array(first)))
        all_codes = np.concatenate([codes[first][positions], codes])
        all_times = np.concatenate([self._window.note(_TIME)[old], times])
        in_key_order = np.lexsort((np.arange(len(all_codes)), all_times, all_codes))
        leaves_at = self._leaving(all_codes[in_key_order], all_times[in_key_order])
        count, known = len(all_codes), len(old)
        place = np.empty(count, np.int64)  # of each row in the order of keys
        place[in_key_order] = np.arange(count)
        leaving = np.empty(count, np.int64)
        leaving[in_key_order] = leaves_at
        goes = np.flatnonzero(leaving < count)
        comes = np.arange(known, count)
        rows = np.concatenate([goes, comes])
        moments = np.concatenate([leaving[goes], place[comes]])
        phases = np.concatenate([np.zeros(len(goes), np.int64), np.ones(len(comes), np.int64)])
        sequence = np.lexsort((place[rows], phases, moments))
        rows, signs = rows[sequence], np.where(phases[sequence] == 1, 1, -1).astype(np.int8)
        both = pa.Table.from_batches([self._window.batch(old), columns]).combine_chunks()
        chosen = pa.array(rows)
        arrays = [column.chunk(0).take(chosen) if column.num_chunks else column for column in both.columns]
        placed = self._table.place(self._key_column(pa.RecordBatch.from_arrays(arrays, schema=self._input.schema)))
        runs = Runs.by_slot(placed.codes, placed.slots, ~self._table.alive[placed.slots])
        trails = self._calls.running(self._table, runs, arrays, signs, len(rows))
        self._table.mark(placed.slots)
        np.maximum.at(self._table.column(_LAST), placed.by_row, all_times[rows])
        trail_place = np.empty(len(rows), np.int64)
        trail_place[runs.order] = np.arange(len(rows)) + len(runs.starts)
        of_row = np.empty(count, np.int64)
        of_row[rows[signs == 1]] = trail_place[signs == 1]
        self._keep(columns, times, keys, leaving, known, old)
        frame = known + (np.arange(len(times)) if self._params.by_rows else self._peers(codes, times, order)[1])
        shown = pa.array(of_row[frame])
        values = [trail.values.take(shown) for trail in trails]
        if self._of_series:
            ordered = both.take(pa.array(in_key_order)).combine_chunks()
            found = self._values_of_series(ordered, all_codes[in_key_order], leaves_at, place[frame])
            for at, value in zip(self._of_series, found, strict=True):
                values.insert(at, value)
        return values

    def _values_of_series(self, rows: pa.Table, codes: Integers, leaves_at: Integers, last: Integers) -> list[pa.Array]:
        """Of frames that end with the rows at the places `last` and begin with the first one that is there still."""
        end_of_key = np.searchsorted(codes, codes, side="right")
        low = np.searchsorted(np.minimum(leaves_at, end_of_key), last, side="right")
        columns = [column.chunk(0) for column in rows.columns]
        calls = [self._params.calls[place] for place in self._of_series]
        found = []
        for call in calls:
            arguments = [argument_column(node, columns, len(codes)) for node in call.arguments]
            found.append(SeriesFrames(call, arguments).each(low, last + 1))
        return found

    def _leaving(self, codes: Integers, times: Integers) -> Integers:
        """For each row, in the order of keys and times, the row before which it leaves; past the end if it stays."""
        count = len(codes)
        end_of_key = np.searchsorted(codes, codes, side="right")
        if self._params.by_rows:
            found = np.arange(count) + self._params.preceding + 1
        else:
            # The first row of the key that is later than the row's time and the range.
            limits = times + self._params.preceding
            ticks = np.unique(np.concatenate([times, limits]))
            at, until = np.searchsorted(ticks, times), np.searchsorted(ticks, limits)
            found = np.searchsorted(codes * len(ticks) + at, codes * len(ticks) + until, side="right")
        return np.where(found < end_of_key, found, count)

    def _keep(
        self, columns: pa.RecordBatch, times: Integers, keys: pa.Array, leaving: Integers, known: int, old: Integers
    ) -> None:
        gone = leaving < len(leaving)
        self._window.delete(old[gone[:known]])
        stays = ~gone[known:]
        mask = pa.array(stays)
        numbers = self._window.append(columns.filter(mask), time=times[stays])
        self._chains.add(keys.filter(mask), numbers)
        if self._window.compact():
            self._chains.rebuild()

    def _forget(self, watermark: int) -> None:
        """Keys of which no row has come for long."""
        if not self._bounded or self._params.by_rows:
            return
        slots = self._table.all_slots()
        over = slots[self._table.column(_CLEANUP)[slots] <= watermark]
        if not len(over):
            return
        numbers = self._window.numbers()
        if len(numbers):
            placed = self._table.place(self._key_column(self._window.batch(numbers)))
            self._window.delete(numbers[np.isin(placed.by_row, over)])
        self._table.remove_slots(over)

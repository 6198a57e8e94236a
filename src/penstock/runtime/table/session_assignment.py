"""SESSION as a table function: rows wait until their session is over, and leave with its bounds."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from penstock.runtime.batch import MIN_TIMESTAMP, Batch
from penstock.runtime.blueprint import OperatorBlueprint
from penstock.runtime.context import SubtaskContext
from penstock.runtime.key_columns import Booleans, Integers, numbered
from penstock.runtime.operators.base import Operator
from penstock.runtime.table.codec import TableCodec
from penstock.runtime.table.keys import RowKey
from penstock.runtime.table.pending_rows import PendingRows
from penstock.runtime.table.window_assignment import AssignmentParams
from penstock.runtime.table.window_times import WindowClock, is_zoned, millis, property_columns


class SessionAssignmentOperator(Operator):
    """Rows of a key whose times are not further apart than the gap are one session.

    As in Flink a row is late only if the session that it belongs to is over, with all rows that it joins.
    """

    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        super().__init__(blueprint, context)
        params: AssignmentParams = blueprint.params["windows"]
        self._window = params.window
        self._keys = blueprint.params["keys"]
        self._input, self._output = TableCodec(params.input_type), TableCodec(blueprint.output_type)
        self._clock = WindowClock(self._window.zone)
        self._zoned = is_zoned(params.input_type.types[self._window.time_column])
        self._key = RowKey(params.input_type, self._keys)
        self._pending = PendingRows(self, "_pending", params.input_type, self._keys)
        self._late = context.memory.metrics.counter("numLateRecordsDropped")

    def loaded(self) -> None:
        self._pending.loaded()

    def process(self, batch: Batch, input_index: int) -> None:
        arrays = self._input.arrays(batch)
        column = arrays[self._window.time_column]
        times = millis(column, MIN_TIMESTAMP)
        known = column.is_valid().to_numpy(zero_copy_only=False)
        early = self._clock.moments(self._clock.wall(times) + self._window.size - 1) > self.watermark
        if (early | ~known).all():
            self._add(arrays, times, np.flatnonzero(known))
            return
        start = 0
        for place in np.flatnonzero(known & ~early).tolist():
            self._add(arrays, times, start + np.flatnonzero(known[start:place]))
            self._add_if_joined(arrays, times, place)
            start = place + 1
        self._add(arrays, times, start + np.flatnonzero(known[start:]))

    def _add(self, arrays: list[pa.Array], times: Integers, rows: Integers) -> None:
        if len(rows) == len(times):
            self._pending.add(arrays, times)
        elif len(rows):
            chosen = pa.array(rows)
            self._pending.add([array.take(chosen) for array in arrays], times[rows])

    def _add_if_joined(self, arrays: list[pa.Array], times: Integers, row: int) -> None:
        """A row whose own window is over counts if it touches a session that is not."""
        own = [array.slice(row, 1) for array in arrays]
        over: list[int] = []

        def look(columns: pa.RecordBatch) -> Booleans:
            both = pa.Table.from_batches([columns, pa.RecordBatch.from_arrays(own, schema=columns.schema)])
            whole = both.combine_chunks().to_batches()[0]
            _, _, ends = self._sessions(whole)
            over.append(self._clock.over(int(ends[-1])))
            return np.ones(columns.num_rows, np.bool_)

        self._pending.prune(look)
        if over[0] > self.watermark:
            self._pending.add(own, times[row : row + 1])
        else:
            self._late.inc(1)

    def _sessions(self, columns: pa.RecordBatch) -> tuple[Integers, Integers, Integers]:
        """For each row the number of its key, and the start and the end of its session."""
        arrays = list(columns.columns)
        keys = self._key.key_column_of(self._input.batch(arrays, rows=columns.num_rows))
        codes = numbered(keys).codes.astype(np.int64)
        times = self._clock.wall(millis(arrays[self._window.time_column]))
        order = np.lexsort((times, codes))
        sorted_codes, sorted_times = codes[order], times[order]
        far = sorted_times[1:] - sorted_times[:-1] > self._window.size
        new = np.r_[True, (sorted_codes[1:] != sorted_codes[:-1]) | far]
        number = np.cumsum(new) - 1
        firsts = np.flatnonzero(new)
        lasts = np.r_[firsts[1:], len(order)] - 1
        starts, ends = np.empty(len(order), np.int64), np.empty(len(order), np.int64)
        starts[order] = sorted_times[firsts][number]
        ends[order] = sorted_times[lasts][number] + self._window.size
        return codes, starts, ends

    # -- sessions that are over --------------------------------------------------------------------------------------

    def process_watermark(self, timestamp: int) -> None:
        earliest = self._pending.earliest
        if earliest is not None and earliest <= timestamp:
            self._leave(timestamp)
        super().process_watermark(timestamp)

    def _leave(self, until: int) -> None:
        """Session by session in the order of their ends, rows of one as they came."""
        leaving: list[tuple[pa.RecordBatch, Integers, Integers]] = []

        def look(columns: pa.RecordBatch) -> Booleans:
            codes, starts, ends = self._sessions(columns)
            over = self._clock.moments(ends - 1) <= until
            places = np.flatnonzero(over)
            ordered = places[np.lexsort((places, codes[places], ends[places]))]
            leaving.append((columns.take(pa.array(ordered)), starts[ordered], ends[ordered]))
            return ~over

        self._pending.prune(look)
        self._pending.loaded()
        columns, starts, ends = leaving[0]
        if len(starts):
            properties = property_columns(starts, ends, self._clock, self._zoned)
            self.output.emit(self._output.batch([*columns.columns, *properties.values()], rows=len(starts)))

"""Aggregates over sessions: windows of a key that grow and merge while rows come within the gap."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from penstock.runtime.batch import Batch
from penstock.runtime.blueprint import OperatorBlueprint
from penstock.runtime.context import SubtaskContext
from penstock.runtime.key_columns import Integers, first_positions, keys_of_column, numbered
from penstock.runtime.key_layout import KeyLayout
from penstock.runtime.table.aggregates.calls import AggregateCalls
from penstock.runtime.table.aggregating import AggregatingOperator
from penstock.runtime.table.change_rows import signs_of
from penstock.runtime.table.codec import TableCodec
from penstock.runtime.table.kept_columns import KeptColumns
from penstock.runtime.table.keyed_slots import slot_table
from penstock.runtime.table.runs import Runs
from penstock.runtime.table.slots import SlotField
from penstock.runtime.table.window_aggregate import WindowAggregateParams
from penstock.runtime.table.window_times import WindowClock, is_zoned, millis, property_columns

_START, _END = "session.start", "session.end"
Session = tuple[int, int, int]  # start, end, and the start that it began with, which is its name


class SessionAggregateOperator(AggregatingOperator):
    """A session is a slot, found by its key and its name."""

    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        super().__init__(blueprint, context)
        self._params: WindowAggregateParams = blueprint.params["aggregate"]
        self._window = self._params.window
        self._input, self._output = TableCodec(self._params.input_type), TableCodec(blueprint.output_type)
        self._calls = AggregateCalls(self._params.calls, self._params.retracting)
        self._kept = KeptColumns([self._params.input_type.types[place] for place in self._params.keys])
        bounds = [SlotField(_START, np.int64, 0), SlotField(_END, np.int64, 0)]
        fields = [*self._calls.fields, *self._kept.fields, *bounds]
        self._table = slot_table(self, "_sessions", fields, self._calls.maps, KeyLayout.KEY_FIRST)
        self._open: dict[Any, list[Session]] = {}
        self._clock = WindowClock(self._window.zone)
        self._zoned = is_zoned(self._params.input_type.types[self._window.time_column])
        self._late = context.memory.metrics.counter("numLateRecordsDropped")

    def key_layout(self, table: str) -> KeyLayout:
        return KeyLayout.KEY_FIRST

    def loaded(self) -> None:
        self._open = {}
        slots = self._table.all_slots()
        starts, ends = self._table.column(_START)[slots].tolist(), self._table.column(_END)[slots].tolist()
        for (key, name), start, end in zip(self._table.keys_at(slots), starts, ends, strict=True):
            self._open.setdefault(key, []).append((start, end, name))

    # -- rows --------------------------------------------------------------------------------------------------

    def process(self, batch: Batch, input_index: int) -> None:
        times = self._times(batch)
        if self._window.event_time:
            known = self._input.arrays(batch)[self._window.time_column].is_valid().to_numpy(zero_copy_only=False)
            if not known.all():
                batch, times = batch.filter(known), times[known]
        # A row that comes after its own window can still join a session: for that its place in the order counts.
        suspects = np.flatnonzero(self._clock.moments(times + self._window.size - 1) <= self.watermark)
        cuts = np.unique(np.concatenate([[0], suspects, suspects + 1, [len(batch)]])).tolist()
        for start, end in zip(cuts, cuts[1:], strict=False):
            self._take(batch.slice(start, end), times[start:end])

    def _times(self, batch: Batch) -> Integers:
        if self._window.event_time:
            moments = millis(self._input.arrays(batch)[self._window.time_column])
        else:
            moments = np.full(len(batch), self.context.clock(), np.int64)
        return self._clock.wall(moments)

    def _take(self, batch: Batch, times: Integers) -> None:
        assert batch.key_column is not None
        codes, distinct = numbered(batch.key_column)
        keys = keys_of_column(distinct)
        order = np.lexsort((times, codes))
        sorted_codes, sorted_times = codes[order], times[order]
        apart = (sorted_codes[1:] != sorted_codes[:-1]) | (sorted_times[1:] - sorted_times[:-1] > self._window.size)
        firsts, lasts = np.flatnonzero(np.r_[True, apart]), np.flatnonzero(np.r_[apart, True])
        joined: list[tuple[Any, int] | None] = []  # key and name of the session of each piece
        for code, start, last in zip(
            sorted_codes[firsts].tolist(), sorted_times[firsts].tolist(), sorted_times[lasts].tolist(), strict=True
        ):
            joined.append(self._joined(keys[code], start, last + self._window.size))
        if joined == [None]:
            self._late.inc(len(batch))
            return
        names = dict.fromkeys(joined)
        place_of = {name: place for place, name in enumerate(names)}
        pieces = np.empty(len(times), np.int64)
        pieces[order] = np.repeat(np.array([place_of[name] for name in joined]), lasts - firsts + 1)
        self._accumulate(batch, pieces, list(names))

    def _joined(self, key: Any, start: int, end: int) -> tuple[Any, int] | None:
        """The session that a piece belongs to, after merging those that it touches; None if it is over already."""
        sessions = self._open.get(key, [])
        touching = [one for one in sessions if one[0] <= end and start <= one[1]]
        start, end = min([start, *(one[0] for one in touching)]), max([end, *(one[1] for one in touching)])
        if self._clock.over(end) <= self.watermark:
            return None
        name = touching[0][2] if touching else start
        merged = (start, end, name)
        self._open[key] = [*(one for one in sessions if one not in touching), merged]
        slot = self._table.slots_of([(key, name)])
        for other in touching[1:]:
            source = self._table.slots_of([(key, other[2])])
            self._calls.merge(self._table, slot, self._table, source)
            self._table.remove_slots(source)
        self._table.column(_START)[slot], self._table.column(_END)[slot] = start, end
        return key, name

    def _accumulate(self, batch: Batch, pieces: Integers, names: list[Any]) -> None:
        arrays, signs = self._input.arrays(batch), signs_of(batch.kinds)
        slots = self._table.slots_of(names)
        new = ~self._table.alive[slots]
        runs = Runs.by_slot(pieces, slots, new)
        self._calls.accumulate(self._table, runs, arrays, signs, len(batch))
        self._table.mark(slots)
        chosen = pa.array(first_positions(pieces)[new])
        self._kept.write(self._table, slots[new], [arrays[place].take(chosen) for place in self._params.keys])

    # -- sessions that are complete ------------------------------------------------------------------------------

    def process_watermark(self, timestamp: int) -> None:
        if self._window.event_time:
            self._advance(timestamp)
        super().process_watermark(timestamp)

    def advance_processing_time(self, now: int) -> None:
        if not self._window.event_time:
            self._advance(now)

    def next_processing_time(self) -> int | None:
        if self._window.event_time:
            return None
        ends = [end for sessions in self._open.values() for _, end, _ in sessions]
        return self._clock.over(min(ends)) if ends else None

    def finish(self) -> None:
        self._open = {}
        super().finish()

    def _advance(self, now: int) -> None:
        due: list[tuple[int, int, Any, int]] = []
        for key, sessions in list(self._open.items()):
            over = [one for one in sessions if self._clock.over(one[1]) <= now]
            if over:
                due.extend((end, start, key, name) for start, end, name in over)
                left = [one for one in sessions if one not in over]
                if left:
                    self._open[key] = left
                else:
                    del self._open[key]
        if not due:
            return
        due.sort(key=lambda one: one[:2])
        slots = self._table.slots_of([(key, name) for _, _, key, name in due])
        starts = np.array([start for _, start, _, _ in due], np.int64)
        ends = np.array([end for end, _, _, _ in due], np.int64)
        properties = property_columns(starts, ends, self._clock, self._zoned)
        keys = self._kept.read(self._table, slots)
        leading = [properties[one] if isinstance(one, str) else keys[one] for one in self._params.outputs]
        values = self._calls.values(self._table, slots)
        self._table.remove_slots(slots)
        self.output.emit(self._output.batch([*leading, *values], rows=len(due)))

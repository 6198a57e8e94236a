"""Aggregates over sessions: windows of a key that grow and merge while rows come within the gap.

A batch is cut into pieces, stretches of rows of one key without a gap; pieces and the open sessions of their keys are
intervals that are joined where they touch, all keys at once.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from penstock.runtime.batch import MIN_TIMESTAMP, Batch
from penstock.runtime.blueprint import OperatorBlueprint
from penstock.runtime.context import SubtaskContext
from penstock.runtime.intervals import Intervals
from penstock.runtime.key_columns import Integers, first_positions, integers_as_column, numbered
from penstock.runtime.key_layout import KeyLayout
from penstock.runtime.table.aggregates.calls import AggregateCalls
from penstock.runtime.table.aggregating import AggregatingOperator
from penstock.runtime.table.change_rows import signs_of
from penstock.runtime.table.codec import TableCodec
from penstock.runtime.table.kept_columns import KeptColumns
from penstock.runtime.table.keyed_slots import slot_table
from penstock.runtime.table.open_sessions import Mask, OpenSessions
from penstock.runtime.table.runs import Runs
from penstock.runtime.table.slots import SlotField, column_of_row_keys
from penstock.runtime.table.window_aggregate import WindowAggregateParams
from penstock.runtime.table.window_times import WindowClock, is_zoned, millis, property_columns

_START, _END = "session.start", "session.end"


class SessionAggregateOperator(AggregatingOperator):
    """A session is a slot, found by its key and its name, which is the start that it began with."""

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
        self._open = OpenSessions()
        self._generation = 0  # of the table, of which the open sessions were made
        self._earliest: int | None = None  # no session is over before this moment
        self._finished = False
        self._clock = WindowClock(self._window.zone)
        self._zoned = is_zoned(self._params.input_type.types[self._window.time_column])
        self._late = context.memory.metrics.counter("numLateRecordsDropped")

    def key_layout(self, table: str) -> KeyLayout:
        return KeyLayout.KEY_FIRST

    def loaded(self) -> None:
        self._generation = 0

    def _sessions(self) -> OpenSessions:
        if self._generation != self._table.generation:
            self._generation, self._open = self._table.generation, OpenSessions()
            slots = self._table.all_slots()
            if len(slots):
                numbers = self._open.add(column_of_row_keys([key for key, _ in self._table.keys_at(slots)]))
                self._open.put(numbers, numbers, slots)
            self._earliest = self._first_moment(self._table.column(_END)[slots])
        return self._open

    def _first_moment(self, ends: Integers) -> int | None:
        return int(self._clock.moments(ends - 1).min()) if len(ends) else None

    # -- rows --------------------------------------------------------------------------------------------------

    def process(self, batch: Batch, input_index: int) -> None:
        times = self._times(batch)
        if self._window.event_time:
            known = self._input.arrays(batch)[self._window.time_column].is_valid().to_numpy(zero_copy_only=False)
            if not known.all():
                batch, times = batch.filter(known), times[known]
        late = self._clock.moments(times + self._window.size - 1) <= self._passed
        if late.any():
            kept = ~self._hopeless(batch, late)
            self._late.inc(len(batch) - int(np.count_nonzero(kept)))
            batch, times, late = batch.filter(kept), times[kept], late[kept]
        # A row that comes after its own window can still join a session: for that its place in the order counts.
        suspects = np.flatnonzero(late)
        cuts = np.unique(np.concatenate([[0], suspects, suspects + 1, [len(batch)]])).tolist()
        for start, end in zip(cuts, cuts[1:], strict=False):
            self._take(batch.slice(start, end), times[start:end])

    @property
    def _passed(self) -> int:
        """What is over by this moment is late."""
        return self.watermark if self._window.event_time else MIN_TIMESTAMP

    def _hopeless(self, batch: Batch, late: Mask) -> Mask:
        """Which late rows can join no session, as their keys have none."""
        assert batch.key_column is not None
        codes, distinct = numbered(batch.key_column)
        joinable = self._sessions().have_some(distinct)
        joinable[codes[~late]] = True
        return late & ~joinable[codes]

    def _times(self, batch: Batch) -> Integers:
        if self._window.event_time:
            moments = millis(self._input.arrays(batch)[self._window.time_column])
        else:
            moments = np.full(len(batch), self.context.clock(), np.int64)
        return self._clock.wall(moments)

    def _take(self, batch: Batch, times: Integers) -> None:
        assert batch.key_column is not None
        codes, distinct = numbered(batch.key_column)
        order = np.lexsort((times, codes))
        sorted_codes, sorted_times = codes[order].astype(np.int64), times[order]
        apart = (sorted_codes[1:] != sorted_codes[:-1]) | (sorted_times[1:] - sorted_times[:-1] > self._window.size)
        firsts, lasts = np.flatnonzero(np.r_[True, apart]), np.flatnonzero(np.r_[apart, True])
        pieces = Intervals(sorted_codes[firsts], sorted_times[firsts], sorted_times[lasts] + self._window.size)
        slots, of_piece = self._joined(pieces, distinct)
        if not len(slots):
            self._late.inc(len(batch))
            return
        of_row = np.empty(len(times), np.int64)
        of_row[order] = np.repeat(of_piece, lasts - firsts + 1)
        self._accumulate(batch, of_row, slots)

    def _joined(self, pieces: Intervals, distinct: pa.Array) -> tuple[Integers, Integers]:
        """The slots of sessions, those that a piece touches merged into one; and for each piece which of them it is in.

        No slots if the session is over already, which can happen to a single row only.
        """
        table, sessions = self._table, self._sessions()
        numbers = sessions.add(distinct)
        owners, known = sessions.of_keys(numbers)
        starts, ends = table.column(_START)[known], table.column(_END)[known]
        everything = Intervals(*(np.concatenate(both) for both in zip(pieces, (owners, starts, ends), strict=True)))
        part_of, joined = everything.joined()
        touched, of_piece = np.unique(part_of[: len(pieces.keys)], return_inverse=True)
        ends = joined.ends[touched]
        moments = self._clock.moments(ends - 1)
        if len(touched) == 1 and moments[0] <= self._passed:
            return touched[:0], of_piece
        slots = np.full(len(joined.keys), -1, np.int64)
        if len(known):
            self._merge(part_of[len(pieces.keys) :], known, starts, slots)
        new = np.flatnonzero(slots < 0)
        names = [distinct.take(integers_as_column(joined.keys[new])), integers_as_column(joined.starts[new])]
        slots[new] = table.slots_of_column(pa.StructArray.from_arrays(names, ["f0", "f1"]))
        own = slots[touched]
        table.column(_START)[own], table.column(_END)[own] = joined.starts[touched], ends
        sessions.put(numbers, numbers[joined.keys], slots)
        earliest = int(moments.min())
        self._earliest = earliest if self._earliest is None else min(earliest, self._earliest)
        return own, of_piece

    def _merge(self, part_of: Integers, known: Integers, starts: Integers, slots: Integers) -> None:
        """Several open sessions that are one now become the first of them; `slots` gets the slot of each joined one."""
        order = np.lexsort((starts, part_of))
        part_of, known = part_of[order], known[order]
        first = np.flatnonzero(np.r_[True, part_of[1:] != part_of[:-1]])
        slots[part_of[first]] = known[first]
        rank = np.arange(len(known)) - np.repeat(first, np.diff(np.r_[first, len(known)]))
        for place in range(1, int(rank.max()) + 1):
            of_rank = rank == place
            self._calls.merge(self._table, slots[part_of[of_rank]], self._table, known[of_rank])
        if rank.any():
            self._table.remove_slots(known[rank > 0])

    def _accumulate(self, batch: Batch, of_row: Integers, slots: Integers) -> None:
        arrays, signs = self._input.arrays(batch), signs_of(batch.kinds)
        new = ~self._table.alive[slots]
        runs = Runs.by_slot(of_row, slots, new)
        self._calls.accumulate(self._table, runs, arrays, signs, len(batch))
        self._table.mark(slots)
        chosen = pa.array(first_positions(of_row)[new])
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
        if self._window.event_time or self._finished:
            return None
        self._sessions()
        return self._earliest

    def finish(self) -> None:
        self._finished = True  # what waits for the clock is dropped at the end, as in Flink
        super().finish()

    def _advance(self, now: int) -> None:
        sessions = self._sessions()
        if self._earliest is None or self._earliest > now:
            return
        slots = self._table.all_slots()
        ends = self._table.column(_END)[slots]
        over = self._clock.moments(ends - 1) <= now
        self._earliest = self._first_moment(ends[~over])
        slots, ends = slots[over], ends[over]
        if not len(slots):
            return
        starts = self._table.column(_START)[slots]
        order = np.lexsort((starts, ends))
        slots, starts, ends = slots[order], starts[order], ends[order]
        sessions.remove(slots)
        properties = property_columns(starts, ends, self._clock, self._zoned)
        keys = self._kept.read(self._table, slots)
        leading = [properties[one] if isinstance(one, str) else keys[one] for one in self._params.outputs]
        values = self._calls.values(self._table, slots)
        self._table.remove_slots(slots)
        self.output.emit(self._output.batch([*leading, *values], rows=len(slots)))

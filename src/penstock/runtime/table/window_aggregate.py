"""Aggregates over windows: accumulators by key and slice, put together when a window is complete.

The slices of a window are those that runtime/windows cuts; here a slice of a key is a slot of columns, so that rows
of a batch are taken in at once, and what several windows share is computed once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from penstock.columns.typed.nodes import Aggregate
from penstock.runtime.batch import MAX_TIMESTAMP, MIN_TIMESTAMP, Batch
from penstock.runtime.blueprint import OperatorBlueprint
from penstock.runtime.context import SubtaskContext
from penstock.runtime.key_columns import Integers, first_positions
from penstock.runtime.key_layout import KeyLayout
from penstock.runtime.table.aggregates.calls import AggregateCalls
from penstock.runtime.table.aggregating import AggregatingOperator
from penstock.runtime.table.change_rows import signs_of
from penstock.runtime.table.codec import TableCodec
from penstock.runtime.table.kept_columns import KeptColumns
from penstock.runtime.table.keyed_slots import slot_table
from penstock.runtime.table.row_type import TableRowType
from penstock.runtime.table.runs import Runs
from penstock.runtime.table.slots import SlotField, SlotTable
from penstock.runtime.table.window_times import (
    WindowClock,
    WindowParams,
    is_zoned,
    millis,
    property_columns,
    slices_of,
)
from penstock.runtime.windows.slices import SliceNumbers, Slices, Span

_START, _END = "slice.start", "slice.end"


@dataclass(frozen=True)
class WindowAggregateParams:
    """`keys` are columns of the input; `outputs` says for each leading column of the result which key (a place in keys)
    or which property of the window it is."""

    input_type: TableRowType
    keys: tuple[int, ...]
    calls: tuple[Aggregate, ...]
    window: WindowParams
    outputs: tuple[int | str, ...]
    retracting: bool = False


class WindowAggregateOperator(AggregatingOperator):
    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        super().__init__(blueprint, context)
        self._params: WindowAggregateParams = blueprint.params["aggregate"]
        window = self._params.window
        self._input, self._output = TableCodec(self._params.input_type), TableCodec(blueprint.output_type)
        self._calls = AggregateCalls(self._params.calls, self._params.retracting)
        self._kept = KeptColumns([self._params.input_type.types[place] for place in self._params.keys])
        fields = [
            *self._calls.fields, *self._kept.fields, SlotField(_START, np.int64, 0), SlotField(_END, np.int64, 0)
        ]  # fmt: skip
        self._table = slot_table(self, "_slices", fields, self._calls.maps, KeyLayout.KEY_FIRST)
        self._slices: Slices | None = None if window.attached is not None else slices_of(window)
        self._numbers = None if self._slices is None else SliceNumbers(self._slices)
        self._clock = WindowClock(window.zone)
        time = window.time_column if window.attached is None else window.attached[1]
        self._zoned = is_zoned(self._params.input_type.types[time]) or window.zone is not None
        self._late = context.memory.metrics.counter("numLateRecordsDropped")
        self._progress = MIN_TIMESTAMP  # of the clock by which windows are complete
        self._next_end: int | None = None  # of a window that waits for the clock
        self._known: set[Span] | None = None  # the slices that some key has; None: the table has other contents now

    def key_layout(self, table: str) -> KeyLayout:
        return KeyLayout.KEY_FIRST

    # -- rows --------------------------------------------------------------------------------------------------

    def process(self, batch: Batch, input_index: int) -> None:
        batch = self._on_time(batch)
        if not len(batch):
            return
        arrays, signs = self._input.arrays(batch), signs_of(batch.kinds)
        starts, ends = self._spans(arrays, len(batch))
        key_column = batch.key_column
        assert key_column is not None
        keys = pa.StructArray.from_arrays([key_column, pa.array(starts)], ["f0", "f1"])
        placed = self._table.place(keys)
        new = ~self._table.alive[placed.slots]
        runs = Runs.by_slot(placed.codes, placed.slots, new)
        self._calls.accumulate(self._table, runs, arrays, signs, len(batch))
        self._table.mark(placed.slots)
        if new.any():
            first = first_positions(placed.codes)[new]
            slots = placed.slots[new]
            self._table.column(_START)[slots] = starts[first]
            self._table.column(_END)[slots] = ends[first]
            chosen = pa.array(first)
            self._kept.write(self._table, slots, [arrays[place].take(chosen) for place in self._params.keys])
            self._note(starts[first], ends[first])
        if not self._params.window.event_time:
            self._note_next()

    def _spans(self, arrays: Sequence[pa.Array], count: int) -> tuple[Integers, Integers]:
        """The slice of each row."""
        window = self._params.window
        if window.attached is not None:
            return millis(arrays[window.attached[0]]), millis(arrays[window.attached[1]])
        assert self._slices is not None and self._numbers is not None
        if window.event_time:
            times = self._clock.wall(millis(arrays[window.time_column]))
        else:
            times = self._clock.wall(np.full(count, self.context.clock(), np.int64))
        numbers = self._numbers.all_of(times)
        assert numbers is not None
        starts = numbers * self._slices.length + self._slices.offset % self._slices.length
        return starts, starts + self._slices.length

    def _on_time(self, batch: Batch) -> Batch:
        """Without the rows whose windows are all complete, and those without a time."""
        window = self._params.window
        if not window.event_time:
            return batch
        arrays = self._input.arrays(batch)
        column = arrays[window.time_column if window.attached is None else window.attached[1]]
        if column.null_count:
            batch = batch.filter(column.is_valid().to_numpy(zero_copy_only=False))
            arrays = self._input.arrays(batch)
            if not len(batch):
                return batch
        starts, ends = self._spans(arrays, len(batch))
        distinct, codes = np.unique(starts if window.attached is None else ends, return_inverse=True)
        late = np.array([self._last(int(span)) <= self.watermark for span in distinct.tolist()])[codes]
        if not late.any():
            return batch
        self._late.inc(int(np.count_nonzero(late)))
        return batch.filter(~late)

    def _last(self, span: int) -> int:
        """When the last window with this slice (told by its start, or by the window's end) is complete."""
        return self._clock.over(span if self._slices is None else self._slices.last_window(span)[1])

    # -- windows that are complete ---------------------------------------------------------------------------------

    def process_watermark(self, timestamp: int) -> None:
        if self._params.window.event_time:
            self._advance(self.watermark, timestamp)
        super().process_watermark(timestamp)

    def advance_processing_time(self, now: int) -> None:
        if not self._params.window.event_time and self._next_end is not None and now >= self._next_end:
            self._advance(self._progress, now)
            self._progress = now
            self._note_next()

    def next_processing_time(self) -> int | None:
        return self._next_end

    def _note_next(self) -> None:
        ends = [self._clock.over(window[1]) for window in self._windows()]
        self._next_end = min((end for end in ends if end > self._progress), default=None)

    def finish(self) -> None:
        self._next_end = None  # what waits for the clock is dropped at the end, as in Flink
        super().finish()

    def _spans_with_rows(self) -> set[Span]:
        """Few, and asked for at every watermark; the slots are many."""
        if self._known is None:
            self._known = set()
            slots = self._table.all_slots()
            self._note(self._table.column(_START)[slots], self._table.column(_END)[slots])
        return self._known

    def _note(self, starts: Integers, ends: Integers) -> None:
        if self._known is not None:
            ends, places = np.unique(ends, return_index=True) if self._slices is not None else (ends, slice(None))
            self._known.update(zip(starts[places].tolist(), ends.tolist(), strict=True))

    def _windows(self) -> set[Span]:
        """All windows that cover some slice."""
        spans = self._spans_with_rows()
        if self._slices is None:
            return spans
        return {window for start, _ in spans for window in self._slices.windows(start)}

    def _advance(self, before: int, now: int) -> None:
        over = {window: self._clock.over(window[1]) for window in self._windows()}
        due = sorted((window for window, moment in over.items() if before < moment <= now), key=lambda span: span[::-1])
        if not over or not (due or now == MAX_TIMESTAMP):
            return
        slots = self._table.all_slots()
        starts, ends = self._table.column(_START)[slots], self._table.column(_END)[slots]
        for window in due:
            inside = (starts >= window[0]) & (ends <= window[1])
            if inside.any():
                self._emit(window, slots[inside], starts[inside])
        self._remove_finished(slots, starts if self._slices is not None else ends, now)

    def _remove_finished(self, slots: Integers, spans: Integers, now: int) -> None:
        distinct, codes = np.unique(spans, return_inverse=True)
        finished = np.array([self._last(int(span)) <= now for span in distinct.tolist()])[codes]
        self._table.remove_slots(slots[finished])
        place = 0 if self._slices is not None else 1
        self._known = {span for span in self._spans_with_rows() if self._last(span[place]) > now}

    def _emit(self, window: Span, slots: Integers, starts: Integers) -> None:
        if len(np.unique(starts)) == 1:
            firsts = slots
            values = self._calls.values(self._table, slots)
        else:
            merged, firsts = self._merged(slots, starts)
            values = self._calls.values(merged, np.arange(len(firsts)))
        keys, count = self._kept.read(self._table, firsts), len(firsts)
        times = [np.full(count, bound, np.int64) for bound in window]
        properties = property_columns(times[0], times[1], self._clock, self._zoned)
        leading = [properties[one] if isinstance(one, str) else keys[one] for one in self._params.outputs]
        self.output.emit(self._output.batch([*leading, *values], rows=count))

    def _merged(self, slots: Integers, starts: Integers) -> tuple[SlotTable, Integers]:
        """The slices of each key as one, and for each key the slot of one of them."""
        numbers: dict[Any, int] = {}
        codes = np.array([numbers.setdefault(key, len(numbers)) for key, _ in self._table.keys_at(slots)], np.int64)
        merged = SlotTable(self._calls.fields, self._calls.maps)
        places = merged.slots_of(np.arange(len(numbers)))  # type: ignore[arg-type]
        for start in np.unique(starts).tolist():
            of_slice = starts == start
            self._calls.merge(merged, places[codes[of_slice]], self._table, slots[of_slice])
        return merged, slots[first_positions(codes)]

    # -- what it remembers ---------------------------------------------------------------------------------------

    def extra(self) -> Any:
        return None if self._params.window.event_time else self._progress

    def restore_extra(self, extra: Any) -> None:
        self._progress = extra

    def take_over_extras(self, extras: dict[int, Any], old_parallelism: int) -> None:
        self._progress = max(extras.values(), default=MIN_TIMESTAMP)

    def loaded(self) -> None:
        self._known = None
        if not self._params.window.event_time:
            self._note_next()

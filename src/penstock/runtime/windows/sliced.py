"""Tumbling, sliding and cumulative event-time windows with the default trigger: no timers, whole batches at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from penstock.common.errors import ProgramError
from penstock.functions.state_descriptors import ListStateDescriptor, ValueStateDescriptor
from penstock.functions.window_types import TimeWindow
from penstock.runtime.batch import MIN_TIMESTAMP, Batch, Integers
from penstock.runtime.key_layout import KeyLayout
from penstock.runtime.ownership import copied
from penstock.runtime.state.disk_tables import DiskTables
from penstock.runtime.state.table import ABSENT, MapTable
from penstock.runtime.windows.column_folding import ColumnFolding, Part
from penstock.runtime.windows.cutting import by_number, distinct, neighbours, runs
from penstock.runtime.windows.saved_contents import ACCUMULATORS, ELEMENTS, SLICES, Slot
from penstock.runtime.windows.slices import Schedule, SliceNumbers, Slices, Span
from penstock.runtime.windows.span_table import ElementTable, SliceTable, SpanTable

if TYPE_CHECKING:
    from penstock.runtime.windows.operator import WindowOperator

_SLICES_PER_WINDOW_OF_A_SLICE = 4  # with more of them, merging slices costs more than adding to windows


class SlicedWindows:
    """The index of windows that are unions of slices.

    A function whose results do not depend on how elements are grouped and ordered is folded once per slice, and a
    window that fires is the union of its slices. Any other one is folded into each window in order of arrival.
    """

    def __init__(self, operator: WindowOperator, slices: Slices) -> None:
        self._operator = operator
        self._slices = slices
        self._numbers = SliceNumbers(slices)
        self._folding = folding = operator.folding
        self._columns = ColumnFolding.of(folding)
        self.takes_slices = (
            folding is not None
            and folding.mergeable
            and 1 < slices.per_window <= _SLICES_PER_WINDOW_OF_A_SLICE * slices.windows_per_slice
            and slices.windows_per_slice > 1
        )
        self.form = "slices" if self.takes_slices else "windows"
        self._schedule = Schedule(operator.settings.allowed_lateness)
        self._windows: Any = self._table(ACCUMULATORS, SpanTable)
        self._parts: Any = self._table(SLICES, SliceTable) if self.takes_slices else self._windows

    def _table(self, name: str, shape: type[SpanTable]) -> Any:
        backend, folding = self._operator.backend, self._folding
        if folding is None:
            return backend.table(ELEMENTS, ListStateDescriptor, lambda disk: ElementTable())

        def make(disk: DiskTables | None) -> SpanTable:
            rows: Any = MapTable() if disk is None else disk.make(MapTable, name, KeyLayout.INSIDE)
            return shape(rows, disk is not None, folding, self._columns)

        return backend.table(name, ValueStateDescriptor, make)

    # -- elements ----------------------------------------------------------------------------------------------

    def add(self, batch: Batch) -> None:
        times = batch.times
        numbers = None if times is None else self._numbers.all_of(times)
        if times is None or numbers is None:
            raise ProgramError(
                f"{type(self._operator.settings.assigner).__name__} got an element without timestamp: call "
                "assign_timestamps_and_watermarks(...) with a timestamp assigner before the window, "
                "or use processing-time windows"
            )
        orders = np.arange(len(batch)) + self._operator.arrived
        self._operator.arrived += len(batch)
        old = numbers <= self._newest_old()
        if self._slices.has_gaps:  # there a record is late by its own time
            old |= times <= self._operator.watermark
        if not old.any():
            self._add_new(batch, numbers, orders)
        elif self._slices.per_window > 1:
            self._add_runs(neighbours(batch, numbers), orders)
        else:
            # Windows that fire with each record, and the late output, are interested in the order between windows.
            self._add_runs(neighbours(batch.filter(old), numbers[old]), orders[old])
            new = np.flatnonzero(~old)
            if len(new):
                self._add_new(batch.take(new), numbers[new], orders[new])

    def _newest_old(self) -> int:
        """The last slice that the watermark has passed: some window of it may have fired."""
        return max(self._numbers.of(self._operator.watermark + 1) - 1, MIN_TIMESTAMP)

    def _add_new(self, batch: Batch, numbers: Integers, orders: Integers) -> None:
        """Adds records none of whose windows has fired."""
        part = None if self._columns is None else self._columns.part(batch, orders)
        if not self.takes_slices and self._slices.per_window > 1:
            self._add_to_windows(batch, part, numbers)
            return
        order = by_number(numbers)
        if order is not None:
            numbers, orders = numbers[order], orders[order]
            if part is None:
                batch = _rows(batch).take(order)
            else:
                part = part.take(pa.array(order))
        for number, start, end in runs(numbers):
            windows = self._slices.windows(self._numbers.start(number))
            self._open(windows)
            for span in self._spans(number, windows):
                if part is not None:
                    self._parts.add_columns(span, part.slice(start, end - start))
                else:
                    run = batch if order is None else batch.slice(start, end)
                    self._add_rows(span, run, orders[start:end])

    def _add_to_windows(self, batch: Batch, part: Part | None, numbers: Integers) -> None:
        """To each window its records in order of arrival, from whatever slices they are."""
        starts = map(self._numbers.start, distinct(numbers))
        for window in sorted({window for start in starts for window in self._slices.windows(start)}):
            self._open([window])
            first, last = self._numbers.of(window[0]), self._numbers.of(window[1])
            inside = (numbers >= first) & (numbers < last)
            whole = bool(inside.all())
            if part is not None:
                self._windows.add_columns(window, part if whole else part.filter(pa.array(inside)))
            else:
                run = batch if whole else _rows(batch).filter(inside)
                self._windows.add_rows(window, run.keys, run.values, repeat(0))

    def _add_rows(self, span: Span, run: Batch, orders: Integers) -> None:
        numbers: Iterable[int] = orders.tolist() if self.takes_slices else repeat(0)
        self._parts.add_rows(span, run.keys, run.values, numbers)

    def _spans(self, number: int, windows: list[Span]) -> list[Span]:
        """Where the records of a slice are kept."""
        if not self.takes_slices or not windows:
            return windows
        start = self._numbers.start(number)
        return [(start, start + self._slices.length)]

    def _open(self, windows: Iterable[Span]) -> None:
        for window in windows:
            self._schedule.open(window, self._operator.watermark)

    def _add_runs(self, found: Iterator[tuple[int, Batch]], orders: Integers) -> None:
        """Adds records in order of arrival, of which some belong to windows that have fired or ended."""
        position = 0
        for number, run in found:
            self._add_run(number, run, orders[position : position + len(run)])
            position += len(run)
        self._operator.late.flush()
        self._operator.evaluation.results.flush(True)

    def _add_run(self, number: int, run: Batch, orders: Integers) -> None:
        watermark, start = self._operator.watermark, self._numbers.start(number)
        windows = [window for window in self._slices.windows(start) if self._schedule.end_of(window) > watermark]
        if not windows:
            self._add_late(run)
            return
        self._open(windows)
        fired = [window for window in windows if window[1] - 1 <= watermark]
        step = 1 if fired else len(run)
        for position in range(0, len(run), step):
            records = run.slice(position, position + step)
            for span in self._spans(number, windows):
                self._add_rows(span, records, orders[position : position + step])
            for window in fired:
                assert records.keys is not None and records.timestamps is not None
                self._evaluate(window, records.keys[0], records.timestamps[0])

    def _add_late(self, run: Batch) -> None:
        """Records that no open window takes: those that are not late never had a window."""
        operator = self._operator
        newest = operator.watermark - operator.settings.allowed_lateness
        assert run.timestamps is not None
        for value, timestamp in zip(run.values, run.timestamps, strict=True):
            if timestamp <= newest:
                operator.late.add(value, timestamp)

    # -- contents of windows -----------------------------------------------------------------------------------

    def _spans_of(self, window: Span) -> list[tuple[Any, Span]]:
        """Tables and spans that make up a window: what it has for itself, then its slices."""
        found: list[tuple[Any, Span]] = [(self._windows, window)] if window in self._windows else []
        if self.takes_slices and self._slices.has(window):
            length = self._slices.length
            slices = ((start, start + length) for start in range(window[0], window[1], length))
            found += [(self._parts, span) for span in slices if span in self._parts]
        return found

    def _part(self, window: Span) -> Part | None:
        """The accumulators of a window in columns; None if some of them are rows."""
        parts: list[Part] = []
        for table, span in self._spans_of(window):
            held = table.part(span)
            if held is None:
                return None
            parts += held
        if not parts or any(part.schema != parts[0].schema for part in parts):
            return None
        assert self._columns is not None
        folded = self._columns.fold(parts)
        return None if folded is None else folded[0]

    def _entries(self, window: Span) -> Mapping[Any, Any]:
        """Key -> accumulator or elements, not to be changed."""
        parts = [table.entries(span) for table, span in self._spans_of(window)]
        return self._folding.union(parts) if self._folding is not None and parts else parts[0] if parts else {}

    def _evaluate(self, window: Span, key: Any, timestamp: int) -> None:
        held: Any = ABSENT
        for table, span in self._spans_of(window):
            part = table.entries(span).get(key, ABSENT)
            if part is not ABSENT:
                held = part if held is ABSENT else self._folding.merge_copies(held, part)  # type: ignore[union-attr]
        self._operator.evaluation.evaluate((key, window), TimeWindow(*window), self._contents(held), timestamp)

    def _contents(self, held: Any) -> Iterable[Any]:
        # Elements are copied: a generator of the user may still run when the next element comes.
        return held.copy() if self._folding is None else (self._folding.result(held),)

    # -- time --------------------------------------------------------------------------------------------------

    def advance(self, watermark: int) -> None:
        for due in self._schedule.take_due(watermark):
            if due.fires:
                self._fire(due.window, due.moment)
            if due.ends:
                self._end(due.window, due.moment)
        self._operator.evaluation.results.flush(True)

    def _fire(self, window: Span, timestamp: int) -> None:
        evaluation, columns = self._operator.evaluation, self._columns
        part = None if columns is None else self._part(window)
        if part is not None and evaluation.passes_through:
            assert columns is not None
            evaluation.results.flush(True)
            self._operator.output.emit(columns.results(part, np.full(len(part), timestamp)))
            return
        entries = self._entries(window) if part is None else dict(columns.entries(part))  # type: ignore[union-attr]
        if self._folding is not None and (evaluation.passes_through or evaluation.adds_key):
            values = self._folding.results(entries.values())
            if self._operator.keeps_given:
                values = list(map(copied, values))
            evaluation.results.values += zip(entries, values, strict=True) if evaluation.adds_key else values
            evaluation.results.timestamps += [timestamp] * len(values)
            return
        user_window = TimeWindow(*window)
        for key, held in entries.items():
            evaluation.evaluate((key, window), user_window, self._contents(held), timestamp)

    def _end(self, window: Span, moment: int) -> None:
        evaluation = self._operator.evaluation
        if evaluation.clears:
            user_window = TimeWindow(*window)
            for key in list(self._entries(window)):
                evaluation.clear((key, window), user_window)
        for table, span in self._spans_of(window):
            # The watermark may be further on: other windows of the slice are due in this round, too.
            if table is self._windows or self._schedule.end_of(self._slices.last_window(span[0])) <= moment:
                table.remove(span)

    # -- snapshots ---------------------------------------------------------------------------------------------

    def reloaded(self) -> None:
        """State came from a snapshot."""
        watermark, windows = self._operator.watermark, set(self._windows.base)
        if self.takes_slices:
            for start, _ in self._parts.base:
                windows.update(w for w in self._slices.windows(start) if self._schedule.end_of(w) > watermark)
        self._schedule.rebuild(sorted(windows), watermark)

    def get(self, slot: Slot) -> Any:
        return self._windows.entries(slot[1]).get(slot[0], ABSENT)

    def put(self, slot: Slot, content: Any) -> None:
        self._windows.put(slot[1], slot[0], content)

    def put_slice(self, slot: Slot, accumulator: Any) -> None:
        self._parts.put(slot[1], slot[0], accumulator)

    def restored(self, timed: set[Slot], merged: dict[Slot, Any]) -> None:
        self.reloaded()


def _rows(batch: Batch) -> Batch:
    """Without its columns: they need not be cut where only rows are used."""
    return Batch(batch.values, batch.timestamps, batch.keys)

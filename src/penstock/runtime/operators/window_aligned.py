"""Event-time windows of one size with the default trigger: the common case, made fast.

Tables are ordered by window and then by key, so that a batch looks its window up once, a window ends with one
removal for all keys, and no timer is needed per key.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from penstock.common.errors import ProgramError
from penstock.functions.state_descriptors import MapStateDescriptor
from penstock.functions.window_types import TimeWindow
from penstock.runtime.batch import MIN_TIMESTAMP, Batch, Integers
from penstock.runtime.blueprint import OperatorBlueprint
from penstock.runtime.context import SubtaskContext
from penstock.runtime.operators.window import WindowedOperator
from penstock.runtime.operators.window_changes import WindowTable
from penstock.runtime.operators.window_columns import GatheredColumns
from penstock.runtime.operators.window_folding_base import Folding
from penstock.runtime.operators.window_granules import (
    Granules,
    distinct,
    grouped,
    neighbours,
)
from penstock.runtime.operators.window_schedule import WindowSchedule

_WINDOWS_PER_COLUMN = 8  # columns are grouped once for each window; with more of them panes are cheaper


class AlignedWindowOperator(WindowedOperator):
    """Cuts batches into runs of one granule and lets windows fire by the watermark alone."""

    WINDOWS = "_windows"

    folding: Folding

    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        super().__init__(blueprint, context)
        assigner = self.settings.assigner
        self._size: int = assigner._size
        self._offset: int = assigner._offset
        self._slide: int = getattr(assigner, "_slide", self._size)
        self.granules = Granules(self._size, self._slide, self._offset)
        self._lateness = self.settings.allowed_lateness
        self.windows = WindowTable(self.backend.table(self.WINDOWS, MapStateDescriptor))
        self.schedule = WindowSchedule(self._size, self._lateness)
        self._gathered: GatheredColumns | None = None
        if GatheredColumns.serves(self.folding) and self._size // self._slide <= _WINDOWS_PER_COLUMN:
            self._gathered = GatheredColumns(self.folding, self.granules)

    # -- elements ----------------------------------------------------------------------------------------------

    def process(self, batch: Batch, input_index: int) -> None:
        if not len(batch):
            return
        if self._gathered is not None:
            if batch.columns is not None and self.gather(batch):
                return
            self._gathered.merge(self.windows)
        self.add_batch(batch, self._granules_of(batch))
        self.evaluation.results.flush(True)
        self.late.flush()

    def _granules_of(self, batch: Batch) -> Integers:
        numbers = self.granules.numbers(batch)
        if numbers is None:
            raise ProgramError(
                f"{type(self.settings.assigner).__name__} got an element without timestamp: call "
                "assign_timestamps_and_watermarks(...) with a timestamp assigner before the window, "
                "or use processing-time windows"
            )
        return numbers

    def add_batch(self, batch: Batch, numbers: Integers) -> None:
        """Cuts a batch into runs, in an order that no window can tell from the order of arrival."""
        if self.granules.length < self._size:
            self._add_runs(neighbours(batch, numbers))  # a window has several granules
            return
        old = numbers <= self._newest_old()
        if not old.any():
            self._add_runs(grouped(batch, numbers))
            return
        # Windows that fire with each record, and the late output, are interested in the order between windows.
        positions = np.flatnonzero(old)
        self._add_runs(neighbours(batch.take(positions), numbers[positions]))
        positions = np.flatnonzero(~old)
        if len(positions):
            self._add_runs(grouped(batch.take(positions), numbers[positions]))

    def _add_runs(self, runs: Iterator[tuple[int, Batch]]) -> None:
        for number, run in runs:
            self.add_run(self.granules.start(number), run)

    def _newest_old(self) -> int:
        """The last granule that the watermark has passed."""
        return max(self.granules.of(self.watermark + 1) - 1, MIN_TIMESTAMP)

    def all_new(self, numbers: Integers) -> bool:
        """Whether no window of these granules has fired."""
        return int(numbers.min()) > self._newest_old()

    def add_run(self, start: int, run: Batch) -> None:
        raise NotImplementedError

    def windows_of(self, pane: int) -> list[int]:
        """Starts of the windows that cover a granule and have not ended, the latest first as assigners give them."""
        latest = pane - (pane - self._offset) % self._slide
        earliest = pane + self.granules.length - self._size
        return [
            start for start in range(latest, earliest - 1, -self._slide) if self.schedule.end_of(start) > self.watermark
        ]

    def add_late(self, run: Batch) -> None:
        """Elements that no open window takes: late ones go to the late output, others had no window at all."""
        assert run.timestamps is not None
        for value, timestamp in zip(run.values, run.timestamps, strict=True):
            if timestamp + self._lateness <= self.watermark:
                self.late.add(value, timestamp)

    # -- columns -----------------------------------------------------------------------------------------------

    def gather(self, batch: Batch) -> bool:
        """Keeps the columns if none of their windows has fired; else their records go one by one."""
        assert self._gathered is not None
        if batch.key_column is None:
            return False
        numbers = self._granules_of(batch)
        if not self.all_new(numbers):
            return False
        windows = {window for n in distinct(numbers) for window in self.windows_of(self.granules.start(n))}
        for window in windows:
            self.schedule.open(window, self.watermark)
        if windows:
            self._gathered.add(batch, numbers, windows)
        if self._gathered.full:
            self._gathered.merge(self.windows)
        return True

    def end_epoch(self) -> None:
        if self._gathered is not None:
            self._gathered.merge(self.windows)
        super().end_epoch()
        self.windows.note_changes()

    # -- time --------------------------------------------------------------------------------------------------

    def process_watermark(self, timestamp: int) -> None:
        if self._gathered is not None:
            self._gathered.merge(self.windows, until=timestamp - self._size + 1)
        self.watermark = timestamp
        for due in self.schedule.take_due(timestamp):
            if due.fires:
                self.fire_all(due.start, due.moment)
            if due.ends:
                if self.evaluation.clears:
                    self._clear_all(due.start)
                self.end_window(due.start)
        self.evaluation.results.flush(True)
        super().process_watermark(timestamp)

    def fire_all(self, start: int, timestamp: int) -> None:
        accumulators = self.accumulators(start)
        evaluation = self.evaluation
        if evaluation.passes_through or evaluation.adds_key:
            values = self.folding.results(accumulators.values())
            if evaluation.adds_key:
                values = list(zip(accumulators, values, strict=True))
            evaluation.results.values += values
            evaluation.results.timestamps += [timestamp] * len(values)
            return
        token, window = self.window_at(start)
        result = self.folding.result
        for key, accumulator in accumulators.items():
            evaluation.evaluate((key, token), window, (result(accumulator),), timestamp)

    def fire_one(self, start: int, key: Any, accumulator: Any, timestamp: int) -> None:
        token, window = self.window_at(start)
        self.evaluation.evaluate((key, token), window, (self.folding.result(accumulator),), timestamp)

    def _clear_all(self, start: int) -> None:
        token, window = self.window_at(start)
        for key in list(self.accumulators(start)):
            self.evaluation.clear((key, token), window)

    def window_at(self, start: int) -> tuple[tuple[int, int], TimeWindow]:
        end = start + self._size
        return (start, end), TimeWindow(start, end)

    def accumulators(self, start: int) -> dict[Any, Any]:
        """Key -> accumulator of one window; not to be changed."""
        raise NotImplementedError

    def end_window(self, start: int) -> None:
        self.windows.remove(start)

    # -- snapshots ---------------------------------------------------------------------------------------------

    def loaded(self) -> None:
        self.schedule.rebuild(self.open_windows(), self.watermark)

    def open_windows(self) -> list[int]:
        return list(self.windows.base)


class TumblingWindowOperator(AlignedWindowOperator):
    """Windows that do not overlap: one accumulator per window and key."""

    def add_run(self, start: int, run: Batch) -> None:
        assert run.keys is not None
        schedule, watermark = self.schedule, self.watermark
        if schedule.end_of(start) <= watermark:
            self.add_late(run)
            return
        entries = self.windows.writable(start, run.keys)
        schedule.open(start, watermark)
        if schedule.max_timestamp(start) > watermark:
            self.folding.add_run(entries, run.keys, run.values)
            return
        assert run.timestamps is not None
        for key, value, timestamp in zip(run.keys, run.values, run.timestamps, strict=True):
            self.folding.add_run(entries, (key,), (value,))
            self.fire_one(start, key, entries[key], timestamp)

    def accumulators(self, start: int) -> dict[Any, Any]:
        return self.windows.base.get(start, {})

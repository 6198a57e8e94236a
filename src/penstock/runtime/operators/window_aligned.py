"""Event-time windows of one size with the default trigger: the common case, made fast.

Tables are ordered by window and then by key, so that a batch looks its window up once, a window ends with one
removal for all keys, and no timer is needed per key.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from math import gcd
from typing import Any

import numpy as np

from penstock.common.errors import ProgramError
from penstock.datastream.state import MapStateDescriptor
from penstock.datastream.window_types import TimeWindow
from penstock.runtime.batch import MIN_TIMESTAMP, Batch
from penstock.runtime.blueprint import OperatorBlueprint
from penstock.runtime.column_batch import ColumnBatch
from penstock.runtime.context import SubtaskContext
from penstock.runtime.operators.window import WindowedOperator
from penstock.runtime.operators.window_columns import GatheredColumns
from penstock.runtime.operators.window_folding_base import Folding
from penstock.runtime.operators.window_schedule import WindowSchedule
from penstock.runtime.state.table import MapTable


class AlignedWindowOperator(WindowedOperator):
    """Cuts batches into runs of one granule (window or pane) and lets windows fire by the watermark alone."""

    WINDOWS = "_windows"

    folding: Folding

    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        super().__init__(blueprint, context)
        assigner = self.settings.assigner
        self._size: int = assigner._size
        self._offset: int = assigner._offset
        self._slide: int = getattr(assigner, "_slide", self._size)
        self._granule = gcd(self._size, self._slide)
        self._lateness = self.settings.allowed_lateness
        self.windows: MapTable = self.backend.table(self.WINDOWS, MapStateDescriptor)
        self.schedule = WindowSchedule(self._size, self._lateness)

    # -- elements ----------------------------------------------------------------------------------------------

    def process(self, batch: Batch, input_index: int) -> None:
        for start, run in self._runs(batch):
            self.add_run(start, run)
        self.evaluation.results.flush(True)
        self.late.flush()

    def _runs(self, batch: Batch) -> Iterator[tuple[int, Batch]]:
        """Neighbouring records of the same granule, with the granule's start."""
        timestamps, granule, offset = batch.timestamps, self._granule, self._offset
        if timestamps is None:
            self._refuse_untimed()
            return
        position = 0
        for number, same in groupby([(timestamp - offset) // granule for timestamp in timestamps]):
            length = len(list(same))
            start = number * granule + offset
            if start < MIN_TIMESTAMP + granule:
                self._refuse_untimed()
            whole = length == len(timestamps)
            yield start, batch if whole else batch.slice(position, position + length)
            position += length

    def _refuse_untimed(self) -> None:
        raise ProgramError(
            f"{type(self.settings.assigner).__name__} got an element without timestamp: call "
            "assign_timestamps_and_watermarks(...) with a timestamp assigner before the window, "
            "or use processing-time windows"
        )

    def add_run(self, start: int, run: Batch) -> None:
        raise NotImplementedError

    def windows_of(self, pane: int) -> list[int]:
        """Starts of the windows that cover a granule and have not ended, the latest first as assigners give them."""
        latest = pane - (pane - self._offset) % self._slide
        earliest = pane + self._granule - self._size
        return [
            start for start in range(latest, earliest - 1, -self._slide) if self.schedule.end_of(start) > self.watermark
        ]

    def add_late(self, run: Batch) -> None:
        """Elements that no open window takes: late ones go to the late output, others had no window at all."""
        assert run.timestamps is not None
        for value, timestamp in zip(run.values, run.timestamps, strict=True):
            if timestamp + self._lateness <= self.watermark:
                self.late.add(value, timestamp)

    # -- time --------------------------------------------------------------------------------------------------

    def process_watermark(self, timestamp: int) -> None:
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

    def apply_delta(self, delta: Any) -> None:
        super().apply_delta(delta)
        self.schedule.rebuild(self.open_windows(), self.watermark)

    def open_windows(self) -> list[int]:
        return list(self.windows.base)


def writable(table: MapTable, start: int) -> tuple[dict[Any, Any], dict[Any, Any]]:
    """The entries of one window, and where a change of them must be noted, for a loop over many records."""
    return table.writable(start)


class TumblingWindowOperator(AlignedWindowOperator):
    """Windows that do not overlap: one accumulator per window and key."""

    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        super().__init__(blueprint, context)
        self._gathered = GatheredColumns(self.folding) if GatheredColumns.serves(self.folding) else None

    def process(self, batch: Batch, input_index: int) -> None:
        if self._gathered is not None:
            if isinstance(batch, ColumnBatch) and self._gather(batch):
                return
            self._merge_gathered()
        super().process(batch, input_index)

    def add_run(self, start: int, run: Batch) -> None:
        assert run.keys is not None
        schedule, watermark = self.schedule, self.watermark
        if schedule.end_of(start) <= watermark:
            self.add_late(run)
            return
        entries, changed = writable(self.windows, start)
        schedule.open(start, watermark)
        if schedule.max_timestamp(start) > watermark:
            self.folding.add_run(entries, changed, run.keys, run.values)
            return
        assert run.timestamps is not None
        for key, value, timestamp in zip(run.keys, run.values, run.timestamps, strict=True):
            self.folding.add_run(entries, changed, (key,), (value,))
            self.fire_one(start, key, entries[key], timestamp)

    def accumulators(self, start: int) -> dict[Any, Any]:
        return self.windows.base.get(start, {})

    # -- columns -----------------------------------------------------------------------------------------------

    def _gather(self, batch: ColumnBatch) -> bool:
        """Keeps the columns if all their records belong to windows that have not fired; else they go one by one."""
        gathered, times = self._gathered, batch.times
        assert gathered is not None
        if batch.key_column is None or times is None or not len(batch):
            return False
        # The second condition also keeps the subtraction from overflowing, and records without timestamp out.
        if int(times.min()) < max(MIN_TIMESTAMP + 2 * self._size, -(1 << 62)) or int(times.max()) > (1 << 62):
            return False
        numbers = (times - self._offset) // self._size
        first, last = int(numbers.min()), int(numbers.max())
        if self.schedule.max_timestamp(first * self._size + self._offset) <= self.watermark:
            return False
        for number in [first] if first == last else np.unique(numbers).tolist():
            start = number * self._size + self._offset
            self.schedule.open(start, self.watermark)
            whole = first == last
            gathered.add(start, batch if whole else batch.take(np.flatnonzero(numbers == number)))
        if gathered.full:
            self._merge_gathered()
        return True

    def _merge_gathered(self) -> None:
        if self._gathered is not None and self._gathered.earliest is not None:
            for start, batches in self._gathered.take().items():
                self._gathered.merge(*writable(self.windows, start), batches)

    def process_watermark(self, timestamp: int) -> None:
        earliest = None if self._gathered is None else self._gathered.earliest
        if earliest is not None and self.schedule.max_timestamp(earliest) <= timestamp:
            self._merge_gathered()
        super().process_watermark(timestamp)

    def end_epoch(self) -> None:
        self._merge_gathered()
        super().end_epoch()

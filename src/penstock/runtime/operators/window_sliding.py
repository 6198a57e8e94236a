"""Sliding event-time windows: parts of windows (panes) are aggregated once and shared by the windows."""

from __future__ import annotations

import pickle
from collections.abc import Collection, Sequence
from itertools import chain
from typing import Any

import numpy as np

from penstock.functions.state_descriptors import MapStateDescriptor
from penstock.runtime.batch import Batch, Integers
from penstock.runtime.blueprint import OperatorBlueprint
from penstock.runtime.context import SubtaskContext
from penstock.runtime.operators.window_aligned import AlignedWindowOperator
from penstock.runtime.operators.window_changes import WindowTable
from penstock.runtime.operators.window_granules import distinct
from penstock.runtime.operators.window_merge_law import MergeLaw
from penstock.runtime.state.table import ABSENT

_IMMUTABLE = frozenset({int, float, str, bytes, bool, type(None)})
_PANES_PER_SHARING_WINDOW = 4


class SlidingWindowOperator(AlignedWindowOperator):
    """Each element touches one pane, and a window merges its panes when it fires.

    The results are those of adding every element to every window in order of arrival. Panes hold what came in the
    order of time; before an element comes for an earlier pane than its key has already reached, the key's panes are
    merged into the windows themselves (`windows`), so that a window is always its own part first, then its panes.
    Functions for which merging is not the same as adding (see MergeLaw) are added to every window.
    """

    PANES = "_panes"

    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        super().__init__(blueprint, context)
        self.panes = WindowTable(self.backend.table(self.PANES, MapStateDescriptor))
        self._law = MergeLaw(self.backend, self.folding)
        windows_per_element = self._size // self._slide
        panes_per_window = self._size // self.granules.length
        self._worth_sharing = (
            windows_per_element > 1 and panes_per_window <= _PANES_PER_SHARING_WINDOW * windows_per_element
        )

    def add_batch(self, batch: Batch, numbers: Integers) -> None:
        if self._worth_sharing and self._law.open:
            self._law.examine(batch.values[: 3 * MergeLaw.PROOFS_WANTED])
        if self._shares_panes or not self.all_new(numbers):
            super().add_batch(batch, numbers)
            return
        for window in self._windows_from(numbers):
            first, last = self.granules.of_window(window)
            inside = (numbers >= first) & (numbers <= last)
            run = batch if inside.all() else batch.take(np.flatnonzero(inside))
            assert run.keys is not None
            self.schedule.open(window, self.watermark)
            self.folding.add_run(self.windows.writable(window, run.keys), run.keys, run.values)

    def gather(self, batch: Batch) -> bool:
        if self._worth_sharing:
            # Columns go to the windows themselves, in front of which nothing may wait in panes.
            self._worth_sharing = False
            for key in {key for _, entries in self.panes.base.items() for key in entries}:
                self._settle(key)
        return super().gather(batch)

    @property
    def _shares_panes(self) -> bool:
        return self._worth_sharing and self._law.trusted

    def _windows_from(self, numbers: Integers) -> list[int]:
        return sorted({window for n in distinct(numbers) for window in self.windows_of(self.granules.start(n))})

    def add_run(self, start: int, run: Batch) -> None:
        windows = self.windows_of(start)
        if not windows:
            self.add_late(run)
            return
        for window in windows:
            self.schedule.open(window, self.watermark)
        assert run.keys is not None and run.timestamps is not None
        fired = [w for w in windows if self.schedule.max_timestamp(w) <= self.watermark]
        if not fired:
            self._add(start, windows, run.keys, run.values)
            return
        for key, value, timestamp in zip(run.keys, run.values, run.timestamps, strict=True):
            self._add(start, windows, (key,), (value,))
            for window in fired:
                self.fire_one(window, key, self._accumulator(window, key), timestamp)

    def _add(self, pane: int, windows: list[int], keys: Sequence[Any], values: Sequence[Any]) -> None:
        if self._shares_panes:
            self._settle_those_ahead(pane, keys)
            self.folding.add_run(self.panes.writable(pane, keys), keys, values)
        else:
            for window in windows:
                self.folding.add_run(self.windows.writable(window, keys), keys, values)

    # -- order -------------------------------------------------------------------------------------------------

    def _settle_those_ahead(self, pane: int, keys: Sequence[Any]) -> None:
        """Keys that have reached a later pane of a common window: what they have so far goes into their windows."""
        later = [entries for start, entries in self.panes.base.items() if pane < start < pane + self._size]
        if later:
            ahead = [key for key in dict.fromkeys(keys) if any(key in entries for entries in later)]
            for key in ahead:
                self._settle(key)

    def _settle(self, key: Any) -> None:
        held = sorted(start for start, entries in self.panes.base.items() if key in entries)
        windows = {window for start in held for window in self.windows_of(start)}
        for window in windows:
            self.windows.put(window, key, _own(self._accumulator(window, key)))
        for start in held:
            self.panes.remove_entry(start, key)

    # -- contents of a window ----------------------------------------------------------------------------------

    def _panes_of(self, window: int) -> list[dict[Any, Any]]:
        base = self.panes.base
        starts = sorted(start for start in base if window <= start < window + self._size)
        return [base[start] for start in starts]

    def _accumulator(self, window: int, key: Any) -> Any:
        accumulator = self.windows.base.get(window, {}).get(key, ABSENT)
        for pane in self._panes_of(window):
            part = pane.get(key, ABSENT)
            if part is not ABSENT:
                accumulator = part if accumulator is ABSENT else self._merged(accumulator, part)
        return accumulator

    def accumulators(self, start: int) -> dict[Any, Any]:
        panes = self._panes_of(start)
        if not panes:
            return self.windows.base.get(start, {})
        own_parts = self.windows.base.get(start)
        parts = [own_parts, *panes] if own_parts else panes
        safe = self.folding.pure or all(_all_immutable(part.values()) for part in parts)
        merge = self.folding.merge if safe else self._merged
        merged = dict(parts[0])
        get = merged.get
        for pane in parts[1:]:
            for key, part in pane.items():
                accumulator = get(key, ABSENT)
                merged[key] = part if accumulator is ABSENT else merge(accumulator, part)
        return merged

    def _merged(self, accumulator: Any, part: Any) -> Any:
        # Both stay in state for other windows, so a merge that works in place must get copies.
        return self.folding.merge(_own(accumulator), _own(part))

    # -- the end of windows ------------------------------------------------------------------------------------

    def end_window(self, start: int) -> None:
        super().end_window(start)
        # Windows end in order, so panes before the next one's start belong to none any more.
        for pane in [pane for pane in self.panes.base if pane < start + self._slide]:
            self.panes.remove(pane)

    def end_epoch(self) -> None:
        super().end_epoch()
        self.panes.note_changes()

    def open_windows(self) -> list[int]:
        covering = {window for pane in self.panes.base for window in self.windows_of(pane)}
        return sorted(covering.union(self.windows.base))


def _all_immutable(accumulators: Collection[Any]) -> bool:
    kinds = set(map(type, accumulators))
    if kinds == {tuple}:
        kinds = set(map(type, chain.from_iterable(accumulators)))
    return _IMMUTABLE.issuperset(kinds)


def _own(accumulator: Any) -> Any:
    """The accumulator itself if nothing can change it, else a copy."""
    kind = type(accumulator)
    if kind in _IMMUTABLE or (kind is tuple and _IMMUTABLE.issuperset(map(type, accumulator))):
        return accumulator
    return pickle.loads(pickle.dumps(accumulator, 5))

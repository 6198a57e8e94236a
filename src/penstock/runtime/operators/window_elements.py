"""Tumbling and sliding event-time windows that keep their elements: apply() and process() with the default trigger."""

from __future__ import annotations

from typing import Any

from penstock.functions.state_descriptors import ListStateDescriptor
from penstock.runtime.batch import Batch
from penstock.runtime.blueprint import OperatorBlueprint
from penstock.runtime.context import SubtaskContext
from penstock.runtime.operators.window_aligned import AlignedWindowOperator
from penstock.runtime.operators.window_contents import TABLE
from penstock.runtime.state.table import ListTable

Lists = dict[int, dict[Any, list[Any]]]  # start of a window -> key -> elements
Held = dict[int, dict[Any, list[Any] | None]]  # None: they are on disk


class ElementWindowOperator(AlignedWindowOperator):
    """The table holds a list per key and window; the same lists are at hand by window, which needs no timers."""

    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        super().__init__(blueprint, context)
        self._table: ListTable = self.backend.table(TABLE, ListStateDescriptor)
        self._held: Held = {}
        self._added: Lists = {}  # what the epoch's delta says was added to lists, the same objects again

    def add_run(self, start: int, run: Batch) -> None:
        windows = self.windows_of(start)
        if not windows:
            self.add_late(run)
            return
        for window in windows:
            self.schedule.open(window, self.watermark)
        assert run.keys is not None and run.timestamps is not None
        fired = [window for window in windows if self.schedule.max_timestamp(window) <= self.watermark]
        if not fired:
            for window in windows:
                self._add(window, run.keys, run.values)
            return
        for key, value, timestamp in zip(run.keys, run.values, run.timestamps, strict=True):
            for window in windows:
                self._add(window, [key], [value])
                if window in fired:
                    self._evaluate(window, key, self._elements(window, key), timestamp)

    def _add(self, start: int, keys: list[Any], values: list[Any]) -> None:
        if self.backend.on_disk:
            held = self._held.setdefault(start, {})
            for key, value in zip(keys, values, strict=True):
                held[key] = None
                self._table.extend(self._slot(start, key), (value,))
            return
        held, added = self._held.setdefault(start, {}), self._added.setdefault(start, {})
        get_held, get_added = held.get, added.get
        for key, value in zip(keys, values, strict=True):
            elements = get_held(key)
            if elements is None:
                elements = held[key] = self._table.base[self._slot(start, key)] = []
            elements.append(value)
            new = get_added(key)
            if new is None:
                new = added[key] = self._new_list(start, key)
            new.append(value)

    def _new_list(self, start: int, key: Any) -> list[Any]:
        slot = self._slot(start, key)
        replaces, items = self._table.changes.get(slot, (False, []))
        self._table.changes[slot] = (replaces, items)
        return items

    def _slot(self, start: int, key: Any) -> tuple[Any, tuple[int, int]]:
        return key, (start, start + self._size)

    # -- time --------------------------------------------------------------------------------------------------

    def fire_all(self, start: int, timestamp: int) -> None:
        for key in self._held.get(start, {}):
            self._evaluate(start, key, self._elements(start, key), timestamp)

    def _elements(self, start: int, key: Any) -> list[Any]:
        elements = self._held[start][key]
        return self._table.base[self._slot(start, key)] if elements is None else elements

    def _evaluate(self, start: int, key: Any, elements: list[Any], timestamp: int) -> None:
        token, window = self.window_at(start)
        # A copy: a generator of the user may still run when the next element comes.
        self.evaluation.evaluate((key, token), window, elements.copy(), timestamp)

    def accumulators(self, start: int) -> dict[Any, Any]:
        return self._held.get(start, {})

    def end_window(self, start: int) -> None:
        self._added.pop(start, None)
        for key in self._held.pop(start, {}):
            self._table.remove(self._slot(start, key))

    # -- snapshots ---------------------------------------------------------------------------------------------

    def end_epoch(self) -> None:
        super().end_epoch()
        self._added.clear()

    def open_windows(self) -> list[int]:
        self._held.clear()
        self._added.clear()
        for (key, (start, _)), elements in self._table.base.items():
            self._held.setdefault(start, {})[key] = None if self.backend.on_disk else elements
        return list(self._held)

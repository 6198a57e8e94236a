"""Tables by window and key, written by loops over many records.

The loops write the entries alone. Which keys they touched is noted by whole batches, and the delta reads the values
of those keys when the epoch ends: a window that fires in the epoch in which it began never pays for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from penstock.runtime.state.table import MapTable

_KEYS_AT_ONCE = 1 << 16


class TouchedKeys:
    """Keys of one window, each any number of times; they are made a set before they become many."""

    def __init__(self) -> None:
        self._parts: list[Sequence[Any]] = []
        self._waiting = 0
        self._set: set[Any] = set()

    def add(self, keys: Sequence[Any]) -> None:
        self._parts.append(keys)
        self._waiting += len(keys)
        if self._waiting > max(_KEYS_AT_ONCE, 2 * len(self._set)):
            self.distinct()

    def distinct(self) -> Iterable[Any]:
        self._set.update(*self._parts)
        self._parts.clear()
        self._waiting = 0
        return self._set


class WindowTable:
    """A MapTable (window -> key -> accumulator) and what was touched of it since the last delta."""

    def __init__(self, table: MapTable) -> None:
        self.base = table.base
        self._table = table
        self._touched: dict[int, TouchedKeys] = {}

    def writable(self, window: int, keys: Sequence[Any]) -> dict[Any, Any]:
        """The entries of a window, of which the caller changes those of the given keys."""
        touched = self._touched.get(window)
        if touched is None:
            touched = self._touched[window] = TouchedKeys()
        touched.add(keys)
        return self._table.writable(window)[0]

    def put(self, window: int, key: Any, value: Any) -> None:
        self._table.put(window, key, value)

    def remove_entry(self, window: int, key: Any) -> None:
        self._table.remove_entry(window, key)

    def remove(self, window: int) -> None:
        self._touched.pop(window, None)
        self._table.remove(window)

    def note_changes(self) -> None:
        """Hands what was touched to the table, whose delta is taken next."""
        for window, touched in self._touched.items():
            if window in self.base:
                entries, changed = self._table.writable(window)
                keys = [key for key in touched.distinct() if key in entries]
                changed.update(zip(keys, map(entries.__getitem__, keys), strict=True))
        self._touched.clear()

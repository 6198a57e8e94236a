"""Events that wait for the watermark, because one with an earlier timestamp may still come.

What came in this epoch is kept as it came, in rows or columns; most of it leaves when the next watermark comes. Only
what still waits when the epoch ends becomes state: by stretches of time, so that what is due is found without looking
at every key.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cmp_to_key
from typing import Any

import numpy as np

from penstock.runtime.batch import Batch, joined
from penstock.runtime.key_columns import column_of_keys
from penstock.runtime.state.table import MapTable

_STRETCH_BITS = 10  # a stretch is 1024 ms

Comparator = Callable[[Any, Any], int]


class EventQueue:
    """Gives events back in the order of time, then of the comparator, then of arrival."""

    def __init__(self, table: MapTable, comparator: Comparator | None) -> None:
        self._table = table  # stretch -> key -> [(timestamp, value)]
        self._order = None if comparator is None else cmp_to_key(comparator)
        self._arrived: list[Batch] = []

    def add(self, batch: Batch) -> None:
        self._arrived.append(batch)

    def take_until(self, watermark: int) -> Batch:
        """Removes all events up to a time."""
        waiting, self._arrived = self._stored_until(watermark) + self._arrived, []
        if not waiting:
            return Batch([], [], [])
        everything = _by_time(joined(waiting))
        assert everything.times is not None
        count = int(np.searchsorted(everything.times, watermark, side="right"))
        if count < len(everything):
            self._arrived.append(everything.slice(count, len(everything)))
            everything = everything.slice(0, count)
        return everything if self._order is None else self._compared(everything, self._order)

    def _compared(self, batch: Batch, by_value: Callable[[Any], Any]) -> Batch:
        values, timestamps = batch.values, batch.timestamps
        assert timestamps is not None
        order = sorted(range(len(batch)), key=lambda i: (timestamps[i], by_value(values[i])))
        return batch.take(np.array(order, np.int64))

    def _stored_until(self, watermark: int) -> list[Batch]:
        """A batch, or none."""
        keys: list[Any] = []
        values: list[Any] = []
        timestamps: list[int] = []
        stretches = list(self._table.keys())
        due = sorted(stretch for stretch in stretches if stretch << _STRETCH_BITS <= watermark)
        for stretch in due:
            whole = ((stretch + 1) << _STRETCH_BITS) - 1 <= watermark
            for key, events in list((self._table.get(stretch) or {}).items()):
                now = events if whole else [event for event in events if event[0] <= watermark]
                keys += [key] * len(now)
                values += [value for _, value in now]
                timestamps += [timestamp for timestamp, _ in now]
                if not whole and now:
                    self._keep(stretch, key, [event for event in events if event[0] > watermark])
            if whole:
                self._table.remove(stretch)
        if not values:
            return []
        codec = self._arrived[0].codec if self._arrived else None
        batch = Batch(values, timestamps, keys, key_column=None if codec is None else column_of_keys(keys))
        return [batch if codec is None else batch.in_columns(codec)]

    def _keep(self, stretch: int, key: Any, events: list[tuple[int, Any]]) -> None:
        if events:
            self._table.put(stretch, key, events)
        else:
            self._table.remove_entry(stretch, key)

    def store(self) -> None:
        """The epoch ends: what still waits becomes state."""
        arrived, self._arrived = self._arrived, []
        stretches: dict[int, dict[Any, list[tuple[int, Any]]]] = {}
        for batch in arrived:
            assert batch.keys is not None and batch.timestamps is not None
            for key, value, timestamp in zip(batch.keys, batch.values, batch.timestamps, strict=True):
                stretch = stretches.setdefault(timestamp >> _STRETCH_BITS, {})
                stretch.setdefault(key, []).append((timestamp, value))
        for number, by_key in stretches.items():
            stored, changed = self._table.writable(number)
            for key, events in by_key.items():
                earlier = stored.get(key)
                stored[key] = changed[key] = events if earlier is None else [*earlier, *events]


def _by_time(batch: Batch) -> Batch:
    """Events of the same time stay in the order in which they came."""
    times = batch.times
    assert times is not None
    if bool((times[1:] >= times[:-1]).all()):
        return batch
    return batch.take(np.argsort(times, kind="stable"))

"""Events that wait for the watermark, because one with an earlier timestamp may still come.

What came in this epoch is in lists; most of it leaves them when the next watermark comes. Only what still waits when
the epoch ends becomes state: by stretches of time, so that what is due is found without looking at every key.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from functools import cmp_to_key
from typing import Any

from penstock.runtime.batch import Batch
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
        keys, values, timestamps = self._stored_until(watermark)
        arrived, self._arrived = self._arrived, []
        for batch in arrived:
            assert batch.keys is not None and batch.timestamps is not None
            if values or len(arrived) > 1:
                keys += batch.keys
                values += batch.values
                timestamps += batch.timestamps
            else:
                keys, values, timestamps = batch.keys, batch.values, batch.timestamps
        everything = _by_time(Batch(values, timestamps, keys))
        count = bisect_right(everything.timestamps or [], watermark)
        if count < len(everything):
            self._arrived.append(everything.slice(count, len(everything)))
            everything = everything.slice(0, count)
        return everything if self._order is None else self._compared(everything, self._order)

    def _compared(self, batch: Batch, by_value: Callable[[Any], Any]) -> Batch:
        values, timestamps = batch.values, batch.timestamps
        assert timestamps is not None
        return chosen(batch, sorted(range(len(batch)), key=lambda i: (timestamps[i], by_value(values[i]))))

    def _stored_until(self, watermark: int) -> tuple[list[Any], list[Any], list[int]]:
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
        return keys, values, timestamps

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
    timestamps = batch.timestamps
    assert timestamps is not None
    if sorted(timestamps) == timestamps:
        return batch
    return chosen(batch, sorted(range(len(batch)), key=timestamps.__getitem__))


def chosen(batch: Batch, positions: list[int]) -> Batch:
    """Some records of a batch with keys and timestamps."""
    keys, values, timestamps = batch.keys, batch.values, batch.timestamps
    assert keys is not None and timestamps is not None
    return Batch([values[i] for i in positions], [timestamps[i] for i in positions], [keys[i] for i in positions])

"""Keyed state in columns: each key has a slot, and each field of the state is an array with a place for every slot.

A batch finds the slots of all its keys at once, and reads and writes fields with a few calls of NumPy. What changed is
known by slot, so that a snapshot costs what changed. Fields hold numbers or immutable Python values; state of many
entries per key (the values that a MIN may have to fall back to) is a map by slot, saved entry by entry.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from penstock.runtime.key_columns import Integers, integers_as_column, keys_of_column, numbered
from penstock.runtime.key_index import KeyNumbers
from penstock.runtime.state.table import DELETED, ValueTable
from penstock.runtime.table.counted_values import CountedValues
from penstock.runtime.table.slot_maps import DictMaps, MapShape, SlotMaps, ValueCounts

Values = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]

_FIRST_CAPACITY: Final = 64
_FEW_DEAD: Final = 1024


@dataclass(frozen=True)
class SlotField:
    """An array of the state; a key without state has the initial value."""

    name: str
    dtype: Any
    initial: Any


class Placed(NamedTuple):
    """The keys of a batch: the number of each row's key among the different ones, and the slots of these."""

    codes: npt.NDArray[np.int32]
    slots: Integers

    @property
    def by_row(self) -> Integers:
        return self.slots[self.codes]


class SlotDelta(NamedTuple):
    """What happened to some keys since the last snapshot; maps are by the position of the key."""

    keys: Any
    alive: Mask
    fields: list[Values]
    maps: list[Any]


class SlotTable:
    """Key -> slot -> fields. A slot that is not alive has the initial values; its key has no state."""

    def __init__(
        self, fields: Sequence[SlotField], maps: Sequence[MapShape] = (), rows: ValueTable | None = None
    ) -> None:
        """With `rows`, a table on disk, slots are only a cache of it for the running epoch."""
        self._fields = tuple(fields)
        self._map_shapes = tuple(maps)
        self._rows = rows
        self.generation = 0  # another one: the slots of all keys are others now
        self._forget()

    def _forget(self) -> None:
        self.generation += 1
        self._index = KeyNumbers()
        self._columns = {field.name: _filled(field, _FIRST_CAPACITY) for field in self._fields}
        self._maps: dict[str, SlotMaps] = {}
        for shape in self._map_shapes:
            if isinstance(shape, ValueCounts):
                self._maps[shape.name] = CountedValues()
            else:
                self._maps[shape] = DictMaps()
        self.alive: Mask = np.zeros(_FIRST_CAPACITY, np.bool_)
        self._dirty: Mask = np.zeros(_FIRST_CAPACITY, np.bool_)

    def __len__(self) -> int:
        return int(np.count_nonzero(self.alive))

    # -- slots -------------------------------------------------------------------------------------------------

    def place(self, keys: pa.Array) -> Placed:
        """The slots of a column of keys; keys that have none get one, which is not alive yet."""
        codes, distinct = numbered(keys)
        return Placed(codes.astype(np.int64), self.slots_of_column(distinct))

    def slots_of(self, keys: Sequence[Any]) -> Integers:
        """The slots of keys in Python, each different from the others."""
        return self.slots_of_column(column_of_row_keys(keys))

    def all_slots(self) -> Integers:
        """The slots with state, in the order in which their keys came."""
        if self._rows is not None:
            known = list(self._rows.keys())
            if known:
                self.slots_of(known)
        return np.flatnonzero(self.alive)

    def keys_at(self, slots: Integers) -> list[Any]:
        found = self._index.keys_at(slots)
        return list(found.tolist()) if isinstance(found, np.ndarray) else found

    def slots_of_column(self, distinct: pa.Array) -> Integers:
        """The slots of keys, each different from the others."""
        index = self._index
        slots = index.find(distinct)
        new = np.flatnonzero(slots < 0)
        if len(new):
            first = len(index)
            slots[new] = np.arange(first, first + len(new))
            added = distinct if len(new) == len(distinct) else distinct.take(integers_as_column(new))
            index.add(added)
            self._make_room(len(index))
            if self._rows is not None:
                self._load_rows(keys_of_column(added), slots[new])
        return slots

    def _make_room(self, count: int) -> None:
        have = len(self.alive)
        if count <= have:
            return
        more = max(count, 2 * have) - have
        for field in self._fields:
            self._columns[field.name] = np.concatenate([self._columns[field.name], _filled(field, more)])
        self.alive = np.concatenate([self.alive, np.zeros(more, np.bool_)])
        self._dirty = np.concatenate([self._dirty, np.zeros(more, np.bool_)])

    # -- fields ------------------------------------------------------------------------------------------------

    def column(self, name: str) -> Values:
        """The array of a field, to be read and written at slots; another one after keys were placed."""
        return self._columns[name]

    def entries(self, name: str, slot: int) -> dict[Any, Any]:
        """A map of a slot, not to be changed."""
        return self._dictionaries(name).base.get(slot, {})

    def writable(self, name: str, slot: int) -> tuple[dict[Any, Any], dict[Any, Any]]:
        """A map of a slot, and where changes of it must be noted; DELETED stands for a removed entry."""
        return self._dictionaries(name).writable(slot)

    def clear(self, name: str, slot: int) -> None:
        """Empties a map of a slot."""
        self._dictionaries(name).remove(slot)

    def maps_of(self, name: str) -> SlotMaps:
        """The maps of all slots."""
        return self._maps[name]

    def _dictionaries(self, name: str) -> DictMaps:
        found = self._maps[name]
        assert isinstance(found, DictMaps)
        return found

    def mark(self, slots: Integers) -> None:
        """The keys at these slots have state, which was written."""
        self.alive[slots] = True
        self._dirty[slots] = True

    def remove_slots(self, slots: Integers) -> None:
        """The keys at these slots have no state any more."""
        self.reset(slots)
        self.alive[slots] = False
        self._dirty[slots] = True

    def reset(self, slots: Integers) -> None:
        """Back to the initial values."""
        for field in self._fields:
            self._columns[field.name][slots] = field.initial
        for table in self._maps.values():
            table.remove_slots(slots)

    # -- the protocol of tables --------------------------------------------------------------------------------

    def keys(self) -> Iterator[Any]:
        yield from self.keys_at(self.all_slots())

    def remove(self, key: Any) -> None:
        self.remove_slots(self.slots_of([key]))

    def take_delta(self) -> Any:
        for table in self._maps.values():
            self._dirty[table.changed_slots()] = True
        changed = np.flatnonzero(self._dirty)
        if not len(changed):
            return None
        if self._rows is not None:
            return self._into_rows(changed)
        delta = self._delta(changed, [table.take_delta_by(changed) for table in self._maps.values()])
        self._dirty[changed] = False
        self._compact()
        return delta

    def full_delta(self) -> Any:
        slots = np.flatnonzero(self.alive)
        return self._delta(slots, [table.full_delta_of(slots) for table in self._maps.values()])

    def _delta(self, slots: Integers, maps: list[Any]) -> SlotDelta:
        fields = [self._columns[field.name][slots] for field in self._fields]
        return SlotDelta(self._index.keys_at(slots), self.alive[slots], fields, maps)

    def apply_delta(self, delta: Any) -> None:
        if self._rows is not None:
            self._rows.apply_delta(delta)
        elif isinstance(delta, dict):
            self._apply_entries(delta)
        elif len(delta.keys):
            slots = self.slots_of_column(column_of_row_keys(delta.keys))
            self.alive[slots] = delta.alive
            for field, values in zip(self._fields, delta.fields, strict=True):
                self._columns[field.name][slots] = values
            for table, changes in zip(self._maps.values(), delta.maps, strict=True):
                table.apply_delta_to(slots, changes)

    def pieces(self, entries: int) -> Iterator[dict[Any, Any]]:
        """For savepoints: key -> the values of the fields and the maps, in order."""
        if self._rows is not None:
            yield from self._rows.pieces(entries)
            return
        slots = np.flatnonzero(self.alive)
        for start in range(0, len(slots), entries):
            part = slots[start : start + entries]
            yield dict(zip(self.keys_at(part), self._entries_at(part), strict=True))

    def discover(self) -> None:
        if hasattr(self._rows, "discover"):
            self._rows.discover()  # type: ignore[union-attr]

    def _entries_at(self, slots: Integers) -> list[tuple[Any, ...]]:
        parts: list[list[Any]] = [self._columns[field.name][slots].tolist() for field in self._fields]
        for table in self._maps.values():
            parts.append(table.dicts(slots))
        return list(zip(*parts, strict=True)) if parts else [()] * len(slots)

    def _apply_entries(self, entries: dict[Any, Any]) -> None:
        gone = [key for key, entry in entries.items() if entry is DELETED]
        if gone:
            self.remove_slots(self.slots_of(gone))
        kept = {key: entry for key, entry in entries.items() if entry is not DELETED}
        if kept:
            self._set_entries(self.slots_of(list(kept)), list(kept.values()))

    def _set_entries(self, slots: Integers, entries: list[tuple[Any, ...]]) -> None:
        self.alive[slots] = True
        parts = list(zip(*entries, strict=True))
        for field, values in zip(self._fields, parts, strict=False):
            column = np.empty(len(values), field.dtype)
            column[:] = values
            self._columns[field.name][slots] = column
        for table, maps in zip(self._maps.values(), parts[len(self._fields) :], strict=True):
            table.put_dicts(slots, maps)

    # -- on disk -----------------------------------------------------------------------------------------------

    def _load_rows(self, keys: list[Any], slots: Integers) -> None:
        assert self._rows is not None
        found = [self._rows.get(key) for key in keys]
        known = [place for place, entry in enumerate(found) if entry is not None]
        if known:
            self._set_entries(slots[known], [found[place] for place in known])

    def _into_rows(self, changed: Integers) -> Any:
        assert self._rows is not None
        entries = self._entries_at(changed)
        for key, alive, entry in zip(self.keys_at(changed), self.alive[changed].tolist(), entries, strict=True):
            if alive:
                self._rows.put(key, entry)
            else:
                self._rows.remove(key)
        self._forget()
        return self._rows.take_delta()

    # -- slots of keys without state ---------------------------------------------------------------------------

    def _compact(self) -> None:
        """Numbers the slots again when most of them belong to keys without state."""
        if len(self._index) - len(self) <= max(_FEW_DEAD, len(self)):
            return
        full = self.full_delta()
        self._forget()
        self.apply_delta(full)


def column_of_row_keys(keys: Any) -> pa.Array:
    """A column of keys that are all int, str, None, or tuples of these."""
    if isinstance(keys, np.ndarray):
        return integers_as_column(keys)
    present = next((key for key in keys if key is not None), 0)
    if isinstance(present, tuple):
        fields = [column_of_row_keys(list(part)) for part in zip(*keys, strict=True)]
        return pa.StructArray.from_arrays(fields, [f"f{place}" for place in range(len(fields))])
    return pa.array(keys, pa.string() if isinstance(present, str) else pa.int64())


def _filled(field: SlotField, count: int) -> Values:
    return np.full(count, field.initial, field.dtype)

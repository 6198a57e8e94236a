"""Maps by slot: what a slot table asks of them, and the usual ones, which are dictionaries."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from penstock.runtime.key_columns import Integers
from penstock.runtime.state.table import MapTable

Noted: TypeAlias = dict[int, tuple[bool, dict[Any, Any]]]  # by slot or place: whether it replaces all, and the entries


@dataclass(frozen=True)
class ValueCounts:
    """Asks a slot table for a map from the values of a column, whole numbers or texts, to how often they came."""

    name: str


MapShape: TypeAlias = str | ValueCounts  # a name alone is a map of anything


class SlotMaps(Protocol):
    """A map for each slot. In a delta a slot has the place of its key."""

    def changed_slots(self) -> Integers: ...

    def take_delta_by(self, slots: Integers) -> Any:
        """What changed; the slots are all that did, in the order of their keys in the delta."""

    def full_delta_of(self, slots: Integers) -> Any: ...

    def apply_delta_to(self, slots: Integers, delta: Any) -> None:
        """`slots` are those of the delta's keys."""

    def dicts(self, slots: Integers) -> list[dict[Any, Any]]:
        """The maps of slots as savepoints have them."""

    def put_dicts(self, slots: Integers, dicts: Iterable[Iterable[tuple[Any, Any]] | dict[Any, Any]]) -> None: ...

    def remove_slots(self, slots: Integers) -> None: ...


class DictMaps(MapTable):
    """Of any keys and values."""

    __slots__ = ()

    def changed_slots(self) -> Integers:
        return np.fromiter(self.changes, np.int64, len(self.changes))

    def take_delta_by(self, slots: Integers) -> Noted:
        noted = self.take_delta() or {}
        places = dict(zip(slots.tolist(), range(len(slots)), strict=True)) if noted else {}
        return {places[slot]: change for slot, change in noted.items()}

    def full_delta_of(self, slots: Integers) -> Noted:
        if not self.base:
            return {}
        return {place: (True, self.base[slot]) for place, slot in enumerate(slots.tolist()) if slot in self.base}

    def apply_delta_to(self, slots: Integers, delta: Noted) -> None:
        self.apply_delta({int(slots[place]): change for place, change in delta.items()})

    def dicts(self, slots: Integers) -> list[dict[Any, Any]]:
        return [dict(self.base.get(slot, ())) for slot in slots.tolist()]

    def put_dicts(self, slots: Integers, dicts: Iterable[Any]) -> None:
        self.apply_delta({slot: (True, dict(items)) for slot, items in zip(slots.tolist(), dicts, strict=True)})

    def remove_slots(self, slots: Integers) -> None:
        if self.base:
            for slot in slots.tolist():
                self.remove(slot)


def grown(array: npt.NDArray[Any], size: int, filler: Any) -> npt.NDArray[Any]:
    """An array with places for so many, and some more when it has to grow."""
    if size <= len(array):
        return array
    return np.concatenate([array, np.full(max(size, 2 * len(array)) - len(array), filler, array.dtype)])

"""Which slots hold the open sessions of each key, found for all keys of a batch at once.

The sessions of a key are a chain of slots in arrays. Most keys have one.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from penstock.runtime.key_columns import Integers
from penstock.runtime.key_index import KeyNumbers

Mask = npt.NDArray[np.bool_]


class OpenSessions:
    """Made of the table's slots, and made anew when these get other numbers; it is no state of its own."""

    def __init__(self) -> None:
        self._keys = KeyNumbers()
        self._first: Integers = np.full(0, -1, np.int64)  # by the number of the key
        self._next: Integers = np.full(0, -1, np.int64)  # by slot
        self._key_of: Integers = np.full(0, -1, np.int64)  # by slot

    def add(self, keys: pa.Array) -> Integers:
        """The numbers by which keys are known here; new ones have no session yet."""
        numbers = self._keys.numbers_of(keys)
        self._first = _with_room(self._first, len(self._keys))
        return numbers

    def have_some(self, keys: pa.Array) -> Mask:
        """Whether each key has a session."""
        numbers = self._keys.find(keys)
        return (numbers >= 0) & (self._first[numbers] >= 0 if len(self._first) else False)

    def of_keys(self, numbers: Integers) -> tuple[Integers, Integers]:
        """Pairs of the position of a key and the slot of one of its sessions."""
        positions, slots = np.arange(len(numbers)), self._first[numbers]
        found: list[tuple[Integers, Integers]] = []
        while True:
            there = slots >= 0
            positions, slots = positions[there], slots[there]
            found.append((positions, slots))
            if not len(slots):
                return np.concatenate([one for one, _ in found]), np.concatenate([one for _, one in found])
            slots = self._next[slots]

    def put(self, numbers: Integers, owners: Integers, slots: Integers) -> None:
        """These keys have these sessions now and no others; `owners` has the key's number for each of the slots."""
        self._first[numbers] = -1
        if not len(slots):
            return
        size = int(slots.max()) + 1
        self._next, self._key_of = _with_room(self._next, size), _with_room(self._key_of, size)
        order = np.argsort(owners, kind="stable")
        owners, slots = owners[order], slots[order]
        same = owners[1:] == owners[:-1]
        self._first[owners[np.r_[True, ~same]]] = slots[np.r_[True, ~same]]
        self._next[slots] = -1
        self._next[slots[:-1][same]] = slots[1:][same]
        self._key_of[slots] = owners

    def remove(self, slots: Integers) -> None:
        """These sessions are over."""
        numbers = np.unique(self._key_of[slots])
        positions, known = self.of_keys(numbers)
        left = ~np.isin(known, slots)
        self.put(numbers, numbers[positions[left]], known[left])


def _with_room(numbers: Integers, size: int) -> Integers:
    if size <= len(numbers):
        return numbers
    return np.concatenate([numbers, np.full(max(size, 2 * len(numbers)) - len(numbers), -1, np.int64)])

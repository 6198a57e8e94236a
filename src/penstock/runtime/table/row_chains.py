"""Finds the rows of a RowStore by key, for a whole batch of keys at once.

Rows of a key are a chain of numbers in arrays; a chain that gets long becomes an array of its own. Looking a batch up
takes one pass of NumPy for each link, and reading a chain frees it of rows that are gone.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from penstock.runtime.key_columns import Booleans, Integers
from penstock.runtime.table.key_slots import KeySlots
from penstock.runtime.table.row_store import KeyColumnOf, RowStore

_LONG = 32  # links


class _LongChain:
    def __init__(self, numbers: Integers) -> None:
        self._numbers, self._count = numbers, len(numbers)

    def extend(self, numbers: Integers) -> None:
        count = self._count + len(numbers)
        if count > len(self._numbers):
            self._numbers = np.concatenate([self._numbers[: self._count], np.zeros(count, np.int64)])
        self._numbers[self._count : count] = numbers
        self._count = count

    def numbers(self) -> Integers:
        return self._numbers[: self._count]


class RowChains:
    """The rows of a store in order of arrival, by its keys or by what another function takes from them."""

    def __init__(self, store: RowStore, key_column_of: KeyColumnOf | None = None) -> None:
        self._store = store
        self._key_column_of = key_column_of or store.key_column_of
        self.rebuild()

    def rebuild(self) -> None:
        """The store has got other rows, or other numbers."""
        self._slots = KeySlots()
        self._head = np.full(1, -1, np.int64)
        self._tail = np.full(1, -1, np.int64)
        self._length = np.zeros(1, np.int64)
        self._next = np.full(0, -1, np.int64)
        self._long: dict[int, _LongChain] = {}
        for numbers, columns in self._store.slices():
            self.add(self._key_column_of(columns), numbers)

    def add(self, keys: pa.Array, numbers: Integers) -> None:
        if len(numbers):
            self._link(self._slots.find(keys, add=True), numbers)

    def _link(self, slots: Integers, numbers: Integers) -> None:
        self._make_room()
        order = np.argsort(slots, kind="stable")
        slots, numbers = slots[order], numbers[order]
        same = slots[1:] == slots[:-1]
        starts, ends = np.flatnonzero(np.r_[True, ~same]), np.flatnonzero(np.r_[~same, True]) + 1
        groups = slots[starts]
        lengths = self._length[groups] + (ends - starts)
        self._length[groups] = lengths
        long = lengths > _LONG
        for place in np.flatnonzero(long).tolist():
            self._extend_long(int(groups[place]), numbers[starts[place] : ends[place]])
        if long.all():
            return
        short = ~long[np.repeat(np.arange(len(groups)), ends - starts)]
        linked = same & short[1:] & short[:-1]
        self._next[numbers[short]] = -1
        self._next[numbers[:-1][linked]] = numbers[1:][linked]
        starts, ends, groups = starts[~long], ends[~long], groups[~long]
        tails = self._tail[groups]
        known = tails >= 0
        self._next[tails[known]] = numbers[starts[known]]
        self._head[groups[~known]] = numbers[starts[~known]]
        self._tail[groups] = numbers[ends - 1]

    def _make_room(self) -> None:
        if len(self._slots) > len(self._head):
            more = max(len(self._head), len(self._slots) - len(self._head), 1024)
            self._head = np.concatenate([self._head, np.full(more, -1)])
            self._tail = np.concatenate([self._tail, np.full(more, -1)])
            self._length = np.concatenate([self._length, np.zeros(more, np.int64)])
        if self._store.count > len(self._next):
            self._next = np.concatenate([self._next, np.full(max(self._store.count, 1024), -1)])

    def _extend_long(self, slot: int, numbers: Integers) -> None:
        chain = self._long.get(slot)
        if chain is None:
            _, known = self._walk(np.array([slot]), np.zeros(1, np.int64))
            chain = self._long[slot] = _LongChain(known)
            self._head[slot] = self._tail[slot] = -1
        chain.extend(numbers)

    def find(self, keys: pa.Array) -> tuple[Integers, Integers]:
        """Pairs of the position of a key and the number of a row, in the order of keys and arrival."""
        slots = self._slots.find(keys)
        known = np.flatnonzero(slots >= 0)
        positions, numbers = self._walk(slots[known], known)
        if self._long:
            positions, numbers = self._with_long(slots, positions, numbers)
        there = self._store.are_there(numbers)
        if there.all():
            return positions, numbers
        self._unlink(slots[positions], positions, numbers, there)
        return positions[there], numbers[there]

    def _walk(self, slots: Integers, positions: Integers) -> tuple[Integers, Integers]:
        found_positions, found_numbers = [], []
        current = self._head[slots]
        while True:
            going_on = current >= 0
            if not going_on.all():
                positions, current = positions[going_on], current[going_on]
            if not len(current):
                break
            found_positions.append(positions)
            found_numbers.append(current)
            current = self._next[current]
        return _in_order(found_positions, found_numbers)

    def _with_long(self, slots: Integers, positions: Integers, numbers: Integers) -> tuple[Integers, Integers]:
        long = [place for place in np.flatnonzero(self._length[slots] > _LONG).tolist() if slots[place] >= 0]
        chains = [self._long[slot].numbers() for slot in slots[long].tolist()]
        if not chains:
            return positions, numbers
        of_long = np.repeat(np.array(long), [len(chain) for chain in chains])
        return _in_order([positions, of_long], [numbers, *chains])

    def _unlink(self, slots: Integers, positions: Integers, numbers: Integers, there: Booleans) -> None:
        """Frees the chains that were read of rows that are gone."""
        changed, first = np.unique(slots[~there], return_index=True)
        asked = positions[~there][first]  # one of the keys that lead to each chain
        kept = there & np.isin(positions, asked)
        self._head[changed] = self._tail[changed] = -1
        self._length[changed] = 0
        for slot in changed.tolist():
            self._long.pop(slot, None)
        if kept.any():
            self._link(slots[kept], numbers[kept])


def _in_order(positions: list[Integers], numbers: list[Integers]) -> tuple[Integers, Integers]:
    if not positions:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    if len(positions) == len(numbers) == 1:
        return positions[0], numbers[0]
    all_positions, all_numbers = np.concatenate(positions), np.concatenate(numbers)
    order = np.argsort(all_positions, kind="stable")
    return all_positions[order], all_numbers[order]

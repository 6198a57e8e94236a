"""Keys of a column by number: each key has the number of its first appearance, found for many keys at once."""

from __future__ import annotations

from itertools import repeat
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from penstock.runtime.key_columns import Integers, integers_as_column, keys_of_column, numbered

_FIRST_BITS = 10
_HALF = 32  # bits of a pair of numbers
_SPREAD = np.uint64(0x9E3779B97F4A7C15)  # 2**64 by the golden ratio: neighbours land far from each other


class KeyIndex(Protocol):
    """One type of key columns; numbers count from 0."""

    key_type: pa.DataType

    def __len__(self) -> int: ...

    def find(self, keys: pa.Array) -> Integers:
        """The number of each key; -1 for one that is not there."""

    def add(self, keys: pa.Array) -> None:
        """Gives the next numbers to keys that are not there, and differ from each other."""

    def keys(self) -> list[Any]:
        """All keys, in the order of their numbers."""

    def keys_at(self, numbers: Integers) -> list[Any] | Integers:
        """The keys with some numbers; integers as an array."""


def index_for(key_type: pa.DataType) -> KeyIndex:
    """For columns without nulls, but for those within structs."""
    if pa.types.is_struct(key_type):
        return TupleIndex(key_type)
    return IntegerIndex() if key_type == pa.int64() else ObjectIndex(key_type)


class ObjectIndex:
    """Keys of any type, in a dictionary."""

    def __init__(self, key_type: pa.DataType, keys: list[Any] | None = None) -> None:
        self.key_type = key_type
        self._keys: list[Any] = keys or []
        self._numbers = dict(zip(self._keys, range(len(self._keys)), strict=True))

    def __len__(self) -> int:
        return len(self._keys)

    def find(self, keys: pa.Array) -> Integers:
        return np.fromiter(map(self._numbers.get, keys_of_column(keys), repeat(-1)), np.int64, len(keys))

    def add(self, keys: pa.Array) -> None:
        added, first = keys_of_column(keys), len(self._keys)
        self._numbers.update(zip(added, range(first, first + len(added)), strict=True))
        self._keys += added

    def keys(self) -> list[Any]:
        return list(self._keys)

    def keys_at(self, numbers: Integers) -> list[Any]:
        return list(map(self._keys.__getitem__, numbers.tolist()))


class IntegerIndex:
    """Integers, in a table with open places: a look-up costs a few passes of NumPy for all keys together.

    Measured: with 100,000 keys a dictionary takes a quarter of the time of a rolling sum, waiting for memory.
    """

    key_type = pa.int64()

    def __init__(self) -> None:
        self._bits = _FIRST_BITS
        self._keys = np.zeros(1 << _FIRST_BITS, np.int64)  # by number, with room for more
        self._count = 0
        self._clear_places()

    def _clear_places(self) -> None:
        self._places = np.full(1 << self._bits, -1, np.int64)  # the number of the key that is here

    def __len__(self) -> int:
        return self._count

    def find(self, keys: pa.Array) -> Integers:
        wanted: Integers = keys.to_numpy()
        places = self._first_places(wanted)
        found = self._places[places]
        others = np.flatnonzero((found >= 0) & (self._keys[found] != wanted))
        while len(others):
            places[others] = self._next_places(places[others])
            found[others] = self._places[places[others]]
            others = others[(found[others] >= 0) & (self._keys[found[others]] != wanted[others])]
        return found

    def add(self, keys: pa.Array) -> None:
        count = self._count + len(keys)
        if count > len(self._keys):
            self._keys = np.concatenate([self._keys, np.zeros(count, np.int64)])
        self._keys[self._count : count] = keys.to_numpy()
        first, self._count = self._count, count
        if 2 * count > 1 << self._bits:  # half of the places stay free
            self._bits = (4 * count).bit_length()
            self._clear_places()
            first = 0
        self._place(np.arange(first, count))

    def keys(self) -> list[Any]:
        return self._keys[: self._count].tolist()  # type: ignore[no-any-return]

    def keys_at(self, numbers: Integers) -> Integers:
        return self._keys[numbers]

    def _place(self, numbers: Integers) -> None:
        places = self._first_places(self._keys[numbers])
        while len(numbers):
            free = self._places[places] < 0
            self._places[places[free]] = numbers[free]
            homeless = self._places[places] != numbers  # the place was taken, or somebody else got it just now
            numbers, places = numbers[homeless], self._next_places(places[homeless])

    def _first_places(self, keys: Integers) -> Integers:
        return ((keys.view(np.uint64) * _SPREAD) >> np.uint64(64 - self._bits)).view(np.int64)

    def _next_places(self, places: Integers) -> Integers:
        return (places + 1) & ((1 << self._bits) - 1)


class KeyNumbers:
    """An index for columns in which nulls may turn up: integers have their quick one until then."""

    def __init__(self) -> None:
        self._index: KeyIndex | None = None

    def __len__(self) -> int:
        return 0 if self._index is None else len(self._index)

    def find(self, keys: pa.Array) -> Integers:
        return self._index_for(keys).find(keys)

    def add(self, keys: pa.Array) -> None:
        self._index_for(keys).add(keys)

    def numbers_of(self, keys: pa.Array) -> Integers:
        """The number of each key; those that are not there are added."""
        found = self.find(keys)
        new = np.flatnonzero(found < 0)
        if len(new):
            missing = keys.take(integers_as_column(new))
            codes, distinct = numbered(missing)
            found[new] = codes + np.int64(len(self))
            self.add(distinct)
        return found

    def keys_at(self, numbers: Integers) -> list[Any] | Integers:
        return [] if self._index is None else self._index.keys_at(numbers)

    def _index_for(self, keys: pa.Array) -> KeyIndex:
        index = self._index
        integers = isinstance(index, IntegerIndex)
        if index is None:
            index = ObjectIndex(keys.type) if keys.null_count else index_for(keys.type)
        elif integers and (keys.null_count or keys.type != index.key_type):
            index = ObjectIndex(keys.type, index.keys())
        self._index = index
        return index


class TupleIndex:
    """Keys of several columns: each field has its numbers, and pairs of numbers are integers again."""

    def __init__(self, key_type: pa.DataType) -> None:
        self.key_type = key_type
        self._fields = [KeyNumbers() for _ in range(key_type.num_fields)]
        self._pairs = [KeyNumbers() for _ in self._fields[1:]]  # of the number of all fields before, and of the field
        self._whole = [self._fields[0], *self._pairs][-1]

    def __len__(self) -> int:
        return len(self._whole)

    def find(self, keys: pa.Array) -> Integers:
        first, *others = keys.flatten()
        numbers = self._fields[0].find(first)
        for field, pairs, column in zip(self._fields[1:], self._pairs, others, strict=True):
            numbers = pairs.find(_pairs(numbers, field.find(column)))
        return numbers

    def add(self, keys: pa.Array) -> None:
        first, *others = keys.flatten()
        numbers = self._fields[0].numbers_of(first)
        for field, pairs, column in zip(self._fields[1:], self._pairs, others, strict=True):
            numbers = pairs.numbers_of(_pairs(numbers, field.numbers_of(column)))

    def keys(self) -> list[Any]:
        return self.keys_at(np.arange(len(self)))

    def keys_at(self, numbers: Integers) -> list[Any]:
        columns = []
        for field, pairs in zip(self._fields[:0:-1], self._pairs[::-1], strict=True):
            both = np.asarray(pairs.keys_at(numbers), np.int64)
            columns.append(field.keys_at(both & ((1 << _HALF) - 1)))
            numbers = both >> _HALF
        columns.append(self._fields[0].keys_at(numbers))
        lists = [column.tolist() if isinstance(column, np.ndarray) else column for column in reversed(columns)]
        return list(zip(*lists, strict=True))


def _pairs(numbers: Integers, others: Integers) -> pa.Array:
    """Negative, and so equal to no pair, where one of them is."""
    return integers_as_column((numbers << _HALF) | others)

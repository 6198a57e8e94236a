"""Rows that an operator keeps, in columns: appended by the batch, found by number, saved by what changed.

A row has a number, which is its place, and an id, which it keeps for life. Numbers change when the places of removed
rows are used again (`compact`); the log of a job knows rows by id.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Integers = npt.NDArray[np.int64]
Booleans = npt.NDArray[np.bool_]
KeysOf = Callable[[pa.RecordBatch], list[Any]]

_FEW = 1024  # rows; below that nothing is worth being tidied


@dataclass
class RowChanges:
    """What happened to the rows of a store since its last snapshot."""

    ids: Integers
    columns: pa.RecordBatch
    notes: dict[str, Integers]
    removed: Integers
    noted: Integers = field(default_factory=lambda: np.zeros(0, np.int64))  # ids of older rows whose notes changed
    new_notes: dict[str, Integers] = field(default_factory=dict)


class RowStore:
    """A table of the state backend. Notes are integers beside each row, such as how many rows it has matched."""

    in_memory = True

    def __init__(self, schema: pa.Schema, keys_of: KeysOf, notes: tuple[str, ...] = ()) -> None:
        self.schema = schema
        self._keys_of = keys_of
        self._note_names = notes
        self._clear()

    def _clear(self) -> None:
        self._chunks: list[pa.RecordBatch] = []
        self._merged: pa.Table | None = None
        self.count = 0  # of numbers given out
        self.alive_count = 0
        self._ids = np.zeros(0, np.int64)
        self._alive = np.zeros(0, np.bool_)
        self._noted = np.zeros(0, np.bool_)
        self._notes = {name: np.zeros(0, np.int64) for name in self._note_names}
        self._next_id = 0
        self._saved_id = 0  # ids below that are in snapshots
        self._removed: list[Integers] = []

    def __len__(self) -> int:
        return self.alive_count

    # -- rows --------------------------------------------------------------------------------------------------

    def append(self, columns: pa.RecordBatch, **notes: Integers) -> Integers:
        """Adds rows; returns their numbers."""
        return self._append(columns, np.arange(self._next_id, self._next_id + columns.num_rows), notes)

    def _append(self, columns: pa.RecordBatch, ids: Integers, notes: dict[str, Integers]) -> Integers:
        first, added = self.count, columns.num_rows
        if not added:
            return np.zeros(0, np.int64)
        self._room_for(first + added)
        self._ids[first : first + added] = ids
        self._alive[first : first + added] = True
        self._noted[first : first + added] = False
        for name, values in self._notes.items():
            values[first : first + added] = notes.get(name, 0)
        self.count += added
        self.alive_count += added
        self._next_id = int(ids[-1]) + 1
        self._add_chunk(columns)
        return np.arange(first, first + added)

    def _room_for(self, count: int) -> None:
        if count > len(self._ids):
            size = max(2 * len(self._ids), count, _FEW)
            self._ids, self._alive, self._noted = (
                _grown(array, size) for array in (self._ids, self._alive, self._noted)
            )
            self._notes = {name: _grown(values, size) for name, values in self._notes.items()}

    def _add_chunk(self, columns: pa.RecordBatch) -> None:
        # Neighbours of like size become one: there are few chunks, and each row is copied few times.
        self._merged = None
        chunks = self._chunks
        chunks.append(pa.RecordBatch.from_arrays(columns.columns, schema=self.schema))
        size, tail = columns.num_rows, 1
        while tail < len(chunks) and chunks[-tail - 1].num_rows <= 2 * size:
            tail += 1
            size += chunks[-tail].num_rows
        if tail > 1:
            chunks[-tail:] = [pa.concat_batches(chunks[-tail:])]

    def take(self, numbers: Integers, present: Booleans | None = None) -> list[pa.Array]:
        """The columns of some rows; null in all columns where none is present."""
        if not self._chunks:
            return [pa.nulls(len(numbers), column.type) for column in self.schema]
        places = pa.array(numbers, pa.int64(), mask=None if present is None else ~present)
        if len(self._chunks) == 1:
            return [column.take(places) for column in self._chunks[0].columns]
        if self._merged is None:
            self._merged = pa.Table.from_batches(self._chunks)
        return [_one_array(column.take(places)) for column in self._merged.columns]

    def batch(self, numbers: Integers) -> pa.RecordBatch:
        return pa.RecordBatch.from_arrays(self.take(numbers), schema=self.schema)

    def numbers(self) -> Integers:
        """Of all rows that are there, in order of arrival."""
        return np.flatnonzero(self._alive[: self.count])

    def are_there(self, numbers: Integers) -> Booleans:
        """Which of some numbers are rows that have not been removed."""
        return self._alive[numbers]

    def note(self, name: str) -> Integers:
        """The notes of all numbers, not to be changed."""
        return self._notes[name][: self.count]

    def set_note(self, name: str, numbers: Integers, values: Integers) -> None:
        self._notes[name][numbers] = values
        self._noted[numbers] = True

    def delete(self, numbers: Integers) -> None:
        """Removes rows, each named once."""
        numbers = numbers[self._alive[numbers]]
        if len(numbers):
            self._alive[numbers] = False
            self.alive_count -= len(numbers)
            self._removed.append(self._ids[numbers])

    def compact(self) -> bool:
        """Gives the places of removed rows back, if they are many; all numbers are other ones then."""
        if self.count < _FEW or 2 * self.alive_count > self.count:
            return False
        kept = self.numbers()
        batch = self.batch(kept)
        self._ids, self._noted = self._ids[kept], self._noted[kept]
        self._notes = {name: values[kept] for name, values in self._notes.items()}
        self._alive = np.ones(len(kept), np.bool_)
        self.count = len(kept)
        self._chunks = [batch] if len(kept) else []
        self._merged = None
        return True

    # -- as a table of the backend -----------------------------------------------------------------------------

    def keys(self) -> Iterator[Any]:
        yield from dict.fromkeys(self.keys_of(self.numbers()))

    def keys_of(self, numbers: Integers) -> list[Any]:
        return self._keys_of(self.batch(numbers))

    def remove(self, key: Any) -> None:
        numbers = self.numbers()
        same = np.fromiter((found == key for found in self.keys_of(numbers)), np.bool_, len(numbers))
        self.delete(numbers[same])

    def take_delta(self) -> RowChanges | None:
        numbers = self.numbers()
        ids = self._ids[numbers]
        cut = int(np.searchsorted(ids, self._saved_id))
        added, old = numbers[cut:], numbers[:cut]
        noted = old[self._noted[old]]
        removed = np.concatenate(self._removed) if self._removed else np.zeros(0, np.int64)
        removed = removed[removed < self._saved_id]
        self._noted[: self.count] = False
        self._removed = []
        self._saved_id = self._next_id
        if not (len(added) or len(noted) or len(removed)):
            return None
        changes = self._changes(added, removed)
        changes.noted, changes.new_notes = self._ids[noted], {name: v[noted] for name, v in self._notes.items()}
        return changes

    def full_delta(self) -> RowChanges:
        return self._changes(self.numbers(), np.zeros(0, np.int64))

    def _changes(self, numbers: Integers, removed: Integers) -> RowChanges:
        notes = {name: values[numbers] for name, values in self._notes.items()}
        return RowChanges(self._ids[numbers], self.batch(numbers), notes, removed)

    def apply_delta(self, delta: RowChanges | dict[Any, Any]) -> None:
        """Changes of a log, or entries of a savepoint."""
        if isinstance(delta, dict):
            self._add_saved(delta)
            return
        places = self._places(delta.removed)
        self._alive[places] = False
        self.alive_count -= len(places)
        places = self._places(delta.noted)
        for name, values in delta.new_notes.items():
            self._notes[name][places] = values
        self._append(delta.columns, delta.ids, delta.notes)
        self._saved_id = self._next_id
        self._removed = []

    def _places(self, ids: Integers) -> Integers:
        return np.searchsorted(self._ids[: self.count], ids)

    def pieces(self, entries: int) -> Iterator[dict[Any, Any]]:
        """By key, the rows in order of arrival, each with its notes."""
        by_key: dict[Any, list[int]] = {}
        numbers = self.numbers()
        for key, number in zip(self.keys_of(numbers), numbers.tolist(), strict=True):
            by_key.setdefault(key, []).append(number)
        remaining = iter(by_key.items())
        while part := dict(islice(remaining, entries)):
            chosen = np.array([number for numbers in part.values() for number in numbers], np.int64)
            rows = iter(zip(self._notes_of(chosen), rows_of(self.take(chosen)), strict=True))
            yield {key: (True, list(islice(rows, len(numbers)))) for key, numbers in part.items()}

    def _notes_of(self, numbers: Integers) -> list[tuple[int, ...]]:
        columns = [self._notes[name][numbers].tolist() for name in self._note_names]
        return list(zip(*columns, strict=True)) if columns else [()] * len(numbers)

    def _add_saved(self, saved: dict[Any, Any]) -> None:
        items = [item for _, items in saved.values() for item in items]
        if items:
            notes, rows = zip(*items, strict=True)
            arrays = columns_of_rows(rows, self.schema)
            by_name = {name: np.array([note[at] for note in notes]) for at, name in enumerate(self._note_names)}
            self.append(pa.RecordBatch.from_arrays(arrays, schema=self.schema), **by_name)


def _grown(array: npt.NDArray[Any], size: int) -> npt.NDArray[Any]:
    larger = np.zeros(size, array.dtype)
    larger[: len(array)] = array
    return larger


def _one_array(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


# -- rows as Python values, for savepoints and for telling rows apart ------------------------------------------------


def rows_of(columns: list[pa.Array]) -> list[tuple[Any, ...]]:
    """Tuples that are equal exactly if the rows are: moments and fractions as whole numbers."""
    return list(zip(*(_values(column) for column in columns), strict=True)) if columns else []


def _values(column: pa.Array) -> list[Any]:
    integers = _as_integers(column.type)
    if integers is not None:
        return column.view(integers).to_pylist()  # type: ignore[no-any-return]
    values: list[Any] = column.to_pylist()
    return list(map(_frozen, values)) if pa.types.is_nested(column.type) else values


def _as_integers(arrow_type: pa.DataType) -> pa.DataType | None:
    if pa.types.is_temporal(arrow_type) or pa.types.is_floating(arrow_type):
        return pa.int32() if arrow_type.bit_width == 32 else pa.int64()
    return None


def _frozen(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_frozen(item) for item in value)
    if isinstance(value, dict):
        return tuple((name, _frozen(item)) for name, item in value.items())
    return value


def columns_of_rows(rows: tuple[tuple[Any, ...], ...], schema: pa.Schema) -> list[pa.Array]:
    """The inverse of rows_of()."""
    arrays = []
    for values, column in zip(zip(*rows, strict=True), schema, strict=True):
        integers = _as_integers(column.type)
        if integers is not None:
            arrays.append(pa.array(values, integers).view(column.type))
        else:
            arrays.append(pa.array([_thawed(value, column.type) for value in values], column.type))
    return arrays


def _thawed(value: Any, arrow_type: pa.DataType) -> Any:
    if value is None or not pa.types.is_nested(arrow_type):
        return value
    if pa.types.is_struct(arrow_type):
        return {name: _thawed(item, arrow_type.field(name).type) for name, item in value}
    if pa.types.is_map(arrow_type):
        return [(_thawed(key, arrow_type.key_type), _thawed(item, arrow_type.item_type)) for key, item in value]
    return [_thawed(item, arrow_type.value_type) for item in value]

"""Rows that an operator keeps, in columns: appended by the batch, found by number, saved by what changed.

A row has a number, which is its place, and an id, which it keeps for life. Numbers change when the places of removed
rows are used again (`compact`); the log of a job knows rows by id. With state on disk the columns of rows are in files,
and ids, notes and what finds rows stay in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from penstock.common.errors import JobExecutionError
from penstock.functions.state_descriptors import ListStateDescriptor
from penstock.runtime.key_columns import Booleans, Integers, keys_of_column
from penstock.runtime.operators.base import Operator
from penstock.runtime.pickling import dumps, loads
from penstock.runtime.state.disk import PAGES, DiskPlace
from penstock.runtime.state.disk_tables import DiskTables
from penstock.runtime.table.key_slots import KeySlots
from penstock.runtime.table.row_chunks import RowChunks
from penstock.runtime.table.row_values import columns_of_rows, rows_of

KeyColumnOf = Callable[[pa.RecordBatch], pa.Array]

_FEW = 1024  # rows; below that nothing is worth being tidied
_SLICE = 1 << 16  # rows that are looked at together when all are
_NO_ROWS = np.zeros(0, np.int64)
_BLOCK_BITS = 12  # so many bits of an id count rows of one block, which are in the same page of the job's log


@dataclass
class RowChanges:
    """What happened to the rows of a store since its last snapshot."""

    ids: Integers
    columns: pa.RecordBatch
    notes: dict[str, Integers]
    removed: Integers
    noted: Integers = field(default_factory=lambda: np.zeros(0, np.int64))  # ids of older rows whose notes changed
    new_notes: dict[str, Integers] = field(default_factory=dict)
    next_id: int = 0

    def only(self, chosen: Callable[[Integers], Booleans]) -> RowChanges:
        """What of it concerns some ids."""
        added, noted = chosen(self.ids), chosen(self.noted)
        return RowChanges(
            self.ids[added],
            self.columns.filter(pa.array(added)),
            {name: values[added] for name, values in self.notes.items()},
            self.removed[chosen(self.removed)],
            self.noted[noted],
            {name: values[noted] for name, values in self.new_notes.items()},
            self.next_id,
        )


class RowStore:
    """A table of the state backend. Notes are integers beside each row, such as how many rows it has matched."""

    full_delta_beside_pages = True

    def __init__(
        self, schema: pa.Schema, key_column_of: KeyColumnOf, notes: tuple[str, ...] = (), disk: DiskPlace | None = None
    ) -> None:
        self.schema = schema
        self.key_column_of = key_column_of
        self._note_names = notes
        self._disk = disk
        self._chunks = self._no_chunks()
        self.count = 0  # of numbers given out
        self.alive_count = 0
        self._ids = np.zeros(0, np.int64)
        self._alive = np.zeros(0, np.bool_)
        self._noted = np.zeros(0, np.bool_)
        self._notes = {name: np.zeros(0, np.int64) for name in notes}
        self._next_id = 0
        self._saved_id = 0  # ids below that are in snapshots
        self._removed: list[Integers] = []
        self._from_pages = 0  # numbers below that came out of pages, while a log is replayed
        if disk is not None:
            disk.store.attach(self)

    def _no_chunks(self) -> RowChunks:
        return RowChunks(self.schema, None if self._disk is None else self._disk.store.path)

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
        self._next_id = max(self._next_id, int(ids[-1]) + 1)
        self._chunks.append(columns)
        return np.arange(first, first + added)

    def _room_for(self, count: int) -> None:
        if count > len(self._ids):
            size = max(2 * len(self._ids), count, _FEW)
            self._ids, self._alive, self._noted = (
                _grown(array, size) for array in (self._ids, self._alive, self._noted)
            )
            self._notes = {name: _grown(values, size) for name, values in self._notes.items()}

    def take(self, numbers: Integers, present: Booleans | None = None) -> list[pa.Array]:
        """The columns of some rows; null in all columns where none is present."""
        return self._chunks.take(numbers, present)

    def batch(self, numbers: Integers) -> pa.RecordBatch:
        return pa.RecordBatch.from_arrays(self.take(numbers), schema=self.schema)

    def numbers(self) -> Integers:
        """Of all rows that are there, in order of arrival."""
        return np.flatnonzero(self._alive[: self.count])

    def slices(self) -> Iterator[tuple[Integers, pa.RecordBatch]]:
        """All rows that are there, so many at a time that they fit into memory: their numbers and columns."""
        numbers = self.numbers()
        for begin in range(0, len(numbers), _SLICE):
            chosen = numbers[begin : begin + _SLICE]
            yield chosen, self.batch(chosen)

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
        self._chunks.keep(kept)
        self._renumber(kept)
        return True

    def _renumber(self, numbers: Integers) -> None:
        self._ids, self._alive, self._noted = self._ids[numbers], self._alive[numbers], self._noted[numbers]
        self._notes = {name: values[numbers] for name, values in self._notes.items()}
        self.count = len(numbers)

    # -- as a table of the backend -----------------------------------------------------------------------------

    def keys(self) -> Iterator[Any]:
        yield from dict.fromkeys(key for _, columns in self.slices() for key in self._keys_of(columns))

    def _keys_of(self, columns: pa.RecordBatch) -> list[Any]:
        return keys_of_column(self.key_column_of(columns))

    def remove(self, key: Any) -> None:
        for numbers, columns in self.slices():
            self.delete(numbers[[found == key for found in self._keys_of(columns)]])

    def take_delta(self) -> RowChanges | None:
        numbers = self.numbers()
        ids = self._ids[numbers]
        cut = int(np.searchsorted(ids, self._saved_id))
        added, old = numbers[cut:], numbers[:cut]
        noted = old[self._noted[old]]
        removed = np.concatenate(self._removed) if self._removed else np.zeros(0, np.int64)
        removed = removed[removed < self._saved_id]
        # Ids of rows that came and went since then count as well: a process that applies this goes on after them.
        unchanged = self._saved_id == self._next_id and not (len(noted) or len(removed))
        self._noted[: self.count] = False
        self._removed = []
        self._saved_id = self._next_id
        if unchanged:
            return None
        changes = self._changes(added, removed)
        changes.noted, changes.new_notes = self._ids[noted], {name: v[noted] for name, v in self._notes.items()}
        return changes

    def full_delta(self) -> RowChanges:
        """Everything; with state on disk what is not in pages."""
        return self._changes(self.numbers() if self._disk is None else _NO_ROWS, _NO_ROWS)

    def _changes(self, numbers: Integers, removed: Integers) -> RowChanges:
        notes = {name: values[numbers] for name, values in self._notes.items()}
        return RowChanges(self._ids[numbers], self.batch(numbers), notes, removed, next_id=self._next_id)

    def apply_delta(self, delta: RowChanges | dict[Any, Any]) -> None:
        """Changes of a log, or entries of a savepoint."""
        if isinstance(delta, dict):
            self._add_saved(delta)
            return
        if self._disk is not None and len(delta.ids) and not delta.next_id:
            raise JobExecutionError(
                "the log of this job was written by an earlier version of Penstock, which had the rows of tables beside"
                " its pages: start the program as a new job from a checkpoint or savepoint, with penstock run -s PATH"
            )
        if self._disk is not None and self._disk.store.is_replaying:
            news = np.array([self._disk.store.news(page) for page in range(PAGES)])
            delta = delta.only(lambda ids: news[_pages_of(ids)])
        places = self._places(delta.removed)
        self._alive[places] = False
        self.alive_count -= len(places)
        places = self._places(delta.noted)
        for name, values in delta.new_notes.items():
            self._notes[name][places] = values
        self._append(delta.columns, delta.ids, delta.notes)
        self._saved_id = self._next_id = max(self._next_id, delta.next_id)
        self._removed = []

    def _places(self, ids: Integers) -> Integers:
        """The numbers of ids that are there; ids ascend, but those out of pages and those out of deltas apart."""
        first = self._from_pages
        places = first + np.searchsorted(self._ids[first : self.count], ids)
        if first:
            before = np.searchsorted(self._ids[:first], ids)
            places = np.where(self._ids[np.minimum(before, first - 1)] == ids, before, places)
        return places

    def pieces(self, entries: int) -> Iterator[dict[Any, Any]]:
        """By key, the rows in order of arrival, each with its notes."""
        slots = KeySlots()
        parts = [(slots.find(self.key_column_of(columns), add=True), numbers) for numbers, columns in self.slices()]
        if not parts:
            return
        of_row, numbers = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        order = np.argsort(of_row, kind="stable")
        numbers = numbers[order]
        starts = np.flatnonzero(np.diff(of_row[order], prepend=-1))
        bounds = [*starts.tolist(), len(numbers)]
        for begin in range(0, len(starts), entries):
            end = min(begin + entries, len(starts))
            columns = self.batch(numbers[bounds[begin] : bounds[end]])
            keys = self._keys_of(columns.take(pa.array(starts[begin:end] - bounds[begin])))
            notes = self._notes_of(numbers[bounds[begin] : bounds[end]])
            rows = iter(zip(notes, rows_of(columns.columns), strict=True))
            lengths = np.diff(bounds[begin : end + 1]).tolist()
            yield {key: (True, list(islice(rows, length))) for key, length in zip(keys, lengths, strict=True)}

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

    # -- pages of the job's log, with state on disk ----------------------------------------------------------------

    def page(self, number: int) -> tuple[bytes, bytes] | None:
        """The rows that are in a page of the store, and their place there."""
        assert self._disk is not None
        numbers = self.numbers()
        numbers = numbers[_pages_of(self._ids[numbers]) == number]
        if not len(numbers):
            return None
        return self._disk.address(number), dumps(self._changes(numbers, _NO_ROWS))

    def discover(self) -> None:
        """Takes the rows out of the pages that were loaded."""
        if self._disk is None:
            return
        for page in range(PAGES):
            content = self._disk.taken(page)
            if content is not None:
                saved: RowChanges = loads(content)
                self._append(saved.columns, saved.ids, saved.notes)
        self._sort()
        self._saved_id = self._next_id
        self._from_pages = self.count

    def replayed(self) -> None:
        """All deltas of a log have been applied."""
        if self._from_pages:
            self._from_pages = 0
            self._sort()

    def _sort(self) -> None:
        """Brings rows into the order of their ids again."""
        numbers = self.numbers()
        numbers = numbers[np.argsort(self._ids[numbers], kind="stable")]
        chunks = self._no_chunks()
        for begin in range(0, len(numbers), _SLICE):
            chunks.append(self.batch(numbers[begin : begin + _SLICE]))
        self._chunks = chunks
        self._renumber(numbers)


def row_store(
    operator: Operator, name: str, schema: pa.Schema, key_column_of: KeyColumnOf, notes: tuple[str, ...] = ()
) -> RowStore:
    """A table of an operator's keyed state."""

    def make(disk: DiskTables | None) -> RowStore:
        return RowStore(schema, key_column_of, notes, None if disk is None else disk.place(name))

    store: RowStore = operator.memory.keyed.table(name, ListStateDescriptor, make)
    return store


def _pages_of(ids: Integers) -> Integers:
    return (ids >> _BLOCK_BITS) % PAGES


def _grown(array: npt.NDArray[Any], size: int) -> npt.NDArray[Any]:
    larger = np.zeros(size, array.dtype)
    larger[: len(array)] = array
    return larger

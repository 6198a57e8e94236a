"""The first rows of a partition in an order, and what changes among them: the three strategies of Flink.

What a change looks like is Flink's: with rank numbers (or an offset) every row whose number changed is updated, without
them a row that leaves is deleted and one that comes is inserted.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterator
from operator import itemgetter
from typing import Any

from penstock.runtime.state.table import DELETED
from penstock.runtime.table.change_rows import AFTER, BEFORE, DELETE, INSERT

Row = tuple[Any, ...]
SortValue = tuple[Any, ...]
Rows = dict[int, tuple[SortValue, Row]]  # by number
Emit = Callable[[int, Row, int], None]  # kind, row, rank
Entry = tuple[SortValue, int]  # the number of a row keeps those with equal sort keys in order of arrival


class TopN:
    """One partition. `rows` has number -> (sort key, row), as it is kept in state; `note` tells what changed there."""

    def __init__(self, rows: Rows, note: dict[int, Any], start: int, end: int) -> None:
        self._rows = rows
        self.note = note
        self.entries: list[Entry] = sorted((key, number) for number, (key, _) in rows.items())
        self._next = max(rows, default=-1) + 1
        self._start, self._end = start, end

    def bar(self) -> SortValue | None:
        """A new row must have a smaller sort key than this; None while there is room."""
        return self.entries[-1][0] if len(self.entries) >= self._end else None

    def row(self, place: int) -> Row:
        return self._rows[self.entries[place][1]][1]

    def _add(self, key: SortValue, row: Row) -> int:
        """Returns its place."""
        number, self._next = self._next, self._next + 1
        self._rows[number] = self.note[number] = (key, row)
        entry = (key, number)
        insort(self.entries, entry)
        return bisect_left(self.entries, entry)

    def _drop(self, place: int) -> Row:
        _, number = self.entries.pop(place)
        self.note[number] = DELETED
        return self._rows.pop(number)[1]

    def _shifted_by_insert(self, place: int, emit: Emit) -> None:
        """The row at this place is new: it takes the rank of the one after it, and so on."""
        current, last = self.row(place), min(len(self.entries), self._end + 1)
        for rank in range(place + 1, last):
            following = self.row(rank)
            self._replaced(following, current, rank, emit)
            current = following
        if len(self.entries) <= self._end and len(self.entries) >= self._start:
            emit(INSERT, current, len(self.entries))

    def _shown(self, rank: int) -> bool:
        return self._start <= rank <= self._end

    def _replaced(self, old: Row, new: Row, rank: int, emit: Emit) -> None:
        if self._shown(rank):
            emit(BEFORE, old, rank)
            emit(AFTER, new, rank)


class AppendTopN(TopN):
    """Rows are only added: those that have left never come back, and are forgotten."""

    def insert(self, key: SortValue, row: Row, numbered: bool, emit: Emit) -> None:
        bar = self.bar()
        if bar is not None and not key < bar:
            return
        place = self._add(key, row)
        if numbered:
            self._shifted_by_insert(place, emit)
            if len(self.entries) > self._end:
                self._drop(self._end)
            return
        if len(self.entries) > self._end:
            emit(DELETE, self._drop(self._end), 0)
        emit(INSERT, row, 0)


class TopOne(TopN):
    """The first row alone: a better one replaces it."""

    def insert(self, key: SortValue, row: Row, numbered: bool, emit: Emit) -> None:
        if not self.entries:
            self._add(key, row)
            emit(INSERT, row, 1)
        elif key < self.entries[0][0]:
            old = self._drop(0)
            self._add(key, row)
            self._replaced(old, row, 1, emit)


class RetractTopN(TopN):
    """Rows may be taken back, so that all are kept."""

    def insert(self, key: SortValue, row: Row, numbered: bool, emit: Emit) -> None:
        place = self._add(key, row)
        if place >= self._end:
            return
        if numbered:
            self._shifted_by_insert(place, emit)
            return
        if len(self.entries) > self._end:
            emit(DELETE, self.row(self._end), 0)
        emit(INSERT, row, 0)

    def retract(self, key: SortValue, row: Row, numbered: bool, emit: Emit) -> None:
        place = next((place for place in self._places(key) if self.row(place) == row), None)
        if place is None:
            return
        gone = self._drop(place)
        if place >= self._end:
            return
        if not numbered:
            emit(DELETE, gone, 0)
            if len(self.entries) >= self._end:
                emit(INSERT, self.row(self._end - 1), 0)
            return
        previous = gone
        for rank in range(place + 1, min(len(self.entries), self._end) + 1):
            following = self.row(rank - 1)
            self._replaced(previous, following, rank, emit)
            previous = following
        left = len(self.entries) + 1  # the rank that nobody has any more
        if self._start <= left <= self._end:
            emit(DELETE, previous, left)

    def _places(self, key: SortValue) -> Iterator[int]:
        yield from range(bisect_left(self.entries, (key, -1)), bisect_right(self.entries, (key, self._next)))


class UpdateTopN(TopN):
    """Rows with a key of their own are updated, and never become worse; so no more than the first have to be kept."""

    def __init__(self, rows: Rows, note: dict[int, Any], start: int, end: int, row_key: tuple[int, ...]) -> None:
        super().__init__(rows, note, start, end)
        self._key_of: Callable[[Row], Any] = itemgetter(*row_key)
        self._numbers = {self._key_of(row): number for number, (_, row) in rows.items()}

    def insert(self, key: SortValue, row: Row, numbered: bool, emit: Emit) -> None:
        row_key = self._key_of(row)
        number = self._numbers.get(row_key)
        if number is not None:
            self._update(number, key, row, numbered, emit)
            return
        bar = self.bar()
        if bar is not None and not key < bar:
            return
        self._numbers[row_key] = self._next
        place = self._add(key, row)
        if numbered:
            self._shifted_by_insert(place, emit)
            if len(self.entries) > self._end:
                del self._numbers[self._key_of(self._drop(self._end))]
            return
        if len(self.entries) > self._end:
            left = self._drop(self._end)
            del self._numbers[self._key_of(left)]
            emit(DELETE, left, 0)
        emit(INSERT, row, 0)

    def _update(self, number: int, key: SortValue, row: Row, numbered: bool, emit: Emit) -> None:
        old_key, old = self._rows[number]
        old_place = bisect_left(self.entries, (old_key, number))
        place = old_place
        if key == old_key:
            self._rows[number] = self.note[number] = (key, row)
        else:
            self.entries.pop(old_place)
            del self._rows[number]
            self.note[number] = DELETED
            self._numbers[self._key_of(row)] = self._next
            place = self._add(key, row)
        if not numbered:
            emit(BEFORE, old, 0)
            emit(AFTER, row, 0)
        elif place <= old_place:
            self._moved_up(place, old_place, old, emit)
        else:
            self._moved_down(place, old_place, old, emit)

    def _moved_up(self, place: int, old_place: int, old: Row, emit: Emit) -> None:
        """Rows between the new and the old place are one rank further back."""
        if place == old_place:
            self._replaced(old, self.row(place), place + 1, emit)
            return
        for rank in range(place + 1, old_place + 1):
            if self._shown(rank):
                emit(BEFORE, self.row(rank), rank)
            if rank == place + 1 and self._shown(old_place + 1):
                emit(BEFORE, old, old_place + 1)  # a row is not there twice at any moment
            if self._shown(rank):
                emit(AFTER, self.row(rank - 1), rank)
        if self._shown(old_place + 1):
            emit(AFTER, self.row(old_place), old_place + 1)

    def _moved_down(self, place: int, old_place: int, old: Row, emit: Emit) -> None:
        """Only after state was forgotten: rows between the old and the new place come one rank forward."""
        for rank in range(old_place + 1, place + 2):
            before = old if rank == old_place + 1 else self.row(rank - 2)
            self._replaced(before, self.row(rank - 1), rank, emit)

"""Built-in aggregations over columns: records of a typed stream are grouped by NumPy and touch Python once per key.

Columns are gathered until a window fires, the epoch ends or they become many, and then merged into the same tables
that records go to one by one. Only what is exact in columns is done here: counting, sums of whole numbers that 64
bits hold, sums of fractions in their order of arrival, minima and maxima. Everything else falls back to the records
themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from penstock.runtime.batch import Batch, Integers, joined
from penstock.runtime.key_columns import keys_of_column, numbered
from penstock.runtime.operators.window_changes import WindowTable
from penstock.runtime.operators.window_fields import (
    FieldFolding,
    MaximumByFolding,
    MaximumFolding,
    MinimumByFolding,
    MinimumFolding,
    SumFolding,
)
from penstock.runtime.operators.window_folding import CountFolding
from penstock.runtime.operators.window_folding_base import Folding
from penstock.runtime.operators.window_granules import Granules

Numbers = Integers | npt.NDArray[np.float64]
_GATHERED_RECORDS = 1 << 20
_GATHERED_BYTES = 64 << 20
_LARGEST = (1 << 63) - 1


class Groups:
    """Which records belong to which key; keys are numbered in order of their first record."""

    def __init__(self, key_column: pa.Array) -> None:
        self.codes, distinct = numbered(key_column)
        self.keys = keys_of_column(distinct)

    def first_of(self, positions: Integers) -> Integers:
        """For each key the first of the given positions; each key must have one."""
        first = np.empty(len(self.keys), np.int64)
        # Of several assignments to one place the last one stays, so the first records go last.
        backwards = positions[::-1]
        first[self.codes[backwards]] = backwards
        return first

    def firsts(self) -> Integers:
        return self.first_of(np.arange(len(self.codes)))

    def counts(self) -> list[int]:
        return np.bincount(self.codes, minlength=len(self.keys)).tolist()  # type: ignore[no-any-return]

    def folded(self, ufunc: np.ufunc, numbers: Numbers, start: Numbers) -> Numbers:
        """A function over the numbers of each key, applied in the order of the records."""
        result = start.copy()
        with np.errstate(all="ignore"):  # Python's own sums do not warn either
            ufunc.at(result, self.codes, numbers)
        return result


class Records:
    """Some records of a batch: those of one window."""

    def __init__(self, batch: Batch, positions: Integers | None) -> None:
        self._batch = batch
        self._positions = positions  # None: all
        assert batch.key_column is not None
        chosen = batch.key_column if positions is None else batch.key_column.take(pa.array(positions))
        self.groups = Groups(chosen)

    def numbers(self, folding: FieldFolding) -> Numbers | None:
        column = self._batch.field(folding.position)
        if column is None or column.null_count:
            return None
        numbers: Any = column.to_numpy(zero_copy_only=False)
        if pa.types.is_integer(column.type):
            numbers = numbers.astype(np.int64, copy=False)
        elif pa.types.is_floating(column.type):
            numbers = numbers.astype(np.float64, copy=False)
            if np.isnan(numbers).any():  # which compares in its own way
                return None
        else:
            return None
        return numbers if self._positions is None else numbers[self._positions]  # type: ignore[no-any-return]

    def take(self, positions: Integers) -> list[Any]:
        return self._batch.take(positions if self._positions is None else self._positions[positions]).values

    def all(self) -> Batch:
        return self._batch if self._positions is None else self._batch.take(self._positions)


class _Gathered(NamedTuple):
    batch: Batch
    granules: Integers
    first: int
    last: int


class GatheredColumns:
    """Column batches in order of arrival, waiting to be merged into the tables of their windows."""

    def __init__(self, folding: Folding, granules: Granules) -> None:
        self._folding = folding
        self._granules = granules
        self._clear()

    def _clear(self) -> None:
        self._gathered: list[_Gathered] = []
        self._records = self._bytes = 0
        self._windows: set[int] = set()

    @staticmethod
    def serves(folding: Folding | None) -> bool:
        return type(folding) in _MERGERS

    @property
    def full(self) -> bool:
        return self._records >= _GATHERED_RECORDS or self._bytes >= _GATHERED_BYTES

    def add(self, batch: Batch, granules: Integers, windows: Iterable[int]) -> None:
        self._gathered.append(_Gathered(batch, granules, int(granules.min()), int(granules.max())))
        self._records += len(batch)
        assert batch.columns is not None
        self._bytes += batch.columns.nbytes
        self._windows.update(windows)

    def merge(self, table: WindowTable, until: int | None = None) -> None:
        """Brings records into the tables of their windows; with `until` only of windows that begin up to there.

        Such windows fire now, and get no more columns: late records do not come this way.
        """
        due = self._windows if until is None else {window for window in self._windows if window <= until}
        for window in sorted(due):
            for records in self._records_of(window):
                entries = table.writable(window, records.groups.keys)
                if not _MERGERS[type(self._folding)](self._folding, entries, records):
                    batch = records.all()
                    assert batch.keys is not None
                    self._folding.add_run(entries, batch.keys, batch.values)
        self._windows = self._windows - due
        if not self._windows:
            self._clear()
        else:
            needed = self._granules.of_window(min(self._windows))[0]
            self._gathered = [part for part in self._gathered if part.last >= needed]

    def _records_of(self, window: int) -> Iterator[Records]:
        first, last = self._granules.of_window(window)
        parts = [part for part in self._gathered if part.first <= last and part.last >= first]
        batches, granules = [part.batch for part in parts], [part.granules for part in parts]
        whole = joined(batches) if batches else None
        if whole is not None and whole.columns is not None and whole.has_key_column:
            batches, granules = [whole], [np.concatenate(granules)]
        for batch, numbers in zip(batches, granules, strict=True):
            inside = (numbers >= first) & (numbers <= last)
            if inside.all():
                yield Records(batch, None)
            elif inside.any():
                yield Records(batch, np.flatnonzero(inside))


def _merge_counts(folding: Folding, entries: dict[Any, Any], records: Records) -> bool:
    groups = records.groups
    get = entries.get
    for key, count in zip(groups.keys, groups.counts(), strict=True):
        entries[key] = get(key, 0) + count
    return True


def _merge_sums(folding: SumFolding, entries: dict[Any, Any], records: Records) -> bool:
    numbers, groups = records.numbers(folding), records.groups
    if numbers is None:
        return False
    firsts = _first_records(entries, records)
    if numbers.dtype == np.float64:
        # Rounding depends on the order: each key goes on from what it has. What is added to -0.0 stays as it is.
        held = [entries[key][1] if key in entries else -0.0 for key in groups.keys]
        sums = groups.folded(np.add, numbers, np.array(held, np.float64)).tolist()
        for key, total in zip(groups.keys, sums, strict=True):
            entries[key] = (firsts[key] if key in firsts else entries[key][0], total)
        return True
    if _largest(numbers) * len(numbers) > _LARGEST:
        return False
    sums = groups.folded(np.add, numbers, np.zeros(len(groups.keys), np.int64)).tolist()
    get = entries.get
    for key, total in zip(groups.keys, sums, strict=True):
        known = get(key)
        entries[key] = (firsts[key], total) if known is None else (known[0], known[1] + total)
    return True


def _merge_extremes(folding: MinimumFolding | MaximumFolding, entries: dict[Any, Any], records: Records) -> bool:
    found = _extremes(records, folding, isinstance(folding, MinimumFolding))
    if found is None:
        return False
    lowest = isinstance(folding, MinimumFolding)
    firsts = _first_records(entries, records)
    get = entries.get
    for key, extreme in zip(records.groups.keys, found[0], strict=True):
        held = get(key)
        if held is None:
            entries[key] = (firsts[key], extreme)
        elif extreme < held[1] if lowest else extreme > held[1]:
            entries[key] = (held[0], extreme)
    return True


def _merge_records_of_extremes(
    folding: MinimumByFolding | MaximumByFolding, entries: dict[Any, Any], records: Records
) -> bool:
    lowest = isinstance(folding, MinimumByFolding)
    found = _extremes(records, folding, lowest)
    if found is None:
        return False
    extremes, positions = found
    winners = []
    for number, (key, extreme) in enumerate(zip(records.groups.keys, extremes, strict=True)):
        held = entries.get(key)
        if held is None or (extreme < held[1] if lowest else extreme > held[1]):
            winners.append((number, key, extreme))
    chosen = records.take(positions[[number for number, _, _ in winners]]) if winners else []
    for (_, key, extreme), record in zip(winners, chosen, strict=True):
        entries[key] = (record, extreme)
    return True


def _extremes(records: Records, folding: FieldFolding, lowest: bool) -> tuple[list[Any], Integers] | None:
    """For each key its extreme number, and the position of the first record that has it."""
    numbers, groups = records.numbers(folding), records.groups
    if numbers is None:
        return None
    extremes = groups.folded(np.minimum if lowest else np.maximum, numbers, numbers[groups.firsts()])
    positions = groups.first_of(np.flatnonzero(numbers == extremes[groups.codes]))
    return numbers[positions].tolist(), positions  # of 0.0 and -0.0 the one that came first


def _largest(numbers: Numbers) -> int:
    return max(abs(int(numbers.min())), abs(int(numbers.max())))


def _first_records(entries: dict[Any, Any], records: Records) -> dict[Any, Any]:
    """The first record of each key that the window does not know yet."""
    groups = records.groups
    firsts = groups.firsts()
    if not entries:
        return dict(zip(groups.keys, records.take(firsts), strict=True))
    new = [number for number, key in enumerate(groups.keys) if key not in entries]
    if not new:
        return {}
    return dict(zip([groups.keys[number] for number in new], records.take(firsts[new]), strict=True))


_MERGERS: dict[type, Any] = {
    CountFolding: _merge_counts,
    SumFolding: _merge_sums,
    MinimumFolding: _merge_extremes,
    MaximumFolding: _merge_extremes,
    MinimumByFolding: _merge_records_of_extremes,
    MaximumByFolding: _merge_records_of_extremes,
}

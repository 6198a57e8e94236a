"""Built-in aggregations over columns: records of a typed stream are grouped by NumPy and touch Python once per key.

Columns are gathered until a window fires, the epoch ends or they become many, and then merged into the same tables
that records go to one by one. Only what is exact in columns is done here: counting, and sums, minima and maxima of
whole numbers that 64 bits hold. Everything else falls back to the records themselves.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from penstock.runtime.column_batch import ColumnBatch, joined, python_keys
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

Integers = npt.NDArray[np.int64]
_GATHERED_RECORDS = 1 << 20
_GATHERED_BYTES = 64 << 20
_LARGEST = (1 << 63) - 1


class Groups:
    """Which records belong to which key; keys are numbered in order of their first record."""

    def __init__(self, key_column: pa.Array) -> None:
        encoded = key_column.dictionary_encode()
        self.codes: npt.NDArray[np.int32] = encoded.indices.to_numpy(zero_copy_only=False)
        self.keys = python_keys(encoded.dictionary)

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

    def folded(self, ufunc: np.ufunc, numbers: Integers, start: Integers) -> Integers:
        """A commutative function over the numbers of each key."""
        result = start.copy()
        ufunc.at(result, self.codes, numbers)
        return result


class GatheredColumns:
    """Column batches by window, waiting to be merged into the window's table."""

    def __init__(self, folding: Folding) -> None:
        self._folding = folding
        self._batches: dict[int, list[ColumnBatch]] = {}
        self._records = self._bytes = 0
        self.earliest: int | None = None  # start of the earliest window with gathered records

    @staticmethod
    def serves(folding: Folding | None) -> bool:
        return type(folding) in _MERGERS

    @property
    def full(self) -> bool:
        return self._records >= _GATHERED_RECORDS or self._bytes >= _GATHERED_BYTES

    def add(self, start: int, batch: ColumnBatch) -> None:
        self._batches.setdefault(start, []).append(batch)
        self._records += len(batch)
        self._bytes += batch.columns.nbytes
        self.earliest = start if self.earliest is None else min(self.earliest, start)

    def take(self) -> dict[int, list[ColumnBatch]]:
        batches, self._batches = self._batches, {}
        self._records = self._bytes = 0
        self.earliest = None
        return batches

    def merge(self, entries: dict[Any, Any], changed: dict[Any, Any], batches: list[ColumnBatch]) -> None:
        """Brings the records of one window into its table."""
        whole = joined(batches)
        if whole is None or not _MERGERS[type(self._folding)](self._folding, entries, changed, whole):
            for batch in batches:
                assert batch.keys is not None
                self._folding.add_run(entries, changed, batch.keys, batch.values)


def _merge_counts(folding: Folding, entries: dict[Any, Any], changed: dict[Any, Any], batch: ColumnBatch) -> bool:
    groups = Groups(batch.key_column)
    get = entries.get
    for key, count in zip(groups.keys, groups.counts(), strict=True):
        entries[key] = changed[key] = get(key, 0) + count
    return True


def _merge_sums(folding: SumFolding, entries: dict[Any, Any], changed: dict[Any, Any], batch: ColumnBatch) -> bool:
    numbers = _numbers(batch, folding)
    if numbers is None or _largest(numbers) * len(numbers) > _LARGEST:
        return False
    groups = Groups(batch.key_column)
    sums = groups.folded(np.add, numbers, np.zeros(len(groups.keys), np.int64)).tolist()
    records = _first_records(entries, groups, batch)
    get = entries.get
    for key, total in zip(groups.keys, sums, strict=True):
        held = get(key)
        entries[key] = changed[key] = (records[key], total) if held is None else (held[0], held[1] + total)
    return True


def _merge_extremes(
    folding: MinimumFolding | MaximumFolding, entries: dict[Any, Any], changed: dict[Any, Any], batch: ColumnBatch
) -> bool:
    numbers = _numbers(batch, folding)
    if numbers is None:
        return False
    groups = Groups(batch.key_column)
    lowest = isinstance(folding, MinimumFolding)
    extremes = groups.folded(np.minimum if lowest else np.maximum, numbers, numbers[groups.firsts()]).tolist()
    records = _first_records(entries, groups, batch)
    get = entries.get
    for key, extreme in zip(groups.keys, extremes, strict=True):
        held = get(key)
        if held is None:
            entries[key] = changed[key] = (records[key], extreme)
        elif extreme < held[1] if lowest else extreme > held[1]:
            entries[key] = changed[key] = (held[0], extreme)
    return True


def _merge_records_of_extremes(
    folding: MinimumByFolding | MaximumByFolding, entries: dict[Any, Any], changed: dict[Any, Any], batch: ColumnBatch
) -> bool:
    numbers = _numbers(batch, folding)
    if numbers is None:
        return False
    groups = Groups(batch.key_column)
    lowest = isinstance(folding, MinimumByFolding)
    extremes = groups.folded(np.minimum if lowest else np.maximum, numbers, numbers[groups.firsts()])
    positions = groups.first_of(np.flatnonzero(numbers == extremes[groups.codes]))
    winners = []
    for number, (key, extreme) in enumerate(zip(groups.keys, extremes.tolist(), strict=True)):
        held = entries.get(key)
        if held is None or (extreme < held[1] if lowest else extreme > held[1]):
            winners.append((number, key, extreme))
    records = batch.take(positions[[number for number, _, _ in winners]]).values if winners else []
    for (_, key, extreme), record in zip(winners, records, strict=True):
        entries[key] = changed[key] = (record, extreme)
    return True


def _numbers(batch: ColumnBatch, folding: FieldFolding) -> Integers | None:
    column = batch.field(folding.position)
    if column is None or not pa.types.is_integer(column.type) or column.null_count:
        return None
    numbers: Integers = column.to_numpy(zero_copy_only=False).astype(np.int64, copy=False)
    return numbers


def _largest(numbers: Integers) -> int:
    return max(abs(int(numbers.min())), abs(int(numbers.max())))


def _first_records(entries: dict[Any, Any], groups: Groups, batch: ColumnBatch) -> dict[Any, Any]:
    """The first record of each key that the window does not know yet."""
    new = [number for number, key in enumerate(groups.keys) if key not in entries]
    if not new:
        return {}
    return dict(zip([groups.keys[number] for number in new], batch.take(groups.firsts()[new]).values, strict=True))


_MERGERS: dict[type, Any] = {
    CountFolding: _merge_counts,
    SumFolding: _merge_sums,
    MinimumFolding: _merge_extremes,
    MaximumFolding: _merge_extremes,
    MinimumByFolding: _merge_records_of_extremes,
    MaximumByFolding: _merge_records_of_extremes,
}

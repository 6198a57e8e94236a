"""Rows that are taken back: each is told by some of its columns, and the changes of a batch are applied at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.columns.typesystem.base import DataType
from penstock.runtime.key_columns import Booleans, Integers, hashes_of, integers_as_column
from penstock.runtime.table.keys import key_column
from penstock.runtime.table.row_chains import RowChains
from penstock.runtime.table.row_store import RowStore


class RowRemoval:
    """With a unique key the identity of a row is that key, and a row takes the place of an older one with the same.

    Without, it is all columns, and equal rows may be there several times.
    """

    def __init__(self, store: RowStore, identity: Sequence[int], types: Sequence[DataType], unique: bool) -> None:
        self._store = store
        self._identity = tuple(identity)
        self._types = tuple(types[place] for place in identity)
        self._unique = unique
        self.chains = RowChains(store, lambda columns: self._hashes(self._forms(columns)))

    def _forms(self, columns: pa.RecordBatch) -> pa.Array:
        chosen = [columns.column(place) for place in self._identity]
        return key_column(chosen, self._types, columns.num_rows)

    def _hashes(self, forms: pa.Array) -> pa.Array:
        return integers_as_column(hashes_of(forms).view(np.int64))

    def change(self, columns: pa.RecordBatch, adds: Booleans, numbers: Integers) -> tuple[Integers, Booleans]:
        """Rows of a batch come and go in this order; numbers are those of the rows that come.

        Returns which numbers are gone, and which rows of the batch took the place of another one.
        """
        forms = self._forms(columns)
        hashes = self._hashes(forms)
        self.chains.add(hashes.filter(pa.array(adds)), numbers)
        if self._unique:
            return self._replace(forms, hashes, adds, numbers)
        return self._take_back(forms, hashes, adds), np.zeros(len(adds), np.bool_)

    def _same_rows(self, forms: pa.Array, hashes: pa.Array) -> tuple[Integers, Integers]:
        """Pairs of a position and the number of a row with the same identity."""
        positions, numbers = self.chains.find(hashes)
        if not len(positions):
            return positions, numbers
        ours, theirs = forms.take(pa.array(positions)), self._forms(self._store.batch(numbers))
        same = _equal(ours, theirs)
        return positions[same], numbers[same]

    def _take_back(self, forms: pa.Array, hashes: pa.Array, adds: Booleans) -> Integers:
        """The first row that goes takes the first of the equal ones, the second the second, and so on."""
        going = np.flatnonzero(~adds)
        if not len(going):
            return going
        chosen = pa.array(going)
        positions, numbers = self._same_rows(forms.take(chosen), hashes.take(chosen))
        nth_number = _places_in_groups(positions)
        codes = _codes(forms.take(chosen))
        nth_row = np.empty(len(going), np.int64)
        order = np.argsort(codes, kind="stable")
        nth_row[order] = _places_in_groups(codes[order])
        gone: Integers = numbers[nth_number == nth_row[positions]]
        return gone

    def _replace(
        self, forms: pa.Array, hashes: pa.Array, adds: Booleans, numbers: Integers
    ) -> tuple[Integers, Booleans]:
        """Of each identity in the batch at most the last row stays, and only if it came."""
        if not len(adds):
            return numbers, adds
        own = np.full(len(adds), -1, np.int64)
        own[adds] = numbers
        codes = _codes(forms)
        order = np.argsort(codes, kind="stable")
        sorted_codes = codes[order]
        differs = sorted_codes[1:] != sorted_codes[:-1]
        first, last = np.r_[True, differs], np.r_[differs, True]
        positions, found = self._same_rows(forms.take(pa.array(order[first])), hashes.take(pa.array(order[first])))
        old = found < numbers[0] if len(numbers) else np.ones(len(found), np.bool_)
        had_one = np.zeros(int(first.sum()), np.bool_)
        had_one[positions[old]] = True
        before = np.r_[False, adds[order][:-1]]
        before[first] = had_one
        replaces = np.zeros(len(adds), np.bool_)
        replaces[order] = before & adds[order]
        stays = np.zeros(len(adds), np.bool_)
        stays[order[last]] = True
        return np.concatenate([found[old], own[adds & ~stays]]), replaces


def _codes(forms: pa.Array) -> Integers:
    """Equal numbers for equal identities."""
    if pa.types.is_struct(forms.type):
        codes = np.zeros(len(forms), np.int64)
        for part in forms.flatten():
            of_part = _codes(part)
            codes = np.unique(codes * (int(of_part.max(initial=0)) + 1) + of_part, return_inverse=True)[1]
        return codes
    encoded = forms.dictionary_encode(null_encoding="encode")
    indices: Integers = encoded.indices.to_numpy().astype(np.int64)
    return indices


def _equal(left: pa.Array, right: pa.Array) -> Booleans:
    if pa.types.is_struct(left.type):
        found = np.ones(len(left), np.bool_)
        for one, other in zip(left.flatten(), right.flatten(), strict=True):
            found &= _equal(one, other)
        return found
    same = pc.fill_null(pc.equal(left, right), False)
    if left.null_count and right.null_count:
        same = pc.or_(same, pc.and_(left.is_null(), right.is_null()))
    return same.to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]


def _places_in_groups(groups: Integers) -> Integers:
    """0, 1, 2, .. within each run of equal numbers."""
    count = len(groups)
    if not count:
        return groups
    first = np.r_[True, groups[1:] != groups[:-1]]
    return np.arange(count) - np.maximum.accumulate(np.where(first, np.arange(count), 0))

"""How often each value has come for each slot, in arrays: DISTINCT of a whole batch in a few calls of NumPy.

A slot has a *life* as long as it keeps its values: forgetting them all is to take another one. An entry is a life and
the number of a value, found in a table of integers; what lives that are over have left is thrown away when it is the
majority.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from penstock.runtime.key_columns import Integers, integers_as_column, numbered
from penstock.runtime.key_index import IntegerIndex, KeyNumbers
from penstock.runtime.state.table import DELETED
from penstock.runtime.table.runs import Runs, running_sum
from penstock.runtime.table.slot_maps import grown

Signs = npt.NDArray[np.int8]

_NUMBER_BITS = 32
_NUMBER = (1 << _NUMBER_BITS) - 1
_NULL = 0  # its number; other values have numbers from 1
_FEW_DEAD = 4096


class CountsDelta(NamedTuple):
    """Of slots by the place of their keys: those whose values are all others now, and entries; no count: it is gone."""

    replaced: Integers
    places: Integers
    values: Any  # a list of texts, or an array
    nulls: npt.NDArray[np.bool_]
    counts: Integers


class RunValues:
    """The values of a batch numbered within their runs: made once for all calls with the same argument."""

    def __init__(self) -> None:
        self._runs: Runs | None = None
        self._column: pa.Array | None = None

    def number(self, runs: Runs, column: pa.Array) -> None:
        if runs is self._runs and column is self._column:
            return
        self._runs, self._column = runs, column
        codes, self.distinct = numbered(column)
        count = max(len(self.distinct), 1)
        pairs = numbered(integers_as_column(runs.run_of_row * count + codes[runs.order]))
        self.pair_of_row = pairs.codes  # in the order of runs
        both: Integers = pairs.distinct.to_numpy()
        self.runs_of_pairs, self.codes_of_pairs = np.divmod(both, count)

    def forget(self) -> None:
        """Batches must not live as long as the operator."""
        self._runs = self._column = None


class CountedValues:
    """The maps of a slot table in which DISTINCT remembers; the values of one are of one type."""

    def __init__(self) -> None:
        self._forget()

    def _forget(self) -> None:
        self._values = KeyNumbers()
        self._entries = IntegerIndex()
        self._counts: Integers = np.zeros(0, np.int64)  # by entry
        self._changed: npt.NDArray[np.bool_] = np.zeros(0, np.bool_)  # by entry
        self._life: Integers = np.full(0, -1, np.int64)  # by slot
        self._slot: Integers = np.full(0, -1, np.int64)  # by life
        self._replaced: npt.NDArray[np.bool_] = np.zeros(0, np.bool_)  # by slot
        self._lives = 0

    # -- rows --------------------------------------------------------------------------------------------------

    def count(self, runs: Runs, signs: Signs | None, values: RunValues, rows: int) -> Signs:
        """Takes rows in; their signs where a value comes or goes, 0 elsewhere."""
        places = None if signs is None else np.flatnonzero(signs[runs.order])
        pair_of_row = values.pair_of_row if places is None else values.pair_of_row[places]
        used, codes = _compressed(pair_of_row, len(values.runs_of_pairs))
        of_run = self._lives_of(runs, values.runs_of_pairs[used])
        numbers = self._numbers(values.distinct, values.codes_of_pairs[used])
        entries = self._entries_of((of_run[values.runs_of_pairs[used]] << _NUMBER_BITS) | numbers)
        begins = self._counts[entries]
        self._changed[entries] = True
        counted = np.zeros(rows, np.int8)
        row_of = runs.order if places is None else runs.order[places]
        ordered = None if signs is None else signs[row_of]
        if (ordered is None or (ordered > 0).all()) and (begins >= 0).all():
            first = np.empty(len(used), np.int64)
            first[codes[::-1]] = row_of[::-1]  # of several assignments to one place the last one stays
            counted[first[begins == 0]] = 1
            self._counts[entries] = begins + np.bincount(codes, minlength=len(used))
            return counted
        of_entry = Runs.by_slot(codes, entries, np.zeros(len(entries), np.bool_))
        steps = np.ones(len(codes), np.int64) if ordered is None else ordered[of_entry.order].astype(np.int64)
        now = running_sum(steps, begins, of_entry)
        moved = (now > 0) != (now - steps > 0)
        counted[row_of[of_entry.order[moved]]] = steps[moved]
        self._counts[entries] = now[of_entry.lasts]
        return counted

    def _lives_of(self, runs: Runs, needed: Integers) -> Integers:
        """The life of each run, -1 for one that has no row to count; later runs of a slot are lives of their own."""
        slots = runs.slots
        self._make_room(slots)
        lives = np.where(runs.fresh, -1, self._life[slots])
        missing = np.zeros(len(slots), np.bool_)
        missing[needed] = True
        new = np.flatnonzero(missing & (lives < 0))
        self.remove_slots(slots[runs.fresh])
        lives[new] = self._new_lives(len(new))
        last = np.ones(len(slots), np.bool_)
        last[:-1] = slots[1:] != slots[:-1]
        if not last.all():
            over = lives[~last]
            self._slot[over[over >= 0]] = -1
        kept = lives[last]
        self._life[slots[last]] = kept
        self._slot[kept[kept >= 0]] = slots[last][kept >= 0]
        return lives

    def _new_lives(self, count: int) -> Integers:
        found = np.arange(self._lives, self._lives + count)
        self._lives += count
        self._slot = grown(self._slot, self._lives, -1)
        return found

    def _make_room(self, slots: Integers) -> None:
        size = int(slots.max(initial=-1)) + 1
        self._life, self._replaced = grown(self._life, size, -1), grown(self._replaced, size, False)

    def _numbers(self, distinct: pa.Array, codes: Integers) -> Integers:
        """The numbers of values by their codes; those that no code names get none."""
        named = np.zeros(len(distinct), np.bool_)
        named[codes] = True
        if distinct.null_count:
            named &= distinct.is_valid().to_numpy(zero_copy_only=False)
        wanted = np.flatnonzero(named)
        numbers = np.full(len(distinct), _NULL, np.int64)
        if len(wanted):
            chosen = distinct if len(wanted) == len(distinct) else distinct.take(integers_as_column(wanted))
            numbers[wanted] = self._values.numbers_of(_as_keys(chosen)) + 1
        return numbers[codes]

    def _entries_of(self, keys: Integers) -> Integers:
        """The entries of keys that all differ; new ones have the count 0."""
        found = self._entries.find(integers_as_column(keys))
        new = np.flatnonzero(found < 0)
        if len(new):
            first = len(self._entries)
            found[new] = np.arange(first, first + len(new))
            self._entries.add(integers_as_column(keys[new]))
            self._counts = grown(self._counts, len(self._entries), 0)
            self._changed = grown(self._changed, len(self._entries), False)
        return found

    def remove_slots(self, slots: Integers) -> None:
        """These slots have no values any more."""
        known = slots[slots < len(self._life)]
        known = known[self._life[known] >= 0]
        self._slot[self._life[known]] = -1
        self._life[known] = -1
        self._replaced[known] = True

    # -- snapshots ---------------------------------------------------------------------------------------------

    def changed_slots(self) -> Integers:
        slots = self._slots_of(np.flatnonzero(self._changed))
        return np.concatenate([slots[slots >= 0], np.flatnonzero(self._replaced)])

    def _slots_of(self, entries: Integers) -> Integers:
        slots: Integers = self._slot[self._entries.keys_at(entries) >> _NUMBER_BITS]
        return slots

    def take_delta_by(self, slots: Integers) -> CountsDelta:
        delta = self._delta(np.flatnonzero(self._changed), slots, np.flatnonzero(self._replaced))
        self._changed[:] = False
        self._replaced[:] = False
        self._compact()
        return delta

    def full_delta_of(self, slots: Integers) -> CountsDelta:
        return self._delta(np.flatnonzero(self._counts), slots, slots)

    def _delta(self, entries: Integers, slots: Integers, replaced: Integers) -> CountsDelta:
        place_of = np.full(int(slots.max(initial=-1)) + 1, -1, np.int64)
        place_of[slots] = np.arange(len(slots))
        of_entries = self._slots_of(entries)
        alive = (of_entries >= 0) & (of_entries < len(place_of))
        entries, places = entries[alive], place_of[of_entries[alive]]
        numbers = self._entries.keys_at(entries) & _NUMBER
        nulls = numbers == _NULL
        values = self._values.keys_at(np.maximum(numbers - 1, 0)) if len(self._values) else np.zeros(len(numbers), int)
        return CountsDelta(place_of[replaced], places, values, nulls, self._counts[entries])

    def apply_delta_to(self, slots: Integers, delta: Any) -> None:
        if isinstance(delta, dict):  # as logs had it when these were dictionaries
            for place, (replaces, changed) in delta.items():
                self._put(slots[[place]], replaces, {k: 0 if n is DELETED else n for k, n in changed.items()})
            return
        values = delta.values if isinstance(delta.values, list) else delta.values.tolist()
        self._set(slots[delta.replaced], slots[delta.places], values, delta.nulls, delta.counts)

    def _set(
        self, replaced: Integers, slots: Integers, values: list[Any], nulls: npt.NDArray[np.bool_], counts: Integers
    ) -> None:
        """Writes entries, which do not count as changed."""
        self._make_room(slots)
        before = self._replaced.copy()
        self.remove_slots(replaced)
        self._replaced = before
        different = np.unique(slots)
        new = different[self._life[different] < 0]
        lives = self._new_lives(len(new))
        self._life[new], self._slot[lives] = lives, new
        codes, distinct = numbered(pa.array(values, mask=nulls) if len(values) else pa.array([], pa.int64()))
        numbers = self._numbers(distinct, codes.astype(np.int64))
        entries = self._entries_of((self._life[slots] << _NUMBER_BITS) | numbers)
        self._counts[entries] = counts

    def dicts(self, slots: Integers) -> list[dict[Any, Any]]:
        delta = self.full_delta_of(slots)
        found: list[dict[Any, Any]] = [{} for _ in range(len(slots))]
        values = delta.values if isinstance(delta.values, list) else delta.values.tolist()
        rows = zip(delta.places.tolist(), values, delta.nulls.tolist(), delta.counts.tolist(), strict=True)
        for place, value, null, count in rows:
            found[place][(None if null else value,)] = count
        return found

    def put_dicts(self, slots: Integers, dicts: Iterable[Any]) -> None:
        for slot, entries in zip(slots.tolist(), dicts, strict=True):
            self._put(np.array([slot]), True, dict(entries))

    def _put(self, slot: Integers, replaces: bool, entries: dict[tuple[Any], int]) -> None:
        values = [value for (value,) in entries]
        nulls = np.array([value is None for value in values], np.bool_)
        counts = np.array(list(entries.values()), np.int64)
        self._set(slot[: int(replaces)], np.repeat(slot, len(values)), values, nulls, counts)

    def _compact(self) -> None:
        """Forgets entries of lives that are over, and of values that went as often as they came."""
        entries = np.flatnonzero(self._counts)
        alive = int(np.count_nonzero(self._slots_of(entries) >= 0))
        if len(self._entries) - alive <= max(_FEW_DEAD, alive):
            return
        slots = np.flatnonzero(self._life >= 0)
        full = self.full_delta_of(slots)
        self._forget()
        self.apply_delta_to(slots, full)


def _compressed(codes: npt.NDArray[Any], count: int) -> tuple[Integers, npt.NDArray[Any]]:
    """Which of so many codes there are, and the place of each among these."""
    there = np.zeros(count, np.bool_)
    there[codes] = True
    if there.all():
        return np.arange(count), codes
    return np.flatnonzero(there), (np.cumsum(there) - 1)[codes]


def _as_keys(values: pa.Array) -> pa.Array:
    return values.cast(pa.int64()) if pa.types.is_integer(values.type) else values

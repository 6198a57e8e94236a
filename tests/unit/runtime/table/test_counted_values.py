"""Counts of values by slot, against dictionaries: random rows, lives, deltas to a copy, and what old logs hold."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from penstock.runtime.state.table import DELETED
from penstock.runtime.table.counted_values import CountedValues, RunValues
from penstock.runtime.table.runs import Runs

Row = tuple[int, Any, int]  # run, value, sign
SLOTS = 5


def runs_of(rows: list[Row], slots: list[int], fresh: list[bool]) -> Runs:
    return Runs.by_slot(np.array([run for run, _, _ in rows], np.int64), np.array(slots), np.array(fresh))


def expected(maps: dict[int, Counter[Any]], rows: list[Row], slots: list[int], fresh: list[bool]) -> list[int]:
    found = [0] * len(rows)
    for run, slot in enumerate(slots):
        if fresh[run]:
            maps[slot] = Counter()
        for place, (_, value, sign) in enumerate(rows):
            if rows[place][0] != run or not sign:
                continue
            before = maps[slot][value]
            maps[slot][value] += sign
            if (before > 0) != (before + sign > 0):
                found[place] = sign
    return found


def random_batch(chance: random.Random, values: list[Any], retracting: bool) -> tuple[list[Row], list[int], list[bool]]:
    slots, fresh = [], []
    for slot in sorted(chance.sample(range(SLOTS), chance.randint(1, SLOTS))):
        for life in range(chance.choice([1, 1, 1, 2, 3])):
            slots.append(slot)
            fresh.append(life > 0 or chance.random() < 0.1)
    signs = [1, 1, 0, -1] if retracting else [1, 1, 0]
    runs = [*range(len(slots)), *(chance.randrange(len(slots)) for _ in range(chance.randint(0, 30)))]
    chance.shuffle(runs)
    return [(run, chance.choice(values), chance.choice(signs)) for run in runs], slots, fresh


def plain(maps: dict[int, Counter[Any]]) -> list[dict[Any, int]]:
    return [{(value,): n for value, n in maps[slot].items() if n} for slot in range(SLOTS)]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("kind", ["numbers", "texts"])
@pytest.mark.parametrize("retracting", [False, True])
def test_counts_are_those_of_dictionaries(seed: int, kind: str, retracting: bool) -> None:
    chance = random.Random(seed)
    values = [None, *range(-3, 12)] if kind == "numbers" else [None, "", "a", "b", "cc", "ä"]
    column_type = pa.int32() if kind == "numbers" else pa.string()
    counts, copy, numbered = CountedValues(), CountedValues(), RunValues()
    maps: dict[int, Counter[Any]] = {slot: Counter() for slot in range(SLOTS)}
    every = np.arange(SLOTS)
    for _ in range(30):
        rows, slots, fresh = random_batch(chance, values, retracting)
        runs = runs_of(rows, slots, fresh)
        column = pa.array([value for _, value, _ in rows], column_type)
        signs = np.array([sign for _, _, sign in rows], np.int8)
        numbered.number(runs, column)
        found = counts.count(runs, None if (signs == 1).all() else signs, numbered, len(rows))
        assert found.tolist() == expected(maps, rows, slots, fresh)
        assert counts.dicts(every) == plain(maps)
        if chance.random() < 0.2:
            gone = np.array(chance.sample(range(SLOTS), 2))
            counts.remove_slots(gone)
            maps |= {int(slot): Counter() for slot in gone}
        if chance.random() < 0.4:
            # The copy has other slots for the same keys, as another process has.
            changed = np.unique(counts.changed_slots())
            copy.apply_delta_to(SLOTS - 1 - changed, counts.take_delta_by(changed))
            assert copy.dicts(every[::-1]) == plain(maps)
            assert not len(copy.changed_slots())
        if chance.random() < 0.1:  # a restart
            full, counts = counts.full_delta_of(every), CountedValues()
            counts.apply_delta_to(every, full)
            copy = CountedValues()
            copy.put_dicts(SLOTS - 1 - every, plain(maps))


def test_deltas_of_dictionaries_are_understood() -> None:
    counts = CountedValues()
    slots = np.array([3, 7])
    counts.apply_delta_to(slots, {0: (True, {(1,): 2, (None,): 1}), 1: (False, {(5,): 1})})
    counts.apply_delta_to(slots, {0: (False, {(1,): DELETED, (2,): 4})})
    assert counts.dicts(slots) == [{(None,): 1, (2,): 4}, {(5,): 1}]
    counts.apply_delta_to(slots, {1: (True, {})})
    assert counts.dicts(slots) == [{(None,): 1, (2,): 4}, {}]


def test_lives_that_are_over_are_thrown_away() -> None:
    counts, numbered = CountedValues(), RunValues()
    for _ in range(12):
        column = pa.array(range(1000))
        runs = Runs.by_slot(np.zeros(1000, np.int64), np.array([0]), np.array([True]))
        numbered.number(runs, column)
        assert counts.count(runs, None, numbered, 1000).sum() == 1000
        counts.take_delta_by(np.array([0]))
    assert len(counts._entries) <= 6000
    assert len(counts.dicts(np.array([0]))[0]) == 1000

"""Slot tables against dictionaries: any order of writes, removals, snapshots, restores and savepoints."""

from __future__ import annotations

import pickle
import random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.unit.runtime.table.changelogs import TableHarness, row_type

from penstock.columns.typed.nodes import Aggregate
from penstock.columns.typesystem.data_types import DataTypes
from penstock.runtime.state.table import DELETED, ValueTable
from penstock.runtime.table.group_aggregate import GroupAggregateParams
from penstock.runtime.table.slots import SlotField, SlotTable

FIELDS = (SlotField("number", np.int64, 0), SlotField("text", object, None))
Model = dict[Any, tuple[int, Any, dict[str, int]]]


def make(on_disk: bool) -> SlotTable:
    return SlotTable(FIELDS, ["map"], ValueTable() if on_disk else None)


def key_column(keys: list[Any], tuples: bool) -> pa.Array:
    if not tuples:
        return pa.array(keys, pa.int64())
    texts = pa.array([None if key is None else str(key) for key in keys])
    return pa.StructArray.from_arrays([pa.array(keys, pa.int64()), texts], ["f0", "f1"])


def shown(table: SlotTable) -> Model:
    slots = table.all_slots()
    numbers, texts = table.column("number")[slots], table.column("text")[slots]
    maps = [dict(table.entries("map", slot)) for slot in slots.tolist()]
    values = zip(numbers.tolist(), texts.tolist(), maps, strict=True)
    return dict(zip(table.keys_at(slots), values, strict=True))


@pytest.mark.parametrize("on_disk", [False, True])
@pytest.mark.parametrize("tuples", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_random_changes(seed: int, tuples: bool, on_disk: bool) -> None:
    rng = random.Random(seed)
    table, log = make(on_disk), [pickle.dumps(None)]
    model: Model = {}
    for _ in range(60):
        keys = [None if rng.random() < 0.05 else rng.randrange(40) for _ in range(rng.randrange(1, 8))]
        placed = table.place(key_column(keys, tuples))
        names = [(key, None if key is None else str(key)) if tuples else key for key in keys]
        for name, slot in zip(names, placed.by_row.tolist(), strict=True):
            here = np.array([slot])
            if rng.random() < 0.3:
                table.remove_slots(here)
                model.pop(name, None)
                continue
            number, text, entries = model.get(name, (0, None, {}))
            table.column("number")[slot] = number + 1
            table.column("text")[slot] = rng.choice("xyz")
            content, note = table.writable("map", slot)
            entry = rng.choice("pq")
            if entry in content and rng.random() < 0.5:
                del content[entry]
                note[entry] = DELETED
            else:
                content[entry] = note[entry] = number
            table.mark(here)
            model[name] = (number + 1, table.column("text")[slot], dict(content))
        if rng.random() < 0.3:
            delta = table.take_delta()
            log.append(pickle.dumps(delta))
        if rng.random() < 0.1:
            log.append(pickle.dumps(table.take_delta()))
            table = make(on_disk)
            for delta in map(pickle.loads, log):
                if delta is not None:
                    table.apply_delta(delta)
    assert shown(table) == model
    table.take_delta()
    other = make(on_disk)
    for piece in table.pieces(7):
        other.apply_delta(pickle.loads(pickle.dumps(piece)))
    assert shown(other) == model


def test_slots_of_keys_without_state_are_used_again() -> None:
    table = make(False)
    for start in range(0, 20_000, 1_000):
        slots = table.place(pa.array(range(start, start + 1_000))).slots
        table.mark(slots)
        table.take_delta()
        table.remove_slots(slots)
        table.take_delta()
    assert len(table) == 0
    assert int(table.place(pa.array([5])).slots[0]) < 5_000


def test_groups_find_their_subtask_when_a_job_is_rescaled() -> None:
    types = [DataTypes.STRING(), DataTypes.INT()]
    params = GroupAggregateParams(row_type(types), (0, 1), (Aggregate(DataTypes.BIGINT(False), "count", ()),))
    output = [*types, DataTypes.BIGINT(False)]

    def harness(**settings: Any) -> TableHarness:
        return TableHarness("table_group_aggregate", {"aggregate": params}, [types], [(0, 1)], output, **settings)

    keys = [(None if number % 7 == 0 else f"k{number}", number % 3) for number in range(50)]
    before = harness()
    before.push([("+I", key) for key in keys])
    before.harness.snapshot()
    saved = list(before.harness.operator.memory.keyed.pieces())
    found = []
    for subtask in range(3):
        after = harness(parallelism=3, subtask=subtask)
        for name, schema, entries in saved:
            after.harness.operator.take_over_table(name, schema, entries)
        owned = [key for key in keys if after.harness.operator.memory.owns(key)]
        after.push([("+I", key) for key in owned])
        found += [row for kind, row in after.take() if kind == "+U"]
    assert {row[:2] for row in found} == set(keys)
    assert all(row[2] >= 2 for row in found)

"""Tables on disk behave as those in memory do, whatever is forgotten and reloaded between two calls."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock.runtime.key_layout import KeyLayout
from penstock.runtime.state.disk import PAGES, DiskStore
from penstock.runtime.state.disk_tables import DiskTables
from penstock.runtime.state.table import ListTable, MapTable, ValueTable

_KEYS = [*range(40), "a", "b", ("c", 1), None]
MEMORY = 1 << 20


@pytest.fixture
def store(tmp_path: Path) -> Iterator[DiskStore]:
    store = DiskStore(str(tmp_path), MEMORY)
    yield store
    store.close()


def _value_step(table: Any, key: Any, rng: random.Random) -> None:
    table.put(key, rng.randrange(1000)) if rng.random() < 0.7 else table.remove(key)


def _list_step(table: Any, key: Any, rng: random.Random) -> None:
    match rng.randrange(4):
        case 0 | 1:
            table.extend(key, [rng.randrange(1000) for _ in range(rng.randrange(3))])
        case 2:
            table.replace(key, [rng.randrange(1000) for _ in range(rng.randrange(3))])
        case _:
            table.remove(key)


def _map_step(table: Any, key: Any, rng: random.Random) -> None:
    match rng.randrange(4):
        case 0 | 1:
            table.put(key, rng.randrange(5), rng.randrange(1000))
        case 2:
            table.remove_entry(key, rng.randrange(5))
        case _:
            table.remove(key)


def _group_step(table: Any, key: Any, rng: random.Random) -> None:
    group = rng.randrange(3) * 1000
    if rng.random() < 0.05:
        table.remove(group)
    elif rng.random() < 0.8:
        entries, changed = table.writable(group)
        entries[key] = changed[key] = entries.get(key, 0) + 1
    else:
        table.remove_entry(group, key)


_SHAPES: list[tuple[type[Any], KeyLayout, Callable[[Any, Any, random.Random], None]]] = [
    (ValueTable, KeyLayout.KEY, _value_step),
    (ListTable, KeyLayout.KEY, _list_step),
    (MapTable, KeyLayout.KEY, _map_step),
    (MapTable, KeyLayout.INSIDE, _group_step),
]


def _content(table: Any) -> dict[Any, Any]:
    """Everything in plain dictionaries; empty ones do not count."""
    found: dict[Any, Any] = {}
    for piece in table.pieces(7):
        for key, value in piece.items():
            if isinstance(table, MapTable):
                found.setdefault(key, {}).update(value[1])
            else:
                found[key] = value
    return {key: value for key, value in found.items() if value != {}}


@pytest.mark.parametrize(("shape", "layout", "step"), _SHAPES)
@pytest.mark.parametrize("seed", range(3))
def test_random_changes(shape: type[Any], layout: KeyLayout, step: Any, seed: int, store: DiskStore) -> None:
    rng = random.Random(seed)
    table: Any = DiskTables(store, "uid").make(shape, "state", layout)
    copy: Any = DiskTables(store, "copy").make(shape, "state", layout)
    plain = shape()
    for _ in range(60):
        for _ in range(rng.randrange(30)):
            key = rng.choice(_KEYS)
            state = rng.getstate()
            step(table, key, rng)
            rng.setstate(state)
            step(plain, key, rng)
        delta, plain_delta = table.take_delta(), plain.take_delta()
        assert (delta or {}).keys() == (plain_delta or {}).keys()
        if delta is not None:
            copy.apply_delta(delta)
        store.trim() if rng.random() < 0.5 else [mapping.grow_old() for mapping in store._maps]
        if layout is KeyLayout.KEY:
            assert sorted(map(repr, table.keys())) == sorted(map(repr, plain.keys()))
        assert _content(table) == _content(copy) == _content(plain)


def test_pages_hold_everything(store: DiskStore, tmp_path: Path) -> None:
    for shape, layout, step in _SHAPES:
        rng = random.Random(5)
        table: Any = DiskTables(store, "uid").make(shape, f"{shape.__name__}{layout}", layout)
        for _ in range(300):
            step(table, rng.choice(_KEYS), rng)
        table.take_delta()
        other = DiskStore(str(tmp_path), MEMORY)
        for page in range(PAGES):
            other.load_page(store.page(page))
        again: Any = DiskTables(other, "uid").make(shape, f"{shape.__name__}{layout}", layout)
        if layout is KeyLayout.INSIDE:
            again.base.discover()
        assert _content(again) == _content(table) != {}
        other.close()


def test_a_table_does_not_see_another_one(store: DiskStore) -> None:
    tables = DiskTables(store, "uid")
    first, second = tables.make(ValueTable, "a", KeyLayout.KEY), tables.make(ValueTable, "b", KeyLayout.KEY)
    first.put("key", 1)  # type: ignore[call-arg,union-attr]
    first.take_delta()
    assert _content(second) == {} and _content(first) == {"key": 1}


def test_memory_is_bounded_by_what_an_epoch_touches(store: DiskStore) -> None:
    table: Any = DiskTables(store, "uid").make(ValueTable, "state", KeyLayout.KEY)
    for epoch in range(50):
        for key in range(epoch * 1000, epoch * 1000 + 1000):
            table.put(key, bytes(100))
        table.take_delta()
        store.trim()
    held = len(table.base._young) + len(table.base._old)
    assert held < 5000, "50,000 entries are far more than the memory takes"
    assert table.get(0) == bytes(100)


def test_files_go_with_their_store_and_those_of_dead_processes_too(tmp_path: Path) -> None:
    left_behind = tmp_path / "penstock-state" / "999999999-abc"
    left_behind.mkdir(parents=True)
    store = DiskStore(str(tmp_path), MEMORY)
    assert not left_behind.exists() and Path(store.path).exists()
    store.close()
    assert not Path(store.path).exists()

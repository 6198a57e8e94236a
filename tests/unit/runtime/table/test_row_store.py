"""Rows that operators keep: the same in memory and on disk, in this process and in the one that goes on after it."""

from __future__ import annotations

import os
import random
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from penstock.common.errors import JobExecutionError
from penstock.engines.local.memory_store import MemoryStore
from penstock.functions.state_descriptors import ListStateDescriptor
from penstock.runtime import state_log
from penstock.runtime.hosting import new_token
from penstock.runtime.pickling import dumps, loads
from penstock.runtime.state.backend import KeyedStateBackend
from penstock.runtime.state.disk import DiskStore
from penstock.runtime.state.disk_tables import DiskTables
from penstock.runtime.state_log import StateLog, Token
from penstock.runtime.table import row_chunks, row_store
from penstock.runtime.table.row_chains import RowChains
from penstock.runtime.table.row_chunks import RowChunks
from penstock.runtime.table.row_store import RowStore

SCHEMA = pa.schema([("key", pa.string()), ("n", pa.int64())])
MEMORY = 1 << 20

Row = tuple[str | None, int, int]  # key, number, note


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """What else happens with millions of rows happens with few."""
    monkeypatch.setattr(row_chunks, "_FILE_BYTES", 0)
    monkeypatch.setattr(row_chunks, "_LARGE_BYTES", 1000)
    monkeypatch.setattr(row_store, "_FEW", 16)
    monkeypatch.setattr(row_store, "_SLICE", 7)
    monkeypatch.setattr(row_store, "_BLOCK_BITS", 2)
    monkeypatch.setattr(state_log, "_SMALL_LOG_BYTES", 0)


def batch_of(rows: list[Row]) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays(
        [pa.array([r[0] for r in rows], pa.string()), pa.array([r[1] for r in rows])], schema=SCHEMA
    )


@pytest.mark.parametrize("on_disk", [False, True])
def test_rows_are_found_by_number(on_disk: bool, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    chunks, values = RowChunks(SCHEMA, str(tmp_path) if on_disk else None), np.zeros(0, np.int64)
    assert [column.to_pylist() for column in chunks.take(np.array([0, 0]), np.array([False, False]))] == [
        [None] * 2
    ] * 2
    for step in range(60):
        added = rng.integers(0, 1000, rng.integers(1, 40))
        chunks.append(batch_of([(f"k{n}", n, 0) for n in added.tolist()]))
        values = np.concatenate([values, added])
        if step % 20 == 19:
            kept = np.flatnonzero(rng.random(len(values)) < 0.4)
            chunks.keep(kept)
            values = values[kept]
        asked = rng.integers(0, len(values), rng.integers(0, 50))
        assert chunks.take(asked)[1].to_pylist() == values[asked].tolist()
        present = rng.random(len(asked)) < 0.7
        keys, numbers = chunks.take(np.where(present, asked, -1), present)
        wanted = [int(n) if there else None for n, there in zip(values[asked], present, strict=True)]
        assert numbers.to_pylist() == wanted
        assert keys.to_pylist() == [None if n is None else f"k{n}" for n in wanted]
    assert os.listdir(tmp_path) == [], "files have no names, so nobody has to remove them"


class Process:
    """A container with one operator that keeps rows."""

    def __init__(self, directory: str | None) -> None:
        self.store = None if directory is None else DiskStore(directory, MEMORY)
        self._backend = KeyedStateBackend(
            lambda: 0, None, None if self.store is None else DiskTables(self.store, "uid")
        )
        self.rows: RowStore = self._backend.table("rows", ListStateDescriptor, self._make)
        self.chains = RowChains(self.rows)

    def _make(self, disk: DiskTables | None) -> RowStore:
        return RowStore(SCHEMA, lambda c: c.column(0), ("note",), None if disk is None else disk.place("rows"))

    def snapshot(self, full: bool = False) -> bytes:
        delta = self._backend.take_delta()
        return dumps((full, self._backend.full_delta() if full else delta))

    def load(self, snapshots: Iterable[bytes]) -> None:
        for full, tables in map(loads, snapshots):
            if tables is not None:
                (self._backend.apply_full if full else self._backend.apply_delta)(tables)
        self.chains.rebuild()

    def save(self, log: StateLog, previous: Token | None) -> Token:
        token, full = new_token(previous), log.wants_full()
        content = self.snapshot(full and self.store is None)
        log.append(token, content, full) if self.store is None else log.append_paged(token, content, full, self)
        return token

    def content(self) -> list[Row]:
        numbers = self.rows.numbers()
        columns = [column.to_pylist() for column in self.rows.take(numbers)]
        return list(zip(*columns, self.rows.note("note")[numbers].tolist(), strict=True))

    def change(self, rng: random.Random, counter: Iterator[int], known: list[Row]) -> None:
        """At random, with the same done to a list."""
        match rng.randrange(4):
            case 0 | 1:
                added = [
                    (rng.choice(["a", "b", "c", None]), next(counter), rng.randrange(9))
                    for _ in range(rng.randrange(9))
                ]
                numbers = self.rows.append(batch_of(added), note=np.array([row[2] for row in added], np.int64))
                self.chains.add(pa.array([row[0] for row in added], pa.string()), numbers)
                known += added
            case 2:
                gone = sorted(rng.sample(range(len(known)), rng.randrange(len(known) + 1) // rng.choice([1, 4])))
                self.rows.delete(self.rows.numbers()[gone])
                known[:] = [row for place, row in enumerate(known) if place not in set(gone)]
                if self.rows.compact():
                    self.chains.rebuild()
            case _:
                noted = rng.sample(range(len(known)), rng.randrange(len(known) + 1))
                self.rows.set_note("note", self.rows.numbers()[noted], np.full(len(noted), 77))
                for place in noted:
                    known[place] = (*known[place][:2], 77)


@pytest.mark.parametrize("on_disk", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_processes_that_take_turns_have_the_same_rows(on_disk: bool, seed: int, tmp_path: Path) -> None:
    rng, counter, store = random.Random(seed), iter(range(1_000_000)), MemoryStore()
    known: list[Row] = []
    directory = str(tmp_path) if on_disk else None
    process, token = Process(directory), None
    resting: tuple[Process, Token] | None = None
    for _ in range(150):
        log = StateLog(store)
        assert log.token() == token
        for _ in range(rng.randrange(4)):
            process.change(rng, counter, known)
        token = process.save(log, token)
        if rng.random() < 0.5:
            continue
        rested, resting = resting, (process, token)
        log = StateLog(store)
        log.token()
        if rested is not None and rng.random() < 0.6 and log.leads_on_from(rested[1]):
            process = rested[0]
            log.replay(process, since=rested[1])
        else:
            process = Process(directory)
            log.replay(process, since=None)
        assert process.content() == known
        for key in ("a", None):
            _, numbers = process.chains.find(pa.array([key], pa.string()))
            assert process.rows.take(numbers)[1].to_pylist() == [row[1] for row in known if row[0] == key]


def test_a_savepoint_has_rows_by_key(tmp_path: Path) -> None:
    process, known = Process(str(tmp_path)), [("b", 1, 5), (None, 2, 6), ("b", 3, 7), ("a", 4, 8)]
    process.rows.append(batch_of(known), note=np.array([row[2] for row in known]))
    pieces = list(process.rows.pieces(2))
    entries: dict[Any, Any] = {key: items for piece in pieces for key, (_, items) in piece.items()}
    assert [len(piece) for piece in pieces] == [2, 1]
    assert entries == {"b": [((5,), ("b", 1)), ((7,), ("b", 3))], None: [((6,), (None, 2))], "a": [((8,), ("a", 4))]}
    again = Process(None)
    for piece in pieces:
        again.rows.apply_delta(piece)
    assert sorted(again.content(), key=lambda row: row[1]) == known


def test_a_log_that_had_rows_beside_its_pages_is_refused(tmp_path: Path) -> None:
    process = Process(None)
    process.rows.append(batch_of([("a", 1, 5)]), note=np.array([5]))
    delta = process.rows.take_delta()
    assert delta is not None
    delta.next_id = 0  # as it was
    with pytest.raises(JobExecutionError, match="earlier version"):
        Process(str(tmp_path)).rows.apply_delta(delta)

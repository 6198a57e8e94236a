"""Random queries over random changes give SQLite's table: with any epochs, parallelism, backend, crash and rescale."""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.unit.runtime.table.changelogs import random_changelog
from tests.unit.table.random_relations import answer, random_relation
from tests.unit.table.sql_runs import Change, Rows, changelog_of

from penstock.columns.typesystem.data_types import DataTypes
from penstock.datastream import StreamExecutionEnvironment
from penstock.engines.local.executor import LocalExecutor
from penstock.runtime.blueprint import DiskStateSettings

SEEDS = range(int(os.environ.get("PENSTOCK_RANDOM_SEEDS", "40")))  # thousands take minutes
_TYPES = (("g", DataTypes.INT()), ("v", DataTypes.INT()), ("w", DataTypes.INT()))


def random_table(rng: random.Random) -> Rows:
    def row(rng: random.Random) -> tuple[Any, ...]:
        return tuple(rng.choice((0, 1, 2, 3, None)) for _ in _TYPES)

    changes = random_changelog(rng, rng.randrange(5, 40), row, rng.random() < 0.6)
    return Rows(_TYPES, tuple(changes))


def rows_of(table: Rows) -> list[tuple[Any, ...]]:
    return list(replayed(table.changes).elements())


def replayed(changes: Sequence[Change], in_order: bool = True) -> Counter[tuple[Any, ...]]:
    """The rows that are left. In order, a row that is taken back must be there at that moment."""
    table: Counter[tuple[Any, ...]] = Counter()
    for kind, row in changes:
        table[row] += 1 if kind in ("+I", "+U") else -1
        assert table[row] >= 0 or not in_order, f"{kind} {row}: there is no such row"
    assert min(table.values(), default=0) >= 0
    return +table


@pytest.mark.parametrize("seed", SEEDS)
def test_tables_are_those_of_sqlite(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    relation = random_relation(rng, rng.choice((1, 2, 2, 3)))
    tables = {"A": random_table(rng), "B": random_table(rng)}
    expected = answer(relation.sql, {name: rows_of(table) for name, table in tables.items()})

    def run(parallelism: int, tables: dict[str, Rows] = tables, **settings: Any) -> list[Change]:
        env = StreamExecutionEnvironment(executor=LocalExecutor(**settings))
        env.set_parallelism(parallelism)
        return changelog_of(env, relation.sql, tables)

    def settings() -> dict[str, Any]:
        disk = DiskStateSettings((str(tmp_path),), 1 << 20) if rng.random() < 0.5 else None
        return {"epoch_records": rng.choice((1, 3, 11, 1000)), "forget": rng.random() < 0.4, "disk_state": disk}

    whole = run(1)
    assert replayed(whole) == expected, relation.sql
    again = run(1, **settings())
    assert replayed(again) == expected, relation.sql
    if " B" not in relation.sql or " A" not in relation.sql:
        # One input has one order, unless it meets itself.
        assert again == whole or relation.sql.count("FROM A") + relation.sql.count("FROM B") > 1, relation.sql
    assert replayed(run(rng.choice((2, 3)), **settings()), in_order=False) == expected, relation.sql

    # Half of it is what SQLite makes of half of the tables.
    halves = {name: Rows(_TYPES, whole_changes(table, rng)) for name, table in tables.items()}
    of_half = answer(relation.sql, {name: rows_of(table) for name, table in halves.items()})
    assert replayed(run(1, halves)) == of_half, relation.sql

    stopped = LocalExecutor(stop_after=1, savepoint_directory=str(tmp_path / "saved"), **settings())
    env = StreamExecutionEnvironment(executor=stopped)
    env.set_parallelism(rng.choice((1, 2)))
    changes = changelog_of(env, relation.sql, tables)
    if stopped.savepoint_path is not None:
        changes = changes + run(rng.choice((1, 3)), start_from=stopped.savepoint_path, **settings())
    assert replayed(changes, in_order=False) == expected, relation.sql


def whole_changes(table: Rows, rng: random.Random) -> tuple[Change, ...]:
    """A beginning of a changelog that does not end between the halves of an update."""
    end = rng.randrange(len(table.changes))
    return table.changes[: end + 1 if end < len(table.changes) and table.changes[end - 1][0] == "-U" else end]

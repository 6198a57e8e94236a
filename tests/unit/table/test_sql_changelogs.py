"""Groupings, Top-N and set operations on the local engine: their changelogs, and random queries against SQLite."""

from __future__ import annotations

import random
import sqlite3
from typing import Any

import pytest
from tests.conftest import EnvironmentFactory
from tests.unit.runtime.table.changelogs import random_changelog, table_of
from tests.unit.table.sql_runs import Change, Rows, changelog_of, rows

from penstock.columns.typesystem.data_types import DataTypes

ORDERS = rows(
    {"k": DataTypes.INT(), "i": DataTypes.INT(), "s": DataTypes.STRING()},
    (1, 10, "a"), (2, 20, "b"), (1, 31, "c"), (1, 5, "a"),
)  # fmt: skip


def run(local_env: EnvironmentFactory, sql: str, batch: bool = False, **tables: Rows) -> list[Change]:
    return changelog_of(local_env(), sql, {"T": ORDERS, **tables}, batch)


def test_group_by(local_env: EnvironmentFactory) -> None:
    assert run(local_env, "SELECT k, COUNT(*), SUM(i) FROM T GROUP BY k") == [
        ("+I", (1, 1, 10)), ("+I", (2, 1, 20)),
        ("-U", (1, 1, 10)), ("+U", (1, 2, 41)), ("-U", (1, 2, 41)), ("+U", (1, 3, 46)),
    ]  # fmt: skip


def test_changes_of_changes(local_env: EnvironmentFactory) -> None:
    """Recorded from Flink 2.3, but for the order of keys."""
    counted = "SELECT k, COUNT(*) AS c FROM T GROUP BY k"
    sql = f"SELECT c, COUNT(*), MIN(k), LISTAGG(CAST(k AS STRING)) FROM ({counted}) GROUP BY c"
    assert run(local_env, sql) == [
        ("+I", (1, 1, 1, "1")), ("-U", (1, 1, 1, "1")), ("+U", (1, 2, 1, "1,2")),
        ("-U", (1, 2, 1, "1,2")), ("+U", (1, 1, 2, "2")), ("+I", (2, 1, 1, "1")),
        ("-D", (2, 1, 1, "1")), ("+I", (3, 1, 1, "1")),
    ]  # fmt: skip


def test_rollup(local_env: EnvironmentFactory) -> None:
    sql = "SELECT k, s, COUNT(*), GROUPING(k), GROUPING_ID(k, s) FROM T GROUP BY ROLLUP(k, s)"
    assert run(local_env, sql)[:9] == [
        ("+I", (1, "a", 1, 0, 0)), ("+I", (1, None, 1, 0, 1)), ("+I", (None, None, 1, 1, 3)),
        ("+I", (2, "b", 1, 0, 0)), ("+I", (2, None, 1, 0, 1)),
        ("-U", (None, None, 1, 1, 3)), ("+U", (None, None, 2, 1, 3)),
        ("+I", (1, "c", 1, 0, 0)), ("-U", (1, None, 1, 0, 1)),
    ]  # fmt: skip


RANKED = "SELECT k, i, s, ROW_NUMBER() OVER (PARTITION BY k ORDER BY i DESC) AS rn FROM T"


def test_top_n_with_and_without_rank(local_env: EnvironmentFactory) -> None:
    assert run(local_env, f"SELECT * FROM ({RANKED}) WHERE rn <= 2 AND k = 1") == [
        ("+I", (1, 10, "a", 1)), ("-U", (1, 10, "a", 1)), ("+U", (1, 31, "c", 1)), ("+I", (1, 10, "a", 2)),
    ]  # fmt: skip
    assert run(local_env, f"SELECT i, s FROM ({RANKED}) WHERE rn < 3") == [
        ("+I", (10, "a")), ("+I", (20, "b")), ("+I", (31, "c")),
    ]  # fmt: skip
    assert run(local_env, f"SELECT i, s, rn FROM ({RANKED}) WHERE rn = 1") == [
        ("+I", (10, "a", 1)), ("+I", (20, "b", 1)), ("-U", (10, "a", 1)), ("+U", (31, "c", 1)),
    ]  # fmt: skip


def test_limits(local_env: EnvironmentFactory) -> None:
    assert run(local_env, "SELECT i FROM T ORDER BY i LIMIT 2") == [
        ("+I", (10,)), ("+I", (20,)), ("-D", (20,)), ("+I", (5,)),
    ]  # fmt: skip
    assert run(local_env, "SELECT i FROM T LIMIT 2") == [("+I", (10,)), ("+I", (20,))]
    assert run(local_env, "SELECT i FROM T LIMIT 2 OFFSET 1") == [("+I", (20,)), ("+I", (31,))]
    counted = "SELECT k, COUNT(*) AS c FROM T GROUP BY k"
    assert run(local_env, f"SELECT k, c FROM ({counted}) ORDER BY c DESC LIMIT 1") == [
        ("+I", (1, 1)), ("-U", (1, 1)), ("+U", (1, 2)), ("-U", (1, 2)), ("+U", (1, 3)),
    ]  # fmt: skip


def test_distinct_and_union(local_env: EnvironmentFactory) -> None:
    assert run(local_env, "SELECT DISTINCT k FROM T") == [("+I", (1,)), ("+I", (2,))]
    assert sorted(run(local_env, "SELECT k FROM T UNION SELECT i FROM T")) == [
        ("+I", (number,)) for number in (1, 2, 5, 10, 20, 31)
    ]


def test_batch_mode_gives_final_rows(local_env: EnvironmentFactory) -> None:
    assert run(local_env, "SELECT k, SUM(i) FROM T GROUP BY k", batch=True) == [("+I", (1, 46)), ("+I", (2, 20))]
    assert run(local_env, "SELECT i FROM T ORDER BY i DESC LIMIT 2", batch=True) == [("+I", (31,)), ("+I", (20,))]
    assert run(local_env, "SELECT COUNT(*), SUM(i) FROM T WHERE i > 99", batch=True) == [("+I", (0, None))]
    assert run(local_env, "SELECT COUNT(*), SUM(i) FROM T WHERE i > 99") == []


# -- random queries ----------------------------------------------------------------------------------------------------

AGGREGATES = (
    "COUNT(*)", "COUNT(v)", "SUM(v)", "MIN(v)", "MAX(v)", "MIN(t)", "MAX(t)", "COUNT(DISTINCT v)", "SUM(DISTINCT v)",
    "COUNT(*) FILTER (WHERE v > 2)", "SUM(v) FILTER (WHERE g = 1)",
)  # fmt: skip
_TYPES = {"g": DataTypes.INT(), "v": DataTypes.INT(), "t": DataTypes.STRING()}


def random_query(rng: random.Random) -> str:
    some = ", ".join(f"{one} AS a{place}" for place, one in enumerate(rng.sample(AGGREGATES, rng.randrange(1, 4))))
    grouped = f"SELECT g, {some} FROM T GROUP BY g"
    ranked = "SELECT g, v, t, ROW_NUMBER() OVER (PARTITION BY g ORDER BY v DESC, t) AS rn FROM T"
    distinct = "SELECT DISTINCT g, v FROM T"
    inner = "SELECT g, t, COUNT(*) AS v FROM T GROUP BY g, t"
    end = rng.randrange(1, 4)
    return rng.choice(
        (
            grouped,
            f"SELECT {some} FROM T",
            f"SELECT g, {some} FROM ({inner}) GROUP BY g",
            f"SELECT g, v, t, rn FROM ({ranked}) WHERE rn <= {end}",
            f"SELECT v, t FROM ({ranked}) WHERE rn BETWEEN 2 AND {end + 1}",
            f"SELECT g, t, v, rn FROM ({ranked.replace('FROM T', f'FROM ({inner})')}) WHERE rn <= {end}",
            distinct,
            f"SELECT g, COUNT(*) FROM ({distinct}) GROUP BY g",
            f"SELECT g, a0 FROM ({grouped}) WHERE g > 1",
            f"SELECT g, v FROM ({inner}) WHERE v > 1",
            f"SELECT g, v, t FROM T ORDER BY v, t, g LIMIT {end}",
        )
    )  # fmt: skip


def oracle(sql: str, table: list[tuple[Any, ...]]) -> dict[tuple[Any, ...], int]:
    # SQLite has nulls where Flink has them in these orders: first going up, last going down.
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE T (g INT, v INT, t TEXT)")
    connection.executemany("INSERT INTO T VALUES (?, ?, ?)", table)
    found: dict[tuple[Any, ...], int] = {}
    for row in connection.execute(sql).fetchall():
        found[row] = found.get(row, 0) + 1
    connection.close()
    return found


@pytest.mark.parametrize("seed", range(12))
def test_random_queries_over_random_changes(seed: int, local_env: EnvironmentFactory) -> None:
    rng = random.Random(seed)
    make = lambda rng: (rng.choice((1, 2, 3, None)), rng.choice((0, 1, 2, 3, 4, None)), rng.choice("xyz"))  # noqa: E731
    changes = random_changelog(rng, 60, make, rng.random() < 0.7)
    table: list[tuple[Any, ...]] = []
    for kind, row in changes:
        table.append(row) if kind in ("+I", "+U") else table.remove(row)
    for _ in range(6):
        sql = random_query(rng)
        expected = oracle(sql, table)
        tables = {"T": Rows(tuple(_TYPES.items()), tuple(changes))}
        env = local_env(rng.choice((1, 2)), epoch_records=rng.choice((1, 7, 1000)), forget=rng.random() < 0.3)
        found = table_of(changelog_of(env, sql, tables))
        if not expected.keys() - {(0,) * width + (None,) * 9 for width in range(4)} and not found:
            continue
        if "FROM T" in sql and "GROUP BY" not in sql and not table:
            continue  # a streaming query of nothing gives nothing
        assert found == expected, sql

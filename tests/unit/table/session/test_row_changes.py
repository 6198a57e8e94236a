"""DELETE, UPDATE and TRUNCATE TABLE in batch programs, of tables that are written by a primary key."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from penstock.common.errors import NotSupportedError, ProgramError
from penstock.datastream import StreamExecutionEnvironment
from penstock.engines.local.executor import LocalExecutor
from penstock.table import EnvironmentSettings, StreamTableEnvironment


def session(batch: bool = True) -> StreamTableEnvironment:
    env = StreamExecutionEnvironment(executor=LocalExecutor(100, False))
    env.set_parallelism(2)
    settings = EnvironmentSettings.in_batch_mode() if batch else EnvironmentSettings.in_streaming_mode()
    return StreamTableEnvironment.create(env, settings)


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    path = tmp_path / "shop.db"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE goods (id INTEGER PRIMARY KEY, name TEXT, pieces INTEGER)")
        database.executemany("INSERT INTO goods VALUES (?, ?, ?)", [(at, f"g{at}", at % 7) for at in range(1_000)])
    return path


def declared(t_env: StreamTableEnvironment, shop: Path, key: str = ", PRIMARY KEY (id) NOT ENFORCED") -> None:
    t_env.execute_sql(
        f"CREATE TABLE goods (id INT, name STRING, pieces INT{key}) WITH"
        f" ('connector' = 'jdbc', 'url' = 'jdbc:sqlite:{shop}', 'table-name' = 'goods')"
    )


def goods(shop: Path) -> list[tuple[int, str, int]]:
    with sqlite3.connect(shop) as database:
        return database.execute("SELECT * FROM goods ORDER BY id").fetchall()


def test_delete_takes_the_rows_that_match(shop: Path) -> None:
    t_env = session()
    declared(t_env, shop)
    t_env.execute_sql("DELETE FROM goods WHERE pieces > 3 OR name = 'g1'").wait()
    assert goods(shop) == [(at, f"g{at}", at % 7) for at in range(1_000) if at % 7 <= 3 and at != 1]
    t_env.execute_sql("DELETE FROM goods WHERE id NOT IN (SELECT MAX(id) FROM goods)").wait()
    assert len(goods(shop)) == 1


def test_update_changes_the_columns_that_are_set(shop: Path) -> None:
    t_env = session()
    declared(t_env, shop)
    t_env.execute_sql("UPDATE goods SET pieces = pieces + 100, name = UPPER(name) WHERE id >= 990").wait()
    assert goods(shop)[:990] == [(at, f"g{at}", at % 7) for at in range(990)]
    assert goods(shop)[990:] == [(at, f"G{at}", at % 7 + 100) for at in range(990, 1_000)]


def test_truncate_empties_the_table(shop: Path) -> None:
    t_env = session()
    declared(t_env, shop)
    t_env.execute_sql("TRUNCATE TABLE goods").wait()
    assert goods(shop) == []


def test_rows_of_delta_tables_go_too(tmp_path: Path) -> None:
    t_env = session()
    t_env.execute_sql(
        "CREATE TABLE d (id INT, name STRING, PRIMARY KEY (id) NOT ENFORCED) WITH"
        f" ('connector' = 'delta', 'table-path' = '{tmp_path}/d')"
    )
    t_env.execute_sql("INSERT INTO d VALUES (1, 'a'), (2, 'b'), (3, 'c')").wait()
    t_env.execute_sql("DELETE FROM d WHERE id = 2").wait()
    t_env.execute_sql("UPDATE d SET name = 'z' WHERE id = 3").wait()
    with t_env.execute_sql("SELECT * FROM d ORDER BY id").collect() as rows:
        assert [tuple(row) for row in rows] == [(1, "a"), (3, "z")]


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("UPDATE goods SET id = 1", "belongs to the primary key"),
        ("UPDATE goods SET pieces = 1, pieces = 2", "twice"),
        ("UPDATE goods SET nothere = 1", "no column 'nothere'"),
        ("UPDATE goods SET pieces = name", "CAST it"),
        ("DELETE FROM goods WHERE nothere = 1", "no column 'nothere'"),
        ("DELETE FROM nothere", "no table 'nothere'"),
        ("TRUNCATE TABLE seen", "is a view"),
    ],
)
def test_what_cannot_be_changed_is_said_before_anything_runs(shop: Path, statement: str, reason: str) -> None:
    t_env = session()
    declared(t_env, shop)
    t_env.execute_sql("CREATE VIEW seen AS SELECT id FROM goods")
    with pytest.raises(ProgramError, match=reason):
        t_env.execute_sql(statement)
    assert len(goods(shop)) == 1_000


def test_it_needs_a_primary_key_and_an_end(shop: Path) -> None:
    without, endless = session(), session(batch=False)
    declared(without, shop, "")
    declared(endless, shop)
    with pytest.raises(NotSupportedError, match="PRIMARY KEY"):
        without.execute_sql("DELETE FROM goods")
    with pytest.raises(NotSupportedError, match="batch mode"):
        endless.execute_sql("DELETE FROM goods")

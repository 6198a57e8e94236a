"""OVER in batch programs: the rows that SQLite gives, and those that Flink gave, for windows of any order and frame."""

from __future__ import annotations

import ast
import random
import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.unit.table.sql_runs import changelog_of, rows

from penstock.common.errors import NotSupportedError
from penstock.datastream import StreamExecutionEnvironment
from penstock.engines.local.executor import LocalExecutor
from penstock.table import DataTypes, EnvironmentSettings, StreamTableEnvironment

_RANDOM = random.Random(7)
ROWS = [
    (place, _RANDOM.choice("abc"), _RANDOM.choice([None, 1, 2, 3, 5, 8, 8, 13]), _RANDOM.randrange(6))
    for place in range(60)
]
TABLES = {
    "T": rows({"id": DataTypes.INT(), "k": DataTypes.STRING(), "v": DataTypes.INT(), "o": DataTypes.INT()}, *ROWS)
}
CALLS = [
    "SUM(v) OVER (PARTITION BY k ORDER BY o)",
    "SUM(v) OVER (PARTITION BY k)",
    "COUNT(*) OVER ()",
    "COUNT(v) OVER (ORDER BY o DESC, id)",
    "ROW_NUMBER() OVER (PARTITION BY k ORDER BY o DESC, id)",
    "RANK() OVER (PARTITION BY k ORDER BY o)",
    "DENSE_RANK() OVER (PARTITION BY k ORDER BY o DESC)",
    "NTILE(4) OVER (PARTITION BY k ORDER BY id)",
    "NTILE(40) OVER (PARTITION BY k ORDER BY id)",
    "ROUND(PERCENT_RANK() OVER (PARTITION BY k ORDER BY o), 6)",
    "ROUND(CUME_DIST() OVER (PARTITION BY k ORDER BY id), 6)",
    "LAG(v) OVER (PARTITION BY k ORDER BY id)",
    "LAG(v, 3, -1) OVER (PARTITION BY k ORDER BY id)",
    "LEAD(v, 2) OVER (PARTITION BY k ORDER BY id DESC)",
    "SUM(v) OVER (PARTITION BY k ORDER BY id ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING)",
    "MAX(v) OVER (PARTITION BY k ORDER BY id ROWS BETWEEN 3 PRECEDING AND 2 PRECEDING)",
    "MIN(v) OVER (PARTITION BY k ORDER BY id ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING)",
    "COUNT(*) OVER (PARTITION BY k ORDER BY id ROWS BETWEEN CURRENT ROW AND 2 FOLLOWING)",
    "SUM(v) OVER (PARTITION BY k ORDER BY o RANGE BETWEEN 1 PRECEDING AND CURRENT ROW)",
    "SUM(id) OVER (PARTITION BY k ORDER BY v RANGE BETWEEN 2 PRECEDING AND 3 FOLLOWING)",
    "SUM(id) OVER (PARTITION BY k ORDER BY v DESC RANGE BETWEEN 2 PRECEDING AND 1 PRECEDING)",
    "COUNT(*) OVER (PARTITION BY k ORDER BY v NULLS LAST RANGE BETWEEN 4 FOLLOWING AND 9 FOLLOWING)",
    "SUM(v) FILTER (WHERE o > 2) OVER (PARTITION BY k ORDER BY id)",
    "SUM(v + o) OVER (PARTITION BY o % 2 ORDER BY id * 2)",
]


def of_sqlite(sql: str) -> Counter[tuple[Any, ...]]:
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE T (id INT, k TEXT, v INT, o INT)")
    database.executemany("INSERT INTO T VALUES (?, ?, ?, ?)", ROWS)
    return Counter(map(tuple, database.execute(sql)))


def of_penstock(sql: str) -> Counter[tuple[Any, ...]]:
    env = StreamExecutionEnvironment(executor=LocalExecutor(7, True))
    env.set_parallelism(2)
    changes = changelog_of(env, sql, TABLES, batch=True)
    assert {kind for kind, _ in changes} <= {"+I"}
    return Counter(row for _, row in changes)


@pytest.mark.parametrize("call", CALLS)
def test_values_are_those_of_a_database(call: str) -> None:
    sql = f"SELECT id, {call} AS x FROM T"
    assert of_penstock(sql) == of_sqlite(sql)


def test_windows_of_one_select_may_differ() -> None:
    sql = f"SELECT id, {', '.join(f'{call} AS x{place}' for place, call in enumerate(CALLS[:9]))} FROM T"
    assert of_penstock(sql) == of_sqlite(sql)


def test_ranks_are_filtered_and_groups_are_summed_up() -> None:
    ranked = "SELECT id, r FROM (SELECT id, RANK() OVER (PARTITION BY k ORDER BY o) AS r FROM T) WHERE r <= 2"
    summed = "SELECT k, SUM(v) AS s, SUM(SUM(v)) OVER (ORDER BY k) AS so_far FROM T GROUP BY k"
    for sql in (ranked, summed):
        assert of_penstock(sql) == of_sqlite(sql)


def test_nth_value_is_refused_as_in_flink() -> None:
    with pytest.raises(NotSupportedError, match="NTH_VALUE"):
        of_penstock("SELECT NTH_VALUE(v, 2) OVER (ORDER BY id) FROM T")


RECORDED = Path(__file__).with_name("flink_batch_over.txt")


def recorded() -> tuple[str, list[tuple[str, list[str], list[tuple[Any, ...]]]]]:
    """The statement that makes the table, and for each query the types of its columns and its rows."""
    setup, *parts = RECORDED.read_text("utf-8").split("##SQL ")[1:]
    found = []
    for part in parts:
        statement, types, *lines = part.strip("\n").split("\n")
        found.append((statement, types.split(), [ast.literal_eval(line) for line in lines]))
    return setup.strip(), found


@pytest.mark.parametrize(("statement", "types", "expected"), recorded()[1])
def test_rows_and_types_are_those_of_flink(statement: str, types: list[str], expected: list[tuple[Any, ...]]) -> None:
    env = StreamExecutionEnvironment(executor=LocalExecutor(2, True))
    env.set_parallelism(1)
    session = StreamTableEnvironment.create(env, EnvironmentSettings.in_batch_mode())
    session.execute_sql(recorded()[0])
    result = session.execute_sql(statement)
    assert [str(one) for one in result.get_table_schema().get_field_data_types()] == types
    with result.collect() as rows_of_result:
        assert Counter(tuple(row) for row in rows_of_result) == Counter(expected)

"""Queries whose state is of a kind of its own give the same for every backend, cut into epochs, and after restarts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from penstock.datastream import StreamExecutionEnvironment
from penstock.table import StreamTableEnvironment, Table
from penstock.table.expressions import col, row_interval
from penstock.table.window import Slide

Factory = Callable[..., StreamExecutionEnvironment]
ROWS = "(1, 'a', 1), (2, 'a', 2), (3, 'b', 3), (4, 'a', 4), (5, 'a', 0), (6, 'b', 6), (7, 'a', 7)"


def by_columns(t_env: StreamTableEnvironment) -> Table:
    window = "OVER (PARTITION BY k ORDER BY v)"
    return t_env.sql_query(f"SELECT id, SUM(v) {window}, RANK() {window} FROM t")


def by_rows(t_env: StreamTableEnvironment) -> Table:
    window = Slide.over(row_interval(3)).every(row_interval(2)).on(col("proc")).alias("w")
    return t_env.from_path("t").window(window).group_by(col("w"), col("k")).select(col("k"), col("v").sum)


def bitmaps(t_env: StreamTableEnvironment) -> Table:
    sets = "SELECT k, BITMAP_BUILD(ARRAY[id, v]) AS b FROM t"
    return t_env.sql_query(f"SELECT k, BITMAP_TO_STRING(BITMAP_XOR_AGG(b)) FROM ({sets}) GROUP BY k")


def changes(env: StreamExecutionEnvironment, query: Callable[[StreamTableEnvironment], Table], backend: str) -> Any:
    t_env = StreamTableEnvironment.create(env)
    t_env.get_config().set("state.backend.type", backend)
    t_env.execute_sql(f"CREATE TEMPORARY VIEW t AS SELECT *, PROCTIME() AS proc FROM (VALUES {ROWS}) AS T(id, k, v)")
    with query(t_env).execute().collect() as rows:
        return sorted((str(row.get_row_kind()), tuple(row)) for row in rows)


@pytest.mark.parametrize("query", [by_columns, by_rows, bitmaps])
@pytest.mark.parametrize("backend", ["hashmap", "rocksdb"])
def test_restarts_and_backends(local_env: Factory, query: Any, backend: str) -> None:
    expected = changes(local_env(1), query, "hashmap")
    assert len(expected) > 1
    for epoch_records in (1, 3):
        assert changes(local_env(2, epoch_records=epoch_records, forget=True), query, backend) == expected

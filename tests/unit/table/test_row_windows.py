"""Windows of the Table API that count rows, and aggregate() of windows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from penstock.common.errors import NotSupportedError
from penstock.common.types import Row
from penstock.datastream import StreamExecutionEnvironment
from penstock.table import DataTypes, StreamTableEnvironment, Table
from penstock.table.expressions import col, lit, row_interval
from penstock.table.sql.errors import SqlValidationError
from penstock.table.udf import AggregateFunction, udaf
from penstock.table.window import Slide, Tumble

Factory = Callable[..., StreamExecutionEnvironment]


class Span(AggregateFunction):
    """The least and the largest value."""

    def create_accumulator(self) -> list[int]:
        return []

    def accumulate(self, accumulator: list[int], value: int) -> None:
        accumulator[:] = [min([*accumulator, value]), max([*accumulator, value])]

    def get_value(self, accumulator: list[int]) -> Row:
        return Row(accumulator[0], accumulator[1])


span = udaf(
    Span(),
    result_type=DataTypes.ROW([DataTypes.FIELD("low", DataTypes.INT()), DataTypes.FIELD("high", DataTypes.INT())]),
    accumulator_type=DataTypes.ARRAY(DataTypes.INT()),
)


@pytest.fixture
def orders(local_env: Factory) -> Table:
    t_env = StreamTableEnvironment.create(local_env(1, epoch_records=1, forget=True))
    t_env.execute_sql(
        "CREATE TEMPORARY VIEW orders AS SELECT *, PROCTIME() AS proc FROM (VALUES"
        " (1, 'a'), (2, 'b'), (3, 'a'), (4, 'a'), (5, 'a'), (6, 'b'), (7, 'a')) AS T(v, k)"
    )
    return t_env.from_path("orders")


def rows(table: Table) -> list[tuple[Any, ...]]:
    with table.execute().collect() as found:
        return [tuple(row) for row in found]


def test_tumbling_and_sliding(orders: Table) -> None:
    pairs = orders.window(Tumble.over(row_interval(2)).on(col("proc")).alias("w")).group_by(col("w"), col("k"))
    assert rows(pairs.select(col("k"), col("v").sum)) == [("a", 4), ("a", 9), ("b", 8)]
    slide = Slide.over(row_interval(3)).every(row_interval(2)).on(col("proc")).alias("w")
    assert rows(orders.window(slide).group_by(col("w")).select(col("v").sum)) == [(6,), (12,), (18,)]


def test_aggregate_gives_the_columns_of_a_row(orders: Table) -> None:
    window = Tumble.over(row_interval(3)).on(col("proc")).alias("w")
    grouped = orders.window(window).group_by(col("w"), col("k"))
    table = grouped.aggregate(span(col("v")).alias("least", "most"))
    assert rows(table.select(col("most") - col("least"), col("k"))) == [(3, "a")]


def test_aggregate_of_a_window_of_time(local_env: Factory) -> None:
    t_env = StreamTableEnvironment.create(local_env(1))
    t_env.execute_sql(
        "CREATE TABLE ticks (n INT, ts AS TO_TIMESTAMP_LTZ(n * 1000, 3), WATERMARK FOR ts AS ts) WITH ("
        "'connector' = 'datagen', 'fields.n.kind' = 'sequence', 'fields.n.start' = '0', 'fields.n.end' = '24')"
    )
    window = Tumble.over(lit(10).seconds).on(col("ts")).alias("w")
    grouped = t_env.from_path("ticks").window(window).group_by(col("w")).aggregate(span(col("n")))
    found = rows(grouped.select(col("w").start + lit(10).seconds == col("w").end, col("low"), col("high")))
    assert found == [(True, 0, 9), (True, 10, 19), (True, 20, 24)]


def test_what_windows_of_rows_do_not_have(orders: Table) -> None:
    window = Tumble.over(row_interval(2)).on(col("proc")).alias("w")
    with pytest.raises(SqlValidationError, match="has no start"):
        orders.window(window).group_by(col("w")).select(col("w").start)
    mixed = Slide.over(row_interval(2)).every(lit(1).seconds).on(col("proc")).alias("w")
    with pytest.raises(SqlValidationError, match="both rows"):
        orders.window(mixed).group_by(col("w")).select(col("v").sum)
    timed = orders.select(col("v"), lit("2024-01-01 00:00:00").to_timestamp.alias("ts"))
    with pytest.raises((NotSupportedError, SqlValidationError)):
        timed.window(Tumble.over(row_interval(2)).on(col("ts")).alias("w")).group_by(col("w")).select(col("v").sum)

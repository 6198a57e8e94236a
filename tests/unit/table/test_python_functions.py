"""udf, udtf, udaf and udtaf in SQL and in the Table API, on the local engine."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from tests.unit.table.sql_runs import KINDS

from penstock.common.errors import NotSupportedError
from penstock.common.types import Row
from penstock.datastream import StreamExecutionEnvironment
from penstock.engines.local.executor import LocalExecutor
from penstock.table import DataTypes, StreamTableEnvironment, Table
from penstock.table.data_view import ListView, MapView
from penstock.table.expressions import call, col
from penstock.table.sql.errors import SqlValidationError
from penstock.table.udf import (
    AggregateFunction,
    FunctionContext,
    ScalarFunction,
    TableAggregateFunction,
    TableFunction,
    udaf,
    udf,
    udtaf,
    udtf,
)


@pytest.fixture
def session() -> StreamTableEnvironment:
    env = StreamExecutionEnvironment(executor=LocalExecutor(2, True))
    env.set_parallelism(1)
    return StreamTableEnvironment.create(env)


@pytest.fixture
def orders(session: StreamTableEnvironment) -> Table:
    rows = [("ann", 3, "a b"), ("bob", 5, ""), ("ann", 4, "c"), ("bob", None, None)]
    table = session.from_elements(
        rows,
        DataTypes.ROW(
            [
                DataTypes.FIELD("who", DataTypes.STRING()),
                DataTypes.FIELD("n", DataTypes.INT()),
                DataTypes.FIELD("words", DataTypes.STRING()),
            ]
        ),
    )
    session.create_temporary_view("orders", table)
    return table


def changes(table: Any) -> list[tuple[Any, ...]]:
    result = table.execute() if isinstance(table, Table) else table
    with result.collect() as rows:
        return [(KINDS[row.get_row_kind().value], *row) for row in rows]


def values(table: Any) -> list[tuple[Any, ...]]:
    return [row[1:] for row in changes(table)]


@udf(result_type=DataTypes.BIGINT())
def doubled(n: int | None) -> int | None:
    return None if n is None else 2 * n


class Scaled(ScalarFunction):
    def open(self, function_context: FunctionContext) -> None:
        self.factor = 10 + (function_context.get_index_of_this_subtask() or 0)

    def eval(self, n: int | None, more: int) -> int:
        return (n or 0) * self.factor + more


def test_scalar_functions(session: StreamTableEnvironment, orders: Table) -> None:
    scaled = udf(Scaled(), input_types=["BIGINT", "BIGINT"], result_type="BIGINT")
    found = orders.select(doubled(col("n")), scaled(col("n"), 1), udf(lambda: 7, result_type="INT")().alias("x"))
    assert values(found) == [(6, 31, 7), (10, 51, 7), (8, 41, 7), (None, 1, 7)]
    session.create_temporary_function("twice", doubled)
    session.create_temporary_system_function("scaled", scaled)
    assert values(session.sql_query("SELECT twice(n), scaled(n, 2) FROM orders WHERE twice(n) > 6")) == [
        (10, 52), (8, 42),
    ]  # fmt: skip
    assert values(orders.select(call("twice", col("n")))) == [(6,), (10,), (8,), (None,)]


def test_create_function_names_a_python_function(session: StreamTableEnvironment, orders: Table) -> None:
    session.execute_sql(
        "CREATE TEMPORARY FUNCTION dbl AS 'tests.unit.table.test_python_functions.doubled' LANGUAGE PYTHON"
    )
    assert values(session.sql_query("SELECT dbl(n) AS d FROM orders LIMIT 1")) == [(6,)]


def test_pandas_and_async_functions(orders: Table) -> None:
    total = udf(lambda n, m: n + m, result_type=DataTypes.DOUBLE(), func_type="pandas")

    @udf(result_type=DataTypes.STRING())
    async def greeted(who: str) -> str:
        await asyncio.sleep(0)
        return f"hello {who}"

    assert values(orders.where(col("n").is_not_null).select(total(col("n"), col("n")), greeted(col("who")))) == [
        (6.0, "hello ann"), (10.0, "hello bob"), (8.0, "hello ann"),
    ]  # fmt: skip


def test_async_functions_where_a_loop_runs_already(orders: Table) -> None:
    @udf(result_type=DataTypes.STRING())
    async def greeted(who: str) -> str:
        return f"hello {who}"

    async def in_a_notebook() -> Any:
        return values(orders.where(col("n").is_not_null).select(greeted(col("who"))))

    # in a thread of its own: the browser of the page's tests keeps a loop running in this one
    with ThreadPoolExecutor(1) as thread:
        rows = thread.submit(lambda: asyncio.run(in_a_notebook())).result()
    assert rows == [("hello ann",), ("hello bob",), ("hello ann",)]


@udtf(result_types=["STRING", "INT"])
def words(text: str | None) -> Iterator[tuple[str, int]]:
    for word in (text or "").split():
        yield word, len(word)


class Repeated(TableFunction):
    def eval(self, n: int | None) -> list[int]:
        return list(range((n or 0) - 2))


def test_table_functions(session: StreamTableEnvironment, orders: Table) -> None:
    session.create_temporary_function("words", words)
    inner = "SELECT who, w, l FROM orders, LATERAL TABLE(words(words)) AS T(w, l)"
    assert values(session.sql_query(inner)) == [("ann", "a", 1), ("ann", "b", 1), ("ann", "c", 1)]
    left = "SELECT who, w FROM orders LEFT JOIN LATERAL TABLE(words(words)) AS T(w, l) ON TRUE"
    assert values(session.sql_query(left)) == [
        ("ann", "a"), ("ann", "b"), ("bob", None), ("ann", "c"), ("bob", None),
    ]  # fmt: skip
    joined = orders.join_lateral(words(col("words")).alias("w", "l")).select(col("who"), col("w"))
    assert values(joined) == [("ann", "a"), ("ann", "b"), ("ann", "c")]
    repeated = udtf(Repeated(), result_types="INT")
    assert values(orders.flat_map(repeated(col("n")))) == [(0,), (0,), (1,), (2,), (0,), (1,)]
    outer = orders.left_outer_join_lateral(repeated(col("n")).alias("r")).select(col("who"), col("r"))
    assert values(outer)[-1] == ("bob", None)


def test_unnest(session: StreamTableEnvironment, orders: Table) -> None:
    sql = "SELECT who, e FROM (SELECT who, ARRAY[n, 0] AS a FROM orders WHERE n < 5), UNNEST(a) AS T(e)"
    assert values(session.sql_query(sql)) == [("ann", 3), ("ann", 0), ("ann", 4), ("ann", 0)]


def test_map_spreads_rows(orders: Table) -> None:
    shape = DataTypes.ROW([DataTypes.FIELD("a", DataTypes.STRING()), DataTypes.FIELD("b", DataTypes.INT())])
    of_columns = udf(lambda who, n: Row(who.upper(), n), result_type=shape)
    mapped = orders.map(of_columns(col("who"), col("n")))
    assert mapped.get_schema().get_field_names() == ["a", "b"]
    assert values(mapped)[:2] == [("ANN", 3), ("BOB", 5)]
    of_row = udf(lambda row: Row(row[0] + "!", row.n), result_type=shape)
    assert values(orders.map(of_row).alias("x", "y"))[:2] == [("ann!", 3), ("bob!", 5)]


class Mean(AggregateFunction):  # type: ignore[type-arg]
    def create_accumulator(self) -> list[Any]:
        return [0, 0]

    def accumulate(self, accumulator: list[Any], *args: Any) -> None:
        if args[0] is not None:
            accumulator[0] += args[0]
            accumulator[1] += 1

    def retract(self, accumulator: list[Any], *args: Any) -> None:
        if args[0] is not None:
            accumulator[0] -= args[0]
            accumulator[1] -= 1

    def get_value(self, accumulator: list[Any]) -> float | None:
        return accumulator[0] / accumulator[1] if accumulator[1] else None

    def get_result_type(self) -> str:
        return "DOUBLE"

    def get_accumulator_type(self) -> str:
        return "ARRAY<BIGINT>"


class Seen(AggregateFunction):  # type: ignore[type-arg]
    """With views in the accumulator."""

    def create_accumulator(self) -> Row:
        return Row(ListView(), MapView())

    def accumulate(self, accumulator: Row, *args: Any) -> None:
        accumulator[0].add(str(args[0]))
        accumulator[1].put(args[0], (accumulator[1].get(args[0]) if accumulator[1].contains(args[0]) else 0) + 1)

    def get_value(self, accumulator: Row) -> str:
        return f"{'+'.join(accumulator[0])} of {len(list(accumulator[1].keys()))}"


def test_aggregate_functions(session: StreamTableEnvironment, orders: Table) -> None:
    mean = udaf(Mean())
    seen = udaf(Seen(), result_type="STRING", accumulator_type="ROW<a INT>")
    grouped = orders.group_by(col("who")).select(col("who"), mean(col("n")), seen(col("n")))
    assert changes(grouped) == [
        ("+I", "ann", 3.0, "3 of 1"), ("+I", "bob", 5.0, "5 of 1"),
        ("-U", "ann", 3.0, "3 of 1"), ("+U", "ann", 3.5, "3+4 of 2"),
        ("-U", "bob", 5.0, "5 of 1"), ("+U", "bob", 5.0, "5+None of 2"),
    ]  # fmt: skip
    session.create_temporary_function("mean", mean)
    sql = "SELECT mean(c), mean(c) FILTER (WHERE c > 1) FROM (SELECT who, COUNT(*) AS c FROM orders GROUP BY who)"
    assert values(session.sql_query(sql))[-1] == (2.0, 2.0)


def test_pandas_aggregate(orders: Table) -> None:
    middle = udaf(lambda series: series.median(), result_type=DataTypes.DOUBLE(), func_type="pandas")
    found = orders.where(col("n").is_not_null).group_by(col("who")).select(col("who"), middle(col("n")))
    assert values(found)[-1] == ("ann", 3.5)


def test_aggregate_spreads_rows(orders: Table) -> None:
    class Both(Mean):
        def get_value(self, accumulator: list[Any]) -> Any:
            return Row(accumulator[0], accumulator[1])

        def get_result_type(self) -> str:
            return "ROW<total BIGINT, many BIGINT>"

    found = orders.group_by(col("who")).aggregate(udaf(Both())(col("n")).alias("t", "m")).select(col("who"), col("t"))
    assert values(found)[-1] == ("ann", 7)


class TopTwo(TableAggregateFunction):  # type: ignore[type-arg]
    def create_accumulator(self) -> list[int]:
        return []

    def accumulate(self, accumulator: list[int], *args: Any) -> None:
        if args[0] is not None:
            accumulator[:] = sorted([*accumulator, args[0]])[-2:]

    def emit_value(self, accumulator: list[int]) -> Iterator[Row]:
        for rank, value in enumerate(reversed(accumulator), 1):
            yield Row(value, rank)

    def get_result_type(self) -> str:
        return "ROW<v INT, r INT>"

    def get_accumulator_type(self) -> str:
        return "ARRAY<INT>"


def test_table_aggregate_functions(orders: Table) -> None:
    top = udtaf(TopTwo())
    found = orders.group_by(col("who")).flat_aggregate(top(col("n")).alias("v", "r"))
    assert changes(found.select(col("who"), col("v"), col("r"))) == [
        ("+I", "ann", 3, 1), ("+I", "bob", 5, 1),
        ("-D", "ann", 3, 1), ("+I", "ann", 4, 1), ("+I", "ann", 3, 2),
        ("-D", "bob", 5, 1), ("+I", "bob", 5, 1),
    ]  # fmt: skip


def test_pandas_aggregates_and_built_in_ones_over_the_same_window(
    session: StreamTableEnvironment, orders: Table
) -> None:
    middle = udaf(lambda series: series.median(), result_type=DataTypes.DOUBLE(), func_type="pandas", name="middle")
    session.create_temporary_view("timed", session.sql_query("SELECT *, PROCTIME() AS pt FROM orders"))
    session.create_temporary_function("middle", middle)
    found = session.sql_query(
        "SELECT who, COUNT(n) OVER w, middle(n + 1) OVER w + 1, SUM(n) OVER w FROM timed"
        " WINDOW w AS (PARTITION BY who ORDER BY pt ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)"
    )
    assert values(found) == [("ann", 1, 5.0, 3), ("bob", 1, 7.0, 5), ("ann", 2, 5.5, 7), ("bob", 1, 7.0, 5)]


def test_pandas_aggregates_over_an_order_of_values_change_as_rows_come(
    session: StreamTableEnvironment, orders: Table
) -> None:
    listed = udaf(lambda n: str(n.tolist()), result_type=DataTypes.STRING(), func_type="pandas")
    session.create_temporary_function("listed", listed)
    sql = "SELECT n, listed(n) OVER (PARTITION BY who ORDER BY n DESC) FROM orders WHERE n IS NOT NULL"
    assert changes(session.sql_query(sql)) == [
        ("+I", 3, "[3]"), ("+I", 5, "[5]"),
        ("+I", 4, "[4]"), ("-U", 3, "[3]"), ("+U", 3, "[4, 3]"),
    ]  # fmt: skip


def test_what_functions_of_series_cannot_do_with_over(session: StreamTableEnvironment, orders: Table) -> None:
    half = udaf(lambda n: 0.5, result_type=DataTypes.INT(), func_type="pandas", name="half")
    session.create_temporary_view("timed", session.sql_query("SELECT *, PROCTIME() AS pt FROM orders"))
    session.create_temporary_function("half", half)
    session.create_temporary_function("mean", udaf(Mean(), name="mean"))
    session.create_temporary_function("double_it", doubled)
    window = "OVER (PARTITION BY who ORDER BY pt ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)"
    with pytest.raises(NotSupportedError, match=r"mean takes row after row.*func_type"):
        session.sql_query(f"SELECT mean(n) {window} FROM timed")
    with pytest.raises(SqlValidationError, match="no aggregate function"):
        session.sql_query(f"SELECT double_it(n) {window} FROM timed")
    with pytest.raises(NotSupportedError, match="half .*without DISTINCT and FILTER"):
        session.sql_query(f"SELECT half(DISTINCT n) {window} FROM timed")
    with pytest.raises(NotSupportedError, match="half .*UNBOUNDED PRECEDING"):
        session.sql_query("SELECT half(n) OVER (PARTITION BY who ORDER BY pt) FROM timed").execute()
    with pytest.raises(Exception, match=r"The result of half is INT: 0\.5 does not fit it"):
        values(session.sql_query(f"SELECT half(n) {window} FROM timed"))


def test_refusals_say_what_to_do(session: StreamTableEnvironment, orders: Table) -> None:
    with pytest.raises(SqlValidationError, match="gives rows"):
        orders.select(words(col("words")))
    with pytest.raises(SqlValidationError, match="takes 1 arguments"):
        orders.select(udf(lambda a: a, input_types=["INT"], result_type="INT")(col("n"), col("n")))
    with pytest.raises(SqlValidationError, match="udf"):
        orders.select(call(len, col("words")))

"""Joins with versions of rows, temporal table functions, hints, and what EXPLAIN tells of state."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from penstock.common.errors import JobExecutionError, NotSupportedError, ProgramError
from penstock.datastream import StreamExecutionEnvironment
from penstock.table import DataTypes, StreamTableEnvironment
from penstock.table.expressions import call, col
from penstock.table.sql.errors import SqlValidationError
from penstock.table.udf import ScalarFunction, udf

Factory = Callable[..., StreamExecutionEnvironment]


@pytest.fixture
def t_env(local_env: Factory, tmp_path: Path) -> StreamTableEnvironment:
    env = StreamTableEnvironment.create(local_env(1, epoch_records=3))
    (tmp_path / "orders.csv").write_text(
        "1,eur,10,2024-01-01 00:00:05\n2,usd,20,2024-01-01 00:00:06\n"
        "3,eur,30,2024-01-01 00:00:15\n4,yen,1,2024-01-01 00:00:16\n"
    )
    (tmp_path / "rates.csv").write_text(
        "eur,100,2024-01-01 00:00:01\nusd,90,2024-01-01 00:00:02\neur,110,2024-01-01 00:00:10\n"
    )
    files = f"WITH ('connector' = 'filesystem', 'format' = 'csv', 'path' = '{tmp_path}/%s.csv')"
    env.execute_sql(
        "CREATE TABLE orders (id INT, cur STRING, amount INT, ts TIMESTAMP(3), proc AS PROCTIME(),"
        f" WATERMARK FOR ts AS ts) {files % 'orders'}"
    )
    env.execute_sql(
        f"CREATE TABLE rates (cur STRING, rate INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) {files % 'rates'}"
    )
    env.execute_sql(
        "CREATE TABLE keyed (cur STRING, rate INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts,"
        f" PRIMARY KEY (cur) NOT ENFORCED) {files % 'rates'}"
    )
    return env


def rows(t_env: StreamTableEnvironment, query: str) -> list[tuple[Any, ...]]:
    with t_env.execute_sql(query).collect() as found:
        return sorted(tuple(row) for row in found)


WORTH = [(1, 1000), (2, 1800), (3, 3300)]


def test_a_row_meets_the_version_at_its_time(t_env: StreamTableEnvironment) -> None:
    joined = "FROM orders AS o {} JOIN keyed FOR SYSTEM_TIME AS OF o.ts AS r ON {}"
    assert rows(t_env, "SELECT id, amount * rate " + joined.format("", "o.cur = r.cur")) == WORTH
    left = rows(t_env, "SELECT id, rate " + joined.format("LEFT", "o.cur = r.cur AND rate > 95"))
    assert left == [(1, 100), (2, None), (3, 110), (4, None)]
    upper = rows(t_env, "SELECT id, rate " + joined.format("", "LOWER(UPPER(o.cur)) = r.cur"))
    assert upper == [(1, 100), (2, 90), (3, 110)]


def test_a_temporal_table_function_in_sql_and_in_the_table_api(t_env: StreamTableEnvironment) -> None:
    rates = t_env.from_path("rates").create_temporal_table_function(col("ts"), col("cur"))
    t_env.create_temporary_system_function("rates_at", rates)
    query = "SELECT id, amount * rate FROM orders AS o, LATERAL TABLE(rates_at(o.ts)) AS r WHERE o.cur = r.cur"
    assert rows(t_env, query) == WORTH
    left = "SELECT id, rate FROM orders AS o LEFT JOIN LATERAL TABLE(rates_at(o.ts)) AS r ON o.cur = r.cur"
    assert rows(t_env, left)[-1] == (4, None)
    orders = t_env.from_path("orders").select(
        col("id"), col("cur").alias("o_cur"), col("amount"), col("ts").alias("o_ts")
    )
    for called in (call("rates_at", col("o_ts")), rates(col("o_ts"))):
        joined = orders.join_lateral(called, col("o_cur") == col("cur")).select(col("id"), col("amount") * col("rate"))
        with joined.execute().collect() as found:
            assert sorted(tuple(row) for row in found) == WORTH
    left_outer = orders.left_outer_join_lateral(rates(col("o_ts")), col("o_cur") == col("cur")).select(col("rate"))
    with left_outer.execute().collect() as found:
        assert sorted(str(row[0]) for row in found) == ["100", "110", "90", "None"]
    with pytest.raises(ProgramError, match="is no time attribute"):
        t_env.from_path("rates").create_temporal_table_function(col("rate"), col("cur"))


def test_the_last_version_as_of_processing_time(t_env: StreamTableEnvironment) -> None:
    query = "SELECT id, rate FROM orders AS o LEFT JOIN keyed FOR SYSTEM_TIME AS OF o.proc AS r ON o.cur = r.cur"
    found = dict(rows(t_env, query))
    assert set(found) == {1, 2, 3, 4} and found[4] is None
    assert found[2] in (90, None) and found[1] in (100, 110, None)
    assert "asOf=[proc proctime]" in t_env.explain_sql(query)


def test_what_is_no_temporal_join_is_said(t_env: StreamTableEnvironment) -> None:
    for table, condition, time, message in (
        ("rates", "o.cur = r.cur", "o.ts", "needs a key of the versioned table"),
        ("keyed", "o.amount = r.rate", "o.ts", "no such condition for cur"),
        ("keyed", "o.cur = r.cur", "TIMESTAMP '2024-01-01 00:00:00'", "takes a time attribute"),
    ):
        with pytest.raises(SqlValidationError, match=message):
            t_env.execute_sql(f"SELECT id FROM orders o JOIN {table} FOR SYSTEM_TIME AS OF {time} AS r ON {condition}")


def test_hints_name_tables_of_their_select(t_env: StreamTableEnvironment) -> None:
    joined = "id FROM orders AS o JOIN rates AS r ON o.cur = r.cur"
    assert len(rows(t_env, f"SELECT /*+ STATE_TTL('o' = '1d', 'r' = '2h'), BROADCAST(r) */ {joined}")) == 5
    assert len(rows(t_env, "SELECT /*+ STATE_TTL('orders' = '1d') */ cur, COUNT(*) FROM orders GROUP BY cur")) == 5
    for hint, message in (
        ("STATE_TTL('x' = '1d')", "names 'x'"),
        ("STATE_TTL('o' = 'soon')", "STATE_TTL"),
        ("BROADCAST(q)", "names 'q'"),
        ("BROADCASTS(o)", "no hint BROADCASTS"),
        ("LOOKUP('table' = 'r')", "FOR SYSTEM_TIME AS OF"),
    ):
        with pytest.raises(SqlValidationError, match=message):
            t_env.execute_sql(f"SELECT /*+ {hint} */ {joined}")


def test_state_of_a_hint_is_given_up(local_env: Factory) -> None:
    plan = StreamTableEnvironment.create(local_env(1))
    plan.create_temporary_view("t", plan.from_elements([(1, "a")], ["id", "k"]))
    advice = plan.explain_sql("SELECT /*+ STATE_TTL('t' = '1h') */ k, COUNT(*) FROM t GROUP BY k", 3)
    assert "for ever" not in advice and "mini-batch" in advice


def test_explain_tells_state_and_advice(t_env: StreamTableEnvironment) -> None:
    counts = "(SELECT cur, COUNT(*) AS c FROM rates GROUP BY cur)"
    query = f"SELECT o.id, r.c FROM orders AS o JOIN {counts} AS r ON o.cur = r.cur"
    with t_env.execute_sql(f"EXPLAIN ESTIMATED_COST, CHANGELOG_MODE, PLAN_ADVICE {query}").collect() as found:
        [text] = [row[0] for row in found]
    assert "state=[all rows of both sides, about" in text
    assert "state=[one entry for each cur, about 32 bytes], changelogMode=[I,UA]" in text
    assert "advice[1]: A join keeps all rows" in text and "advice[2]: A group tells every" in text
    with t_env.execute_sql("EXPLAIN PLAN_ADVICE SELECT id FROM orders").collect() as found:
        assert "no available advice" in next(iter(found))[0]


def test_bundles_of_a_session(t_env: StreamTableEnvironment) -> None:
    for key, value in (("enabled", "true"), ("allow-latency", "10 s"), ("size", "100")):
        t_env.get_config().set(f"table.exec.mini-batch.{key}", value)
    assert sorted(rows(t_env, "SELECT cur, COUNT(*) FROM rates GROUP BY cur")) == [("eur", 2), ("usd", 1)]
    t_env.get_config().set("table.exec.mini-batch.allow-latency", "0 s")
    with pytest.raises(ProgramError, match="allow-latency"):
        t_env.execute_sql("SELECT cur, COUNT(*) FROM rates GROUP BY cur")


class Opened(ScalarFunction):
    def open(self, function_context: Any) -> None:
        self.limit = 95

    def eval(self, rate: int, amount: int) -> bool:
        return rate > self.limit and amount > 0


def test_functions_in_conditions_of_joins_are_opened(t_env: StreamTableEnvironment) -> None:
    t_env.create_temporary_system_function("fits", udf(Opened(), result_type=DataTypes.BOOLEAN()))
    for join, count in (
        ("rates AS r ON o.cur = r.cur AND fits(r.rate, o.amount)", 4),
        ("keyed FOR SYSTEM_TIME AS OF o.ts AS r ON o.cur = r.cur AND fits(r.rate, o.amount)", 2),
        (
            "rates AS r ON o.cur = r.cur AND o.ts BETWEEN r.ts AND r.ts + INTERVAL '1' HOUR AND fits(r.rate, o.amount)",
            3,
        ),
    ):
        assert len(rows(t_env, f"SELECT id FROM orders AS o JOIN {join}")) == count, join


def test_conflicts_and_materializing(t_env: StreamTableEnvironment, tmp_path: Path) -> None:
    import sqlite3

    with sqlite3.connect(tmp_path / "a.db") as database:
        database.execute("CREATE TABLE worth (id INTEGER PRIMARY KEY, rate INTEGER)")
    t_env.execute_sql(
        "CREATE TABLE worth (id INT, rate INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'jdbc',"
        f" 'url' = 'jdbc:sqlite:{tmp_path}/a.db', 'table-name' = 'worth')"
    )
    changing = "SELECT o.id, r.rate FROM orders AS o LEFT JOIN rates AS r ON o.cur = r.cur"
    assert "SinkMaterialize" in t_env.explain_sql(f"INSERT INTO worth {changing}")
    assert "SinkMaterialize" in t_env.explain_sql(f"INSERT INTO worth {changing} ON CONFLICT DO DEDUPLICATE")
    t_env.execute_sql(f"INSERT INTO worth {changing} ON CONFLICT DO NOTHING").wait()
    with sqlite3.connect(tmp_path / "a.db") as database:
        assert [row[0] for row in database.execute("SELECT id FROM worth ORDER BY id")] == [1, 2, 3, 4]
    with pytest.raises(JobExecutionError, match="have the primary key .id=1."):
        t_env.execute_sql(f"INSERT INTO worth {changing} ON CONFLICT DO ERROR").wait()
    t_env.execute_sql("CREATE TEMPORARY VIEW pairs AS SELECT * FROM (VALUES (1, 2), (1, 3)) AS T(id, rate)")
    t_env.execute_sql(
        "CREATE TABLE untimed (id INT, rate INT) WITH ('connector' = 'filesystem', 'format' = 'csv',"
        f" 'path' = '{tmp_path}/none.csv')"
    )
    with pytest.raises(SqlValidationError, match="untimed has no WATERMARK"):
        t_env.execute_sql("INSERT INTO worth SELECT * FROM untimed ON CONFLICT DO NOTHING")
    t_env.execute_sql("CREATE TABLE shown (id INT, rate INT) WITH ('connector' = 'print')")
    with pytest.raises(SqlValidationError, match="written by a primary key"):
        t_env.execute_sql("INSERT INTO shown SELECT * FROM pairs ON CONFLICT DO NOTHING")
    t_env.get_config().set("table.exec.sink.upsert-materialize", "NONE")
    assert "SinkMaterialize" not in t_env.explain_sql(f"INSERT INTO worth {changing}")
    t_env.get_config().set("table.exec.sink.upsert-materialize", "FORCE")
    assert "SinkMaterialize" in t_env.explain_sql("INSERT INTO worth SELECT id, MAX(amount) FROM orders GROUP BY id")


def test_a_whole_table_of_a_database_is_kept(t_env: StreamTableEnvironment, tmp_path: Path) -> None:
    import sqlite3

    with sqlite3.connect(tmp_path / "a.db") as database:
        database.execute("CREATE TABLE goods (id INTEGER, name TEXT)")
        database.execute("INSERT INTO goods VALUES (1, 'tea'), (2, 'nut'), (2, 'fig')")

    def created(name: str, *options: str) -> None:
        given = ", ".join(["'connector' = 'jdbc'", f"'url' = 'jdbc:sqlite:{tmp_path}/a.db'", *options])
        t_env.execute_sql(f"CREATE TABLE {name} (id INT, name STRING) WITH ('table-name' = 'goods', {given})")

    created("goods", "'lookup.cache' = 'FULL'", "'lookup.full-cache.periodic-reload.interval' = '1 h'")
    created("daily", "'lookup.cache' = 'FULL'", "'lookup.full-cache.reload-strategy' = 'TIMED'")
    created("never", "'lookup.cache' = 'FULL'")
    t_env.execute_sql(
        "CREATE TEMPORARY VIEW sales AS SELECT *, PROCTIME() AS proc FROM (VALUES (2), (1), (9)) AS T(good)"
    )
    query = "SELECT {} s.good, g.name FROM sales s LEFT JOIN {} FOR SYSTEM_TIME AS OF s.proc AS g ON s.good = g.id"
    with t_env.execute_sql(query.format("", "goods")).collect() as rows:
        assert [tuple(row) for row in rows] == [(2, "nut"), (2, "fig"), (1, "tea"), (9, None)]
    for text, wrong in [
        (query.format("", "never"), "periodic-reload.interval"),
        (query.format("", "daily"), "timed-reload.iso-time"),
        (query.format("/*+ LOOKUP('table' = 'g', 'async' = 'true') */", "goods"), "has all rows"),
    ]:
        with pytest.raises((NotSupportedError, ProgramError), match=wrong):
            t_env.execute_sql(text)

"""Lookup joins of SQL with tables of a real PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from tests.services.postgres import PASSWORD, USER, PostgresServer

from penstock.common.errors import ProgramError
from penstock.datastream import StreamExecutionEnvironment
from penstock.table import StreamTableEnvironment, TableResult
from penstock.table.sql.errors import SqlValidationError

Factory = Callable[..., StreamExecutionEnvironment]


@pytest.fixture(scope="module")
def goods(postgres: PostgresServer) -> PostgresServer:
    postgres.execute(
        "create table goods (id int primary key, name text, price numeric(10, 2), seen timestamptz)",
        "insert into goods values (1, 'tea', 2.50, '2024-01-01 00:00:00+00'), (2, 'nut', 0.30, null)",
        "create table prices (id int, region text, price int)",
        "insert into prices values (1, 'n', 10), (1, 's', 11), (2, 'n', 20)",
    )
    return postgres


def session_with(env: StreamExecutionEnvironment, server: PostgresServer, **options: str) -> StreamTableEnvironment:
    t_env = StreamTableEnvironment.create(env)
    given = {"connector": "jdbc", "url": server.jdbc_url, "username": USER, "password": PASSWORD}
    given |= {key.replace("__", ".").replace("_", "-"): value for key, value in options.items()}
    pairs = ", ".join(f"'{key}' = '{value}'" for key, value in given.items())
    t_env.execute_sql(
        "CREATE TABLE goods (id INT, name STRING, price DECIMAL(10, 2), seen TIMESTAMP_LTZ(3), loud AS UPPER(name),"
        f" PRIMARY KEY (id) NOT ENFORCED) WITH ({pairs}, 'table-name' = 'goods')"
    )
    t_env.execute_sql(f"CREATE TABLE prices (id INT, region STRING, price INT) WITH ({pairs}, 'table-name' = 'prices')")
    t_env.execute_sql(
        "CREATE TEMPORARY VIEW orders AS SELECT *, PROCTIME() AS proc FROM"
        " (VALUES (1, 1, 'n'), (2, 3, 's'), (3, 2, 'n'), (4, CAST(NULL AS INT), 's'), (5, 1, 's'))"
        " AS T(oid, gid, region)"
    )
    return t_env


def rows(result: TableResult) -> list[tuple[Any, ...]]:
    with result.collect() as found:
        return [(str(row.get_row_kind()), *row) for row in found]


FROM = "FROM orders AS o {} JOIN goods {} FOR SYSTEM_TIME AS OF o.proc AS g ON o.gid = g.id"


@pytest.mark.parametrize("hint", ["", "/*+ LOOKUP('table' = 'g', 'async' = 'true', 'capacity' = '2') */"])
@pytest.mark.parametrize("cache", [{}, {"lookup__cache": "PARTIAL", "lookup__partial_cache__max_rows": "10"}])
def test_inner_and_left_lookup_joins(
    local_env: Factory, goods: PostgresServer, hint: str, cache: dict[str, str]
) -> None:
    t_env = session_with(local_env(1, epoch_records=2, forget=True), goods, **cache)
    inner = t_env.execute_sql(f"SELECT {hint} oid, name, price {FROM.format('', '')}")
    tea, nut = ("tea", Decimal("2.50")), ("nut", Decimal("0.30"))
    assert rows(inner) == [("+I", 1, *tea), ("+I", 3, *nut), ("+I", 5, *tea)]
    left = t_env.execute_sql(f"SELECT {hint} oid, loud, CAST(seen AS STRING) {FROM.format('LEFT', '')}")
    moment = "2024-01-01 00:00:00.000"
    assert rows(left) == [
        ("+I", 1, "TEA", moment),
        ("+I", 2, None, None),
        ("+I", 3, "NUT", None),
        ("+I", 4, None, None),
        ("+I", 5, "TEA", moment),
    ]


def test_more_conditions_and_keys_that_are_computed(local_env: Factory, goods: PostgresServer) -> None:
    t_env = session_with(local_env(1), goods)
    joined = "orders AS o LEFT JOIN prices FOR SYSTEM_TIME AS OF o.proc AS p"
    both = f"SELECT oid, price FROM {joined} ON o.gid = p.id AND p.region = o.region AND p.price > 10"
    assert rows(t_env.execute_sql(both)) == [
        ("+I", 1, None),
        ("+I", 2, None),
        ("+I", 3, 20),
        ("+I", 4, None),
        ("+I", 5, 11),
    ]
    computed = f"SELECT oid, p.region, price FROM {joined} ON o.gid - 1 = p.id AND 'n' = p.region"
    assert [row for row in rows(t_env.execute_sql(computed)) if row[2] is not None] == [
        ("+I", 2, "n", 20),
        ("+I", 3, "n", 10),
    ]
    named = "prices FOR SYSTEM_TIME AS OF o.proc AS p(i, r, price)"
    comma = f"SELECT oid, p.price FROM orders AS o, {named} WHERE o.gid = p.i"
    assert sorted(rows(t_env.execute_sql(comma))) == [
        ("+I", 1, 10),
        ("+I", 1, 11),
        ("+I", 3, 20),
        ("+I", 5, 10),
        ("+I", 5, 11),
    ]


def test_counts_over_a_lookup_join_are_a_table_by_key(local_env: Factory, goods: PostgresServer) -> None:
    t_env = session_with(local_env(2), goods)
    counted = "(SELECT gid, COUNT(*) AS c, PROCTIME() AS proc FROM orders WHERE gid IS NOT NULL GROUP BY gid)"
    query = f"SELECT g.name, c FROM {counted} AS o JOIN goods FOR SYSTEM_TIME AS OF o.proc AS g ON o.gid = g.id"
    final: dict[str, int] = {}
    for kind, name, count in rows(t_env.execute_sql(query)):
        if kind in ("-U", "-D"):
            assert final.pop(name) == count
        else:
            final[name] = count
    assert final == {"tea": 2, "nut": 1}


def test_what_cannot_be_looked_up_is_said(local_env: Factory, goods: PostgresServer) -> None:
    t_env = session_with(local_env(1), goods)
    with pytest.raises(SqlValidationError, match="A lookup join needs an equality"):
        t_env.execute_sql("SELECT * FROM orders AS o JOIN goods FOR SYSTEM_TIME AS OF o.proc AS g ON o.region = g.loud")
    with pytest.raises(SqlValidationError, match="no table of this SELECT is called so"):
        t_env.execute_sql(f"SELECT /*+ LOOKUP('table' = 'x') */ oid {FROM.format('', '')}")
    with pytest.raises(ProgramError, match="'retry-predicate'"):
        t_env.execute_sql(f"SELECT /*+ LOOKUP('table' = 'g', 'max-attempts' = '3') */ oid {FROM.format('', '')}")
    full = "/*+ OPTIONS('lookup.cache' = 'FULL') */"
    with pytest.raises(ProgramError, match="needs 'lookup.full-cache.periodic-reload.interval'"):
        t_env.execute_sql(f"SELECT oid {FROM.format('', full)}")

"""Catalogs of other systems: Iceberg tables of pyiceberg's SQL catalog, and the tables of a real PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.services.postgres import DATABASE, PASSWORD, USER, PostgresServer

from penstock.common.errors import NotSupportedError, ProgramError
from penstock.datastream import StreamExecutionEnvironment
from penstock.table import EnvironmentSettings, StreamTableEnvironment
from penstock.table.catalog import CatalogError, JdbcCatalog, ObjectPath

Factory = Callable[..., StreamExecutionEnvironment]


def rows_of(t_env: StreamTableEnvironment, sql: str) -> list[tuple[Any, ...]]:
    with t_env.execute_sql(sql).collect() as rows:
        return sorted(tuple(row) for row in rows)


def lake(local_env: Factory, path: Path) -> StreamTableEnvironment:
    pytest.importorskip("pyiceberg")
    t_env = StreamTableEnvironment.create(local_env(1), EnvironmentSettings.in_batch_mode())
    t_env.execute_sql(f"""
        CREATE CATALOG lake WITH ('type' = 'iceberg', 'catalog-type' = 'sql', 'uri' = 'sqlite:///{path}/catalog.db',
            'warehouse' = 'file://{path}')
    """)
    t_env.execute_sql("USE CATALOG lake")
    return t_env


def test_iceberg_tables_outlive_the_program(local_env: Factory, tmp_path: Path) -> None:
    t_env = lake(local_env, tmp_path)
    t_env.execute_sql("CREATE DATABASE shop COMMENT 'goods'")
    t_env.execute_sql("USE shop")
    t_env.execute_sql("CREATE TABLE items (id INT NOT NULL, name STRING, seen TIMESTAMP(6)) PARTITIONED BY (name)")
    t_env.execute_sql("CREATE TABLE plain (id BIGINT NOT NULL, price DECIMAL(9, 2))")
    t_env.execute_sql("INSERT INTO items VALUES (1, 'tea', TIMESTAMP '2024-01-01 00:00:01'), (2, 'nut', NULL)").wait()
    t_env.execute_sql("INSERT INTO plain SELECT 7, CAST(1.5 AS DECIMAL(9, 2))").wait()

    again = lake(local_env, tmp_path)
    assert rows_of(again, "SHOW DATABASES") == [("default",), ("shop",)]
    assert rows_of(again, "SHOW TABLES IN shop") == [("items",), ("plain",)]
    assert rows_of(again, "SELECT id, name FROM shop.items WHERE name <> 'x'") == [(1, "tea"), (2, "nut")]
    assert [str(price) for (price,) in rows_of(again, "SELECT price FROM shop.plain")] == ["1.50"]
    described = rows_of(again, "DESCRIBE shop.items")
    assert [row[:3] for row in described] == [
        ("id", "INT", False),
        ("name", "STRING", True),
        ("seen", "TIMESTAMP(6)", True),
    ]


def test_an_iceberg_table_with_a_key_is_kept_by_it(local_env: Factory, tmp_path: Path) -> None:
    t_env = lake(local_env, tmp_path)
    t_env.execute_sql("CREATE TABLE totals (k STRING, total BIGINT, PRIMARY KEY (k) NOT ENFORCED)")
    for values in ("('a', 1), ('b', 2), ('a', 3)", "('b', 9)"):
        t_env.execute_sql(f"INSERT INTO totals SELECT k, SUM(n) FROM (VALUES {values}) AS T(k, n) GROUP BY k").wait()
    assert rows_of(t_env, "SELECT * FROM totals") == [("a", 4), ("b", 9)]
    assert "PRIMARY KEY (`k`) NOT ENFORCED" in rows_of(t_env, "SHOW CREATE TABLE totals")[0][0]


def test_columns_and_names_of_iceberg_tables_change(local_env: Factory, tmp_path: Path) -> None:
    t_env = lake(local_env, tmp_path)
    t_env.execute_sql("CREATE TABLE T (a INT, b INT)")
    t_env.execute_sql("INSERT INTO T VALUES (1, 2)").wait()
    for change in ("ADD c STRING", "RENAME b TO d", "MODIFY a BIGINT", "DROP c", "RENAME TO S"):
        t_env.execute_sql(f"ALTER TABLE T {change}")
    assert rows_of(t_env, "SELECT a, d FROM S") == [(1, 2)]
    assert [row[:2] for row in rows_of(t_env, "DESCRIBE S")] == [("a", "BIGINT"), ("d", "INT")]
    t_env.execute_sql("DROP TABLE S")
    assert rows_of(t_env, "SHOW TABLES") == []
    t_env.execute_sql("DROP TABLE IF EXISTS S")


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("CREATE TABLE T (a INT, b AS a + 1)", "plain columns"),
        ("CREATE TABLE T (a INT) WITH ('connector' = 'print')", "takes no options"),
        ("CREATE VIEW V AS SELECT 1 AS x", "tables alone"),
        ("DROP TABLE nothing", "nothing"),
        ("DROP DATABASE nothing", "nothing"),
        ("CREATE CATALOG c WITH ('type' = 'iceberg')", "'catalog-type'"),
    ],
)
def test_what_iceberg_has_no_place_for_is_refused(
    local_env: Factory, tmp_path: Path, statement: str, message: str
) -> None:
    with pytest.raises(ProgramError, match=message):
        lake(local_env, tmp_path).execute_sql(statement)


def test_tables_of_postgresql_are_found_and_read(local_env: Factory, postgres: PostgresServer) -> None:
    postgres.execute(
        "create schema if not exists depot",
        "create table catalog_goods (id int primary key, name varchar(20) not null, price numeric(8, 2),"
        " seen timestamp(3), ratio double precision, code char(3), raw bytea, ok boolean, day date)",
        "insert into catalog_goods values"
        " (1, 'tea', 2.50, '2024-01-01 00:00:01', 0.5, 'abc', '\\x01', true, '2024-01-02')",
        "create table depot.places (a bigint, b text, primary key (b, a))",
        "create table depot.strange (a uuid)",
    )
    t_env = StreamTableEnvironment.create(local_env(1))
    base = postgres.jdbc_url.rpartition("/")[0]
    t_env.execute_sql(f"""
        CREATE CATALOG pg WITH ('type' = 'jdbc', 'default-database' = '{DATABASE}', 'username' = '{USER}',
            'password' = '{PASSWORD}', 'base-url' = '{base}')
    """)
    t_env.execute_sql("USE CATALOG pg")
    tables = {name for (name,) in rows_of(t_env, "SHOW TABLES")}
    assert {"public.catalog_goods", "depot.places", "depot.strange"} <= tables
    assert DATABASE in {name for (name,) in rows_of(t_env, "SHOW DATABASES")}
    types = {row[0]: row[1:3] for row in rows_of(t_env, "DESCRIBE catalog_goods")}
    assert types["id"] == ("INT", False)
    assert types["name"] == ("VARCHAR(20)", False)
    assert types["price"] == ("DECIMAL(8, 2)", True)
    assert types["seen"] == ("TIMESTAMP(3)", True)
    assert types["code"] == ("CHAR(3)", True)
    assert rows_of(t_env, "SELECT id, name, CAST(price AS STRING), ok FROM catalog_goods") == [(1, "tea", "2.50", True)]
    t_env.execute_sql("INSERT INTO `depot.places` VALUES (5, 'x'), (6, 'y')").wait()
    assert rows_of(t_env, f"SELECT b, a FROM pg.{DATABASE}.`depot.places`") == [("x", 5), ("y", 6)]

    catalog = JdbcCatalog("pg", DATABASE, USER, PASSWORD, f"{base}/")
    key = catalog.get_table(ObjectPath(DATABASE, "depot.places"))._body.primary_key
    assert key is not None and key.columns == ("b", "a")
    with pytest.raises(NotSupportedError, match="uuid"):
        catalog.get_table(ObjectPath(DATABASE, "depot.strange"))
    with pytest.raises(CatalogError, match="nothing"):
        catalog.get_table(ObjectPath(DATABASE, "nothing"))
    with pytest.raises(NotSupportedError, match="only shows"):
        t_env.execute_sql("CREATE TABLE mine (a INT) WITH ('connector' = 'print')")

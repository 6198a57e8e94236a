"""SQL on real outsides: Kafka topics, also as upserts, and tables of a database."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from tests.services.kafka import KafkaBroker, create_topic
from tests.services.postgres import PASSWORD, USER, PostgresServer

from penstock.common.errors import ProgramError
from penstock.connectors.postgres_cdc.source import drop_replication_slot
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.connectors.jdbc import JdbcConnectionOptions
from penstock.engines.local.executor import LocalExecutor
from penstock.table import StreamTableEnvironment, TableResult

Factory = Callable[..., StreamExecutionEnvironment]


def changes(result: TableResult) -> list[tuple[Any, ...]]:
    with result.collect() as found:
        return [(str(row.get_row_kind()), *row) for row in found]


def kafka_table(broker: KafkaBroker, topic: str, columns: str, connector: str = "kafka", **options: str) -> str:
    given = {"connector": connector, "topic": topic, "properties.bootstrap.servers": broker.address}
    given["scan.bounded.mode"] = "latest-offset"
    if connector == "kafka":
        given["scan.startup.mode"] = "earliest-offset"
    given |= {key.replace("__", ".").replace("_", "-"): value for key, value in options.items()}
    pairs = ", ".join(f"'{key}' = '{value}'" for key, value in given.items())
    return f"CREATE TABLE {topic} ({columns}) WITH ({pairs})"


def test_rows_go_through_a_topic_with_key_and_metadata(local_env: Factory, kafka: KafkaBroker) -> None:
    create_topic(kafka, 2, "sql_orders")
    t_env = StreamTableEnvironment.create(local_env(2))
    columns = "id BIGINT, who STRING, ts TIMESTAMP_LTZ(3) METADATA FROM 'timestamp', topic STRING METADATA VIRTUAL"
    options = {"key__format": "raw", "key__fields": "who", "value__format": "json"}
    t_env.execute_sql(kafka_table(kafka, "sql_orders", columns, **options))
    t_env.execute_sql(
        "INSERT INTO sql_orders VALUES (1, 'amy', TO_TIMESTAMP_LTZ(5000, 3)), (2, 'bob', TO_TIMESTAMP_LTZ(6000, 3))"
    ).wait()
    found = changes(t_env.execute_sql("SELECT id, who, CAST(ts AS STRING), topic FROM sql_orders"))
    assert sorted(found) == [
        ("+I", 1, "amy", "1970-01-01 00:00:05.000", "sql_orders"),
        ("+I", 2, "bob", "1970-01-01 00:00:06.000", "sql_orders"),
    ]


def test_changes_of_a_database_come_through_a_topic(local_env: Factory, kafka: KafkaBroker) -> None:
    create_topic(kafka, 1, "sql_changes")
    t_env = StreamTableEnvironment.create(local_env(1))
    t_env.execute_sql(kafka_table(kafka, "sql_changes", "k STRING, c BIGINT", format="debezium-json"))
    t_env.execute_sql(
        "INSERT INTO sql_changes SELECT k, COUNT(*) FROM (VALUES ('a'), ('b'), ('a')) AS T(k) GROUP BY k"
    ).wait()
    assert changes(t_env.execute_sql("SELECT k, c FROM sql_changes")) == [
        ("+I", "a", 1),
        ("+I", "b", 1),
        ("-D", "a", 1),
        ("+I", "a", 2),
    ]


def test_an_upsert_topic_is_a_table_by_its_key(local_env: Factory, kafka: KafkaBroker) -> None:
    create_topic(kafka, 1, "sql_upserts")
    t_env = StreamTableEnvironment.create(local_env(1))
    options = {"key__format": "json", "value__format": "json"}
    columns = "k STRING, c BIGINT, PRIMARY KEY (k) NOT ENFORCED"
    t_env.execute_sql(kafka_table(kafka, "sql_upserts", columns, "upsert-kafka", **options))
    t_env.execute_sql(
        "INSERT INTO sql_upserts SELECT k, COUNT(*) FROM (VALUES ('a'), ('b'), ('a')) AS T(k) GROUP BY k"
    ).wait()
    assert changes(t_env.execute_sql("SELECT k, c FROM sql_upserts")) == [
        ("+I", "a", 1),
        ("+I", "b", 1),
        ("-U", "a", 1),
        ("+U", "a", 2),
    ]
    without_key = kafka_table(kafka, "sql_bad", "k STRING", "upsert-kafka", **options)
    t_env.execute_sql(without_key)
    with pytest.raises(ProgramError, match="needs a PRIMARY KEY"):
        t_env.execute_sql("SELECT * FROM sql_bad")


@pytest.mark.parametrize("guarantee", ["at-least-once", "exactly-once"])
def test_a_table_of_a_database_is_written_by_key_and_read(local_env: Factory, tmp_path: Path, guarantee: str) -> None:
    file = tmp_path / "shop.db"
    with sqlite3.connect(file) as database:
        database.execute("CREATE TABLE counts (k TEXT PRIMARY KEY, c INTEGER)")
    t_env = StreamTableEnvironment.create(local_env(2))
    t_env.execute_sql(
        f"""CREATE TABLE counts (k STRING, c BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'jdbc',
            'url' = 'jdbc:sqlite:{file}', 'table-name' = 'counts', 'sink.delivery-guarantee' = '{guarantee}')"""
    )
    t_env.execute_sql(
        "INSERT INTO counts SELECT k, COUNT(*) FROM (VALUES ('a'), ('b'), ('a')) AS T(k) GROUP BY k"
    ).wait()
    with sqlite3.connect(file) as database:
        assert sorted(database.execute("SELECT * FROM counts")) == [("a", 2), ("b", 1)]
    assert sorted(changes(t_env.execute_sql("SELECT c, k FROM counts"))) == [("+I", 1, "b"), ("+I", 2, "a")]


LAKES = {
    "deltalake": "'connector' = 'delta', 'table-path' = '{path}/lake'",
    "pyiceberg": """'connector' = 'iceberg', 'catalog-table' = 'lake', 'catalog.type' = 'sql',
        'catalog.uri' = 'sqlite:///{path}/catalog.db', 'catalog.warehouse' = 'file://{path}'""",
}


@pytest.mark.parametrize("key", ["", ", PRIMARY KEY (k) NOT ENFORCED"])
@pytest.mark.parametrize("package", LAKES)
def test_a_table_of_a_lake_is_appended_to_or_kept_by_key(
    local_env: Factory, tmp_path: Path, key: str, package: str
) -> None:
    pytest.importorskip(package)
    t_env = StreamTableEnvironment.create(local_env(1))
    options = LAKES[package].format(path=tmp_path)
    t_env.execute_sql(f"CREATE TABLE lake (k STRING, c BIGINT, seen TIMESTAMP_LTZ(3){key}) WITH ({options})")
    values = "(VALUES ('a', 1), ('b', 1), ('a', 2)) AS T(k, n)"
    grouped = f"SELECT k, SUM(n), MAX(TO_TIMESTAMP_LTZ(n * 1000, 3)) FROM {values} GROUP BY k"
    plain = f"SELECT k, CAST(n AS BIGINT), TO_TIMESTAMP_LTZ(n * 1000, 3) FROM {values}"
    t_env.execute_sql(f"INSERT INTO lake {grouped if key else plain}").wait()
    found = sorted(changes(t_env.execute_sql("SELECT k, c, CAST(seen AS STRING) FROM lake")))
    seen = [f"1970-01-01 00:00:0{second}.000" for second in range(3)]
    if key:
        assert found == [("+I", "a", 3, seen[2]), ("+I", "b", 1, seen[1])]
    else:
        assert found == [("+I", "a", 1, seen[1]), ("+I", "a", 2, seen[2]), ("+I", "b", 1, seen[1])]


@pytest.mark.parametrize("package", [*LAKES, "sqlite"])
def test_changes_keep_their_order_on_the_way_to_more_writers(local_env: Factory, tmp_path: Path, package: str) -> None:
    """Each key is counted up in many steps, of which the last one has to win."""
    if package == "sqlite":
        with sqlite3.connect(tmp_path / "counts.db") as database:
            database.execute("CREATE TABLE lake (k INTEGER PRIMARY KEY, c INTEGER)")
        options = f"'connector' = 'jdbc', 'url' = 'jdbc:sqlite:{tmp_path}/counts.db', 'table-name' = 'lake'"
    else:
        pytest.importorskip(package)
        options = LAKES[package].format(path=tmp_path)
    t_env = StreamTableEnvironment.create(local_env(2, epoch_records=40))
    t_env.execute_sql(
        f"CREATE TABLE lake (k INT, c BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH ({options}, 'sink.parallelism' = '3')"
    )
    values = ", ".join(f"({n % 4})" for n in range(80))
    t_env.execute_sql(f"INSERT INTO lake SELECT k, COUNT(*) FROM (VALUES {values}) AS T(k) GROUP BY k").wait()
    found = sorted(row[1:] for row in changes(t_env.execute_sql("SELECT k, c FROM lake")))
    assert found == [(k, 20) for k in range(4)]


def test_changes_without_a_key_have_as_many_writers_as_they_come_from(local_env: Factory, tmp_path: Path) -> None:
    t_env = StreamTableEnvironment.create(local_env(2))
    t_env.execute_sql("CREATE TABLE seen (k INT, c BIGINT) WITH ('connector' = 'print', 'sink.parallelism' = '3')")
    with pytest.raises(ProgramError, match=r"'sink.parallelism' = '3' of .*seen .*would lose their order"):
        t_env.execute_sql("INSERT INTO seen SELECT k, COUNT(*) FROM (VALUES (1)) AS T(k) GROUP BY k")


def test_rows_and_changes_of_a_database_are_grouped(postgres: PostgresServer, tmp_path: Path) -> None:
    postgres.execute(
        "create table sql_items (id int primary key, kind text)",
        "alter table sql_items replica identity full",
        "insert into sql_items values (1, 'a'), (2, 'a'), (3, 'b')",
    )
    address = urlsplit(postgres.jdbc_url.removeprefix("jdbc:"))
    counts, start_from = dict[str, int](), None
    try:
        for change, epochs in (("select 1", 3), ("update sql_items set kind = 'b' where id = 1", 2)):
            postgres.execute(change)
            # It never ends: so many epochs of one row, then a savepoint, from which the next one goes on.
            executor = LocalExecutor(1, stop_after=epochs, savepoint_directory=str(tmp_path), start_from=start_from)
            env = StreamExecutionEnvironment(executor=executor)
            env.set_parallelism(1)
            t_env = StreamTableEnvironment.create(env)
            t_env.execute_sql(
                f"""CREATE TABLE items (id INT, kind STRING, PRIMARY KEY (id) NOT ENFORCED) WITH (
                    'connector' = 'postgres-cdc', 'hostname' = '{address.hostname}', 'port' = '{address.port}',
                    'username' = '{USER}', 'password' = '{PASSWORD}', 'database-name' = '{address.path.strip("/")}',
                    'table-name' = 'sql_items', 'slot.name' = 'sql_items')"""
            )
            for kind, key, count in changes(t_env.execute_sql("SELECT kind, COUNT(*) FROM items GROUP BY kind")):
                if kind in ("-U", "-D"):
                    assert counts.pop(key) == count
                else:
                    counts[key] = count
            start_from = executor.savepoint_path
    finally:
        drop_replication_slot(JdbcConnectionOptions(postgres.jdbc_url, USER, PASSWORD), "sql_items")
    assert counts == {"a": 1, "b": 2}

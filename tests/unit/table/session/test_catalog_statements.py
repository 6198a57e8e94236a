"""Statements on models, partitions, statistics and functions: what catalogs keep, beyond what Flink has recorded."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.common.errors import NotSupportedError, ProgramError
from penstock.datastream import StreamExecutionEnvironment
from penstock.engines.local.executor import LocalExecutor
from penstock.table import (
    DataTypes,
    EnvironmentSettings,
    ModelDescriptor,
    Schema,
    StreamTableEnvironment,
    TableDescriptor,
)
from penstock.table.catalog import CatalogPartitionSpec, ObjectPath
from penstock.table.udf import udf


@pytest.fixture
def t_env() -> StreamTableEnvironment:
    env = StreamExecutionEnvironment(executor=LocalExecutor(100, False))
    env.set_parallelism(1)
    return StreamTableEnvironment.create(env, EnvironmentSettings.in_batch_mode())


def printed(t_env: StreamTableEnvironment, statement: str) -> list[tuple[object, ...]]:
    with t_env.execute_sql(statement).collect() as rows:
        return [tuple(row) for row in rows]


def test_models_of_the_table_api_and_of_sql_are_the_same(t_env: StreamTableEnvironment) -> None:
    schema = Schema.new_builder().column("x", DataTypes.STRING()).build()
    descriptor = ModelDescriptor.for_provider("p").input_schema(schema).output_schema(schema).comment("why").build()
    t_env.create_model("m", descriptor)
    [(text,)] = printed(t_env, "SHOW CREATE MODEL m")
    assert "COMMENT 'why'" in str(text)
    t_env.execute_sql("DROP MODEL m")
    t_env.execute_sql(str(text))
    assert t_env.list_models() == ["m"]
    assert printed(t_env, "DESCRIBE MODEL m") == [("x", "STRING", True, True), ("x", "STRING", True, False)]


def test_a_catalog_of_files_keeps_no_models_and_no_partitions(t_env: StreamTableEnvironment, tmp_path: Path) -> None:
    t_env.execute_sql(f"CREATE CATALOG c WITH ('type' = 'file', 'path' = '{tmp_path}')")
    t_env.execute_sql("USE CATALOG c")
    with pytest.raises(NotSupportedError, match="CREATE TEMPORARY MODEL"):
        t_env.execute_sql("CREATE MODEL m WITH ('provider' = 'p')")
    t_env.execute_sql("CREATE TEMPORARY MODEL m WITH ('provider' = 'p')")
    t_env.execute_sql("CREATE TABLE t (a INT, p STRING) PARTITIONED BY (p) WITH ('connector' = 'blackhole')")
    with pytest.raises(NotSupportedError, match="partitions"):
        t_env.execute_sql("ALTER TABLE t ADD PARTITION (p = 'x')")


def test_a_partition_has_a_value_of_each_column(t_env: StreamTableEnvironment) -> None:
    t_env.execute_sql("CREATE TABLE t (a INT, p STRING, q INT) PARTITIONED BY (p, q) WITH ('connector' = 'blackhole')")
    t_env.execute_sql("ALTER TABLE t ADD PARTITION (q = 1, p = 'x')")
    assert printed(t_env, "SHOW PARTITIONS t") == [("p=x/q=1",)]
    with pytest.raises(ProgramError, match="no value of 'q'"):
        t_env.execute_sql("ALTER TABLE t ADD PARTITION (p = 'x')")
    with pytest.raises(ProgramError, match="already"):
        t_env.execute_sql("ALTER TABLE t ADD PARTITION (p = 'x', q = 1)")
    with pytest.raises(ProgramError, match="no partition"):
        t_env.execute_sql("ALTER TABLE t DROP PARTITION (p = 'y', q = 1)")


def test_analyze_counts_rows_nulls_and_values(t_env: StreamTableEnvironment, tmp_path: Path) -> None:
    t_env.execute_sql(
        "CREATE TABLE t (a INT, s ARRAY<INT>, p STRING) PARTITIONED BY (p) WITH"
        f" ('connector' = 'filesystem', 'path' = '{tmp_path}', 'format' = 'json')"
    )
    t_env.execute_sql(
        "INSERT INTO t VALUES (1, ARRAY[1], 'x'), (1, ARRAY[2], 'x'), (CAST(NULL AS INT), ARRAY[3], 'y')"
    ).wait()
    t_env.execute_sql("ANALYZE TABLE t PARTITION (p) COMPUTE STATISTICS FOR ALL COLUMNS")
    catalog = t_env.get_catalog(t_env.get_current_catalog())
    place = ObjectPath(t_env.get_current_database(), "t")
    counts = {
        part: catalog.get_partition_statistics(place, CatalogPartitionSpec({"p": part})).get_row_count()
        for part in "xy"
    }
    assert counts == {"x": 2, "y": 1}
    columns = catalog.get_partition_column_statistics(place, CatalogPartitionSpec({"p": "y"}))
    assert columns.get_column_statistics_data() == {
        "a": {"null_count": 1, "ndv": 0},
        "s": {"null_count": 0, "ndv": None},
        "p": {"null_count": 0, "ndv": 1},
    }


def test_a_function_of_the_program_is_described_by_its_place(t_env: StreamTableEnvironment) -> None:
    t_env.create_temporary_function("twice", udf(_twice, input_types=[DataTypes.INT()], result_type=DataTypes.INT()))
    found = dict(printed(t_env, "DESCRIBE FUNCTION EXTENDED twice"))
    assert str(found["class name"]).endswith("._twice")
    assert found["signature"] == "default_catalog.default_database.twice(INT)"


def test_functions_are_described_by_their_names_in_sql(t_env: StreamTableEnvironment) -> None:
    found = dict(printed(t_env, "DESCRIBE FUNCTION EXTENDED `CHAR_LENGTH`"))
    assert found["kind"] == "SCALAR"
    assert found["signature"] == "char_length(<CHARACTER_STRING>)"


def _twice(number: int) -> int:
    return 2 * number


def test_what_tables_log_in_with_is_kept_and_not_shown(t_env: StreamTableEnvironment, tmp_path: Path) -> None:
    login = "'url' = 'jdbc:sqlite:/f?password=hush', 'username' = 'me', 'password' = 'hush'"
    t_env.execute_sql(f"CREATE CATALOG c WITH ('type' = 'file', 'path' = '{tmp_path}', 'some-token' = 'hush')")
    t_env.execute_sql("CREATE DATABASE c.d")
    t_env.execute_sql(f"CREATE TABLE c.d.t (x INT) WITH ('connector' = 'jdbc', 'table-name' = 't', {login})")
    t_env.execute_sql(f"CREATE MODEL m INPUT (x INT) OUTPUT (y INT) WITH ('provider' = 'p', {login})")
    t_env.execute_sql("SET 's3.secret-key' = 'hush'")
    for statement in (
        "SHOW CREATE TABLE c.d.t",
        "SHOW CREATE CATALOG c",
        "DESCRIBE CATALOG EXTENDED c",
        "SHOW CREATE MODEL m",
        "SET",
    ):
        shown = str(printed(t_env, statement))
        assert "******" in shown and "hush" not in shown, statement
    descriptor = TableDescriptor.for_connector("jdbc").option("password", "hush").build()
    assert "'password' = '******'" in str(descriptor)
    assert t_env.from_path("c.d.t").get_schema().get_field_names() == ["x"]
    kept = t_env.get_catalog("c").get_table(ObjectPath("d", "t")).get_options()
    assert kept["password"] == "hush" and kept["url"].endswith("=hush")

"""Programs on a TableEnvironment, in this process: rows in, rows out."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from penstock.common import Configuration, Row, Types, WatermarkStrategy
from penstock.common.errors import NotSupportedError, ProgramError
from penstock.common.types import RowKind
from penstock.common.watermark_strategy import TimestampAssigner
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.functions import ProcessFunction
from penstock.table import (
    ChangelogMode,
    DataTypes,
    EnvironmentSettings,
    Schema,
    StreamTableEnvironment,
    TableDescriptor,
    TableResult,
)
from penstock.table.catalog import Catalog, CatalogBaseTable, ObjectPath
from penstock.table.expressions import col, lit
from penstock.table.sql.errors import SqlValidationError
from penstock.table.table_schema import TableSchema

Factory = Callable[..., StreamExecutionEnvironment]


@pytest.fixture
def t_env(local_env: Factory) -> StreamTableEnvironment:
    return StreamTableEnvironment.create(local_env(2))


def rows(result: TableResult) -> list[tuple[Any, ...]]:
    with result.collect() as found:
        return [(str(row.get_row_kind()), *row) for row in found]


def test_queries_run_for_any_cut_into_epochs(local_env: Factory) -> None:
    for epoch_records in (1, 3, 1_000):
        t_env = StreamTableEnvironment.create(local_env(1, epoch_records, forget=True))
        table = t_env.from_elements([(number, "x" * number) for number in range(7)], ["n", "t"])
        found = rows(table.where(col("n") > 2).select(col("n") * 2, col("t").char_length.alias("l")).execute())
        assert found == [("+I", 2 * n, n) for n in range(3, 7)]


def test_a_table_can_be_named_in_sql(t_env: StreamTableEnvironment) -> None:
    table = t_env.from_elements([(1, "a"), (2, None)], ["id", "name"])
    assert rows(t_env.execute_sql(f"SELECT id + 1 FROM {table} WHERE name IS NULL")) == [("+I", 3)]
    t_env.create_temporary_view("v", table)
    assert rows(t_env.execute_sql("SELECT COALESCE(name, 'none') AS name FROM v")) == [("+I", "a"), ("+I", "none")]
    assert t_env.list_temporary_views() == ["UnnamedTable$1", "v"]


def test_rows_keep_their_kinds(t_env: StreamTableEnvironment) -> None:
    schema = DataTypes.ROW([DataTypes.FIELD("a", DataTypes.INT())])
    table = t_env.from_elements([Row.of_kind(RowKind.INSERT, 1), Row.of_kind(RowKind.DELETE, 1), Row(2)], schema)
    assert rows(table.execute()) == [("+I", 1), ("-D", 1), ("+I", 2)]
    assert table.to_pandas().to_dict("list") == {"a": [2]}


def test_columns_of_pandas_and_back(t_env: StreamTableEnvironment) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1, 2], "b": ["x", None], "c": [1.5, 2.5]})
    back = t_env.from_pandas(frame).select(col("a") + 1, col("b"), col("c")).to_pandas()
    assert back.to_dict("list") == {"_c0": [2, 3], "b": ["x", None], "c": [1.5, 2.5]}
    assert t_env.from_pandas(frame, [DataTypes.INT(), DataTypes.STRING(), DataTypes.DECIMAL(4, 1)]).execute().to_arrow()


def test_views_mean_what_they_meant_where_they_were_made(t_env: StreamTableEnvironment) -> None:
    t_env.execute_sql("CREATE VIEW first_one AS SELECT 1 AS a")
    t_env.execute_sql("CREATE VIEW second_one AS SELECT a FROM first_one")
    t_env.execute_sql("CREATE DATABASE other")
    t_env.execute_sql("USE other")
    t_env.execute_sql("CREATE VIEW first_one AS SELECT 2 AS a")
    assert rows(t_env.execute_sql("SELECT * FROM default_database.second_one")) == [("+I", 1)]


def test_computed_columns_watermarks_and_metadata(t_env: StreamTableEnvironment, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.csv").write_text("1,2020-01-01 00:00:00\n2,2020-01-01 00:00:10\n")
    t_env.execute_sql(
        f"""CREATE TABLE src (id INT, twice AS id * 2, ts TIMESTAMP(3), file STRING METADATA FROM 'file.name' VIRTUAL,
            WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
            WITH ('connector' = 'filesystem', 'path' = '{tmp_path / "in"}', 'format' = 'csv')"""
    )
    found = rows(t_env.execute_sql("SELECT id, twice, file, ts FROM src"))
    assert sorted(found) == [
        ("+I", 1, 2, "a.csv", datetime.datetime(2020, 1, 1)),
        ("+I", 2, 4, "a.csv", datetime.datetime(2020, 1, 1, 0, 0, 10)),
    ]


@pytest.mark.parametrize("name", ["csv", "json", "parquet", "debezium-json"])
def test_files_are_written_and_read_in_partitions(t_env: StreamTableEnvironment, tmp_path: Path, name: str) -> None:
    t_env.execute_sql(
        f"""CREATE TABLE t (id BIGINT, amount DECIMAL(10, 2), moment TIMESTAMP_LTZ(3), d DATE) PARTITIONED BY (d)
            WITH ('connector' = 'filesystem', 'path' = '{tmp_path}', 'format' = '{name}')"""
    )
    t_env.execute_sql(
        """INSERT INTO t VALUES (1, 1.50, TO_TIMESTAMP_LTZ(1, 3), DATE '2020-01-01'),
           (2, CAST(NULL AS DECIMAL(10, 2)), CAST(NULL AS TIMESTAMP_LTZ(3)), DATE '2020-01-02')"""
    ).wait()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["d=2020-01-01", "d=2020-01-02"]
    found = rows(t_env.execute_sql("SELECT id, CAST(amount AS STRING), CAST(moment AS STRING), d FROM t"))
    assert sorted(found) == [
        ("+I", 1, "1.50", "1970-01-01 00:00:00.001", datetime.date(2020, 1, 1)),
        ("+I", 2, None, None, datetime.date(2020, 1, 2)),
    ]


def test_a_statement_set_is_one_job(t_env: StreamTableEnvironment, tmp_path: Path) -> None:
    for name in ("a", "b"):
        t_env.execute_sql(
            f"CREATE TABLE {name} (n INT) WITH ('connector'='filesystem','path'='{tmp_path / name}','format'='csv')"
        )
    numbers = t_env.from_elements([(1,), (2,), (3,)], DataTypes.ROW([DataTypes.FIELD("n", DataTypes.INT())]))
    inserts = t_env.create_statement_set()
    inserts.add_insert("a", numbers.where(col("n") < 3))
    inserts.add_insert_sql(f"INSERT INTO b SELECT n * 10 FROM {numbers}")
    result = inserts.execute()
    result.wait()
    assert result.get_resolved_schema().get_column_names() == [
        "default_catalog.default_database.a",
        "default_catalog.default_database.b",
    ]
    assert sorted(rows(t_env.execute_sql("SELECT * FROM b"))) == [("+I", 10), ("+I", 20), ("+I", 30)]
    with pytest.raises(ProgramError, match="The statement set is empty"):
        inserts.execute()


def test_datagen_makes_the_rows_that_were_asked_for(t_env: StreamTableEnvironment) -> None:
    schema = Schema.new_builder().column("n", "INT").column("s", "STRING").column("b", DataTypes.BOOLEAN()).build()
    descriptor = (
        TableDescriptor.for_connector("datagen")
        .schema(schema)
        .option("fields.n.kind", "sequence")
        .option("fields.n.start", "1")
        .option("fields.n.end", "20")
        .option("fields.s.length", "5")
        .option("rows-per-second", "100000")
        .build()
    )
    found = rows(t_env.from_descriptor(descriptor).execute())
    assert sorted(row[1] for row in found) == list(range(1, 21))
    assert {len(row[2]) for row in found} == {5}


def test_streams_become_tables_and_tables_streams(t_env: StreamTableEnvironment) -> None:
    env = t_env._session.env
    row_type = Types.ROW_NAMED(["name", "n"], [Types.STRING(), Types.INT()])
    stream = env.from_collection([Row("a", 1), Row("b", 2)], row_type)
    table = t_env.from_data_stream(stream).select(col("name"), (col("n") + lit(1)).alias("m"))
    with t_env.to_data_stream(table).map(lambda row: (row.name, row["m"])).execute_and_collect() as found:
        assert sorted(found) == [("a", 2), ("b", 3)]


def test_changelogs_pass_in_both_directions(t_env: StreamTableEnvironment) -> None:
    env = t_env._session.env
    row_type = Types.ROW_NAMED(["n"], [Types.INT()])
    stream = env.from_collection([Row(1), Row.of_kind(RowKind.DELETE, 1)], row_type)
    table = t_env.from_changelog_stream(stream)
    assert rows(table.execute()) == [("+I", 1), ("-D", 1)]
    with t_env.to_changelog_stream(table).execute_and_collect() as found:
        assert [str(row.get_row_kind()) for row in found] == ["+I", "-D"]
    with t_env.to_retract_stream(table, row_type).execute_and_collect() as found:
        assert [(kept, row[0]) for kept, row in found] == [(True, 1), (False, 1)]
    with pytest.raises(ProgramError, match="use to_changelog_stream"):
        t_env.to_data_stream(table)


def test_upserts_are_found_by_their_key(t_env: StreamTableEnvironment) -> None:
    env = t_env._session.env
    row_type = Types.ROW_NAMED(["k", "n"], [Types.STRING(), Types.INT()])
    stream = env.from_collection(
        [Row.of_kind(RowKind.UPDATE_AFTER, "a", n) for n in (1, 2)] + [Row.of_kind(RowKind.DELETE, "a", None)], row_type
    )
    schema = Schema.new_builder().column("k", "STRING").column("n", "INT").primary_key("k").build()
    table = t_env.from_changelog_stream(stream, schema, ChangelogMode.upsert())
    assert rows(table.execute()) == [("+I", "a", 1), ("-U", "a", 1), ("+U", "a", 2), ("-D", "a", 2)]
    with t_env.to_changelog_stream(table, None, ChangelogMode.upsert()).execute_and_collect() as found:
        assert [str(row.get_row_kind()) for row in found] == ["+I", "+U", "-D"]


def test_timestamps_of_a_stream_are_a_time_attribute_and_come_back(t_env: StreamTableEnvironment) -> None:
    env = t_env._session.env
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(_Millis())
    stream = env.from_collection([(1, 1_000), (2, 2_000)], Types.TUPLE([Types.INT(), Types.LONG()]))
    timed = stream.assign_timestamps_and_watermarks(strategy)
    table = t_env.from_data_stream(timed, col("f0").alias("id"), col("ts").rowtime)
    assert [field.shown_type() for field in table._relation.fields] == ["INT", "TIMESTAMP_LTZ(3) *ROWTIME*"]
    schema = (
        Schema.new_builder()
        .column_by_metadata("at", "TIMESTAMP_LTZ(3)", "rowtime")
        .watermark("at", "SOURCE_WATERMARK()")
        .build()
    )
    again = t_env.from_data_stream(timed, schema)
    assert again._relation.names == ("f0", "f1", "at")
    with t_env.to_data_stream(table).process(_Timestamps()).execute_and_collect() as found:
        assert sorted(found) == [(1, 1_000), (2, 2_000)]


class _Millis(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return int(value[1])


class _Timestamps(ProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Any:
        yield value[0], ctx.timestamp()


def test_a_job_of_a_query_leaves_the_program_alone(t_env: StreamTableEnvironment) -> None:
    """As in Flink: what was built on the stream environment waits for its own execute()."""
    env = t_env._session.env
    env.from_collection([1]).print()
    rows(t_env.execute_sql("SELECT 1"))
    assert len(env._operators) == 1
    with pytest.raises(SqlValidationError):
        t_env.execute_sql("SELECT nothing")
    with pytest.raises(NotSupportedError):
        t_env.execute_sql("CREATE TABLE p (a INT) WITH ('connector' = 'print')").print()
        t_env.execute_sql("SELECT * FROM p")
    assert len(env._operators) == 1


def test_batch_mode_has_no_kinds_and_needs_an_end(local_env: Factory, capsys: pytest.CaptureFixture[str]) -> None:
    t_env = StreamTableEnvironment.create(local_env(1), EnvironmentSettings.in_batch_mode())
    t_env.execute_sql("SELECT 1 AS a").print()
    assert capsys.readouterr().out.splitlines()[1] == "|           a |"
    t_env.execute_sql("CREATE TABLE endless (a INT) WITH ('connector' = 'datagen')")
    with pytest.raises(NotSupportedError, match="never ends: give 'number-of-rows'"):
        t_env.execute_sql("SELECT * FROM endless")


def test_batch_mode_gives_final_rows_in_order(local_env: Factory) -> None:
    t_env = StreamTableEnvironment.create(local_env(2, 2, forget=True), EnvironmentSettings.in_batch_mode())
    t_env.create_temporary_view("t", t_env.from_elements([(n % 3, n) for n in range(10)], ["k", "n"]))
    totals = t_env.execute_sql("SELECT k, SUM(n) AS s FROM t GROUP BY k ORDER BY s DESC")
    assert rows(totals) == [("+I", 0, 18), ("+I", 2, 15), ("+I", 1, 12)]
    joined = (
        "SELECT a.k, b.x FROM (SELECT DISTINCT k FROM t) AS a LEFT JOIN (VALUES (1, 'one')) AS b(k, x) ON a.k = b.k"
    )
    assert sorted(rows(t_env.execute_sql(joined)), key=str) == [("+I", 0, None), ("+I", 1, "one"), ("+I", 2, None)]
    ordered = [row[1] for row in rows(t_env.execute_sql("SELECT n FROM t ORDER BY k, n DESC"))]
    assert ordered == [9, 6, 3, 0, 7, 4, 1, 8, 5, 2]


def test_options_of_the_session_and_of_hints(t_env: StreamTableEnvironment) -> None:
    t_env.get_config().set_local_timezone("Asia/Shanghai")
    found = rows(t_env.execute_sql("SELECT CAST(TO_TIMESTAMP_LTZ(0, 3) AS STRING)"))
    assert found == [("+I", "1970-01-01 08:00:00.000")]
    t_env.execute_sql("SET 'table.local-time-zone' = 'UTC'")
    assert t_env.get_config().get_local_timezone() == "UTC"
    t_env.execute_sql("CREATE TABLE g (a INT) WITH ('connector' = 'datagen')")
    assert len(rows(t_env.execute_sql("SELECT * FROM g /*+ OPTIONS('number-of-rows' = '2') */"))) == 2


def test_catalogs_of_files_outlive_the_program(local_env: Factory, tmp_path: Path) -> None:
    create = f"CREATE CATALOG c WITH ('type' = 'file', 'path' = '{tmp_path}')"
    first = StreamTableEnvironment.create(local_env(1))
    first.execute_sql(create)
    first.execute_sql("USE CATALOG c")
    first.execute_sql("CREATE DATABASE d")
    first.execute_sql("CREATE TABLE d.t (a INT, b AS a + 1, PRIMARY KEY (a) NOT ENFORCED) WITH ('connector' = 'print')")
    first.execute_sql("CREATE VIEW v (x) AS SELECT 5")
    second = StreamTableEnvironment.create(local_env(1))
    second.execute_sql(create)
    second.execute_sql("USE c.d")
    described = [row[:3] for row in second.execute_sql("DESCRIBE t").collect()]
    assert described == [["a", "INT", False], ["b", "INT", False]]
    assert rows(second.execute_sql("SELECT x FROM c.default_database.v")) == [("+I", 5)]
    second.execute_sql("ALTER TABLE t RENAME TO u")
    assert first.get_catalog("c").list_tables("d") == ["u"]
    second.execute_sql("DROP TABLE u")
    assert first.get_catalog("c").list_tables("d") == []


class _Squares(Catalog):
    """A catalog of the program's own: it has a table for every number."""

    def list_tables(self, database_name: str) -> list[str]:
        return ["n1"]

    def table_exists(self, table_path: ObjectPath) -> bool:
        return table_path.get_object_name().startswith("n")

    def get_table(self, table_path: ObjectPath) -> CatalogBaseTable:
        rows = table_path.get_object_name()[1:]
        schema = TableSchema(["a"], [DataTypes.INT()])
        return CatalogBaseTable.create_table(schema, [], {"connector": "datagen", "number-of-rows": rows})


def test_catalogs_can_be_written_in_python(t_env: StreamTableEnvironment) -> None:
    t_env.register_catalog("squares", _Squares())
    assert len(rows(t_env.execute_sql("SELECT * FROM squares.default_database.n3"))) == 3


def test_errors_show_the_place_and_the_nearest_name(t_env: StreamTableEnvironment) -> None:
    t_env.execute_sql("CREATE TABLE orders (amount INT) WITH ('connector' = 'print')")
    with pytest.raises(SqlValidationError, match="There is no table .order_.. Did you mean 'orders'"):
        t_env.execute_sql("SELECT * FROM order_")
    with pytest.raises(ProgramError, match="has no option 'print-identifer'. Did you mean 'print-identifier'"):
        t_env.execute_sql("CREATE TABLE p (a INT) WITH ('connector' = 'print', 'print-identifer' = 'x')")
        t_env.execute_sql("INSERT INTO p VALUES (1)")
    with pytest.raises(ProgramError, match="WATERMARK FOR a: the time must be"):
        t_env.execute_sql("CREATE TABLE w (a INT, WATERMARK FOR a AS a) WITH ('connector' = 'print')")


def test_settings_are_kept_in_the_environment() -> None:
    configuration = Configuration.from_dict({"table.local-time-zone": "Europe/Berlin"})
    settings = EnvironmentSettings.new_instance().with_configuration(configuration).in_batch_mode().build()
    assert not settings.is_streaming_mode()
    t_env = StreamTableEnvironment.create(environment_settings=settings)
    assert t_env.get_config().get_local_timezone() == "Europe/Berlin" and t_env._session.batch


def test_jars_of_flinks_connectors_are_passed_over(t_env: StreamTableEnvironment) -> None:
    t_env.execute_sql("ADD JAR '/lib/flink-sql-connector-kafka-5.0.0-2.2.jar'")
    with pytest.raises(NotSupportedError, match="our-functions.jar: no Java code"):
        t_env.execute_sql("ADD JAR '/lib/our-functions.jar'")


def test_in_takes_a_table_of_one_column(t_env: StreamTableEnvironment) -> None:
    left = t_env.from_elements([(1, "a"), (2, "b"), (3, "c")], ["id", "name"])
    right = t_env.from_elements([(1,), (3,)], ["known"])
    kept = left.where(col("id").in_(right)).select(col("name"))
    others = left.where(~col("id").in_(right.where(col("known") > 1))).select(col("name"))
    marked = left.select(col("id"), col("id").in_(right))
    assert sorted(kept.to_pandas()["name"]) == ["a", "c"]
    assert sorted(others.to_pandas()["name"]) == ["a", "b"]
    assert sorted(marked.to_pandas().itertuples(index=False, name=None)) == [(1, True), (2, False), (3, True)]
    with pytest.raises(ProgramError, match="one column"):
        right.where(col("known").in_(left))


def test_or_replace_without_a_query_creates_but_does_not_replace(t_env: StreamTableEnvironment) -> None:
    t_env.execute_sql("CREATE OR REPLACE TABLE R (a INT) WITH ('connector' = 'datagen')")
    with pytest.raises(ProgramError, match="R"):
        t_env.execute_sql("CREATE OR REPLACE TABLE R (b INT) WITH ('connector' = 'datagen')")

"""Tables of files: formats of columns, INSERT OVERWRITE, and partitions that are told to be complete."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from penstock.common.errors import NotSupportedError, ProgramError
from penstock.datastream import StreamExecutionEnvironment
from penstock.engines.local.executor import LocalExecutor
from penstock.table import EnvironmentSettings, StreamTableEnvironment

Factory = Callable[..., StreamExecutionEnvironment]
COLUMNS = """id INT, name STRING, price DECIMAL(10, 2), born DATE, made TIMESTAMP(3), seen TIMESTAMP_LTZ(3),
    tags ARRAY<STRING>, place ROW<street STRING, zip INT>"""
ROWS = """SELECT 1, 'tea', CAST(2.50 AS DECIMAL(10, 2)), DATE '2024-02-29', TIMESTAMP '2024-01-01 10:00:00.123',
    TO_TIMESTAMP_LTZ(5000, 3), ARRAY['a', 'b'], ROW('high', 7)
    UNION ALL SELECT 2, CAST(NULL AS STRING), CAST(0.30 AS DECIMAL(10, 2)), DATE '1969-12-31',
    TIMESTAMP '1960-01-01 00:00:00', TO_TIMESTAMP_LTZ(-1, 3), ARRAY['c'], ROW('low', CAST(NULL AS INT))"""


def rows(t_env: StreamTableEnvironment, query: str) -> list[tuple[Any, ...]]:
    with t_env.execute_sql(query).collect() as found:
        return sorted(tuple(row) for row in found)


@pytest.mark.parametrize("file_format", ["parquet", "orc", "avro"])
def test_rows_come_back_from_files_of_columns(local_env: Factory, tmp_path: Path, file_format: str) -> None:
    t_env = StreamTableEnvironment.create(local_env(1))
    t_env.execute_sql(
        f"CREATE TABLE t ({COLUMNS}) WITH ('connector' = 'filesystem', 'path' = '{tmp_path}/t',"
        f" 'format' = '{file_format}')"
    )
    t_env.execute_sql(f"INSERT INTO t {ROWS}").wait()
    assert rows(t_env, "SELECT * FROM t") == rows(t_env, ROWS)
    assert rows(t_env, "SELECT name FROM t WHERE id = 1") == [("tea",)]
    assert "fields=[id, name]" in t_env.explain_sql("SELECT name FROM t WHERE id = 1")


@pytest.mark.parametrize("odd", ["", "\n"], ids=["in columns", "row by row"])
def test_some_columns_of_csv_files(local_env: Factory, tmp_path: Path, odd: str) -> None:
    """Their places are those of all that were declared: but for partitions, metadata and computed columns."""
    t_env = StreamTableEnvironment.create(local_env(1))
    t_env.execute_sql(
        "CREATE TABLE t (a INT, file STRING METADATA FROM 'file.name' VIRTUAL, twice AS c * 2, d STRING,"
        " b STRING, c INT)"
        f" PARTITIONED BY (d) WITH ('connector' = 'filesystem', 'path' = '{tmp_path}', 'format' = 'csv')"
    )
    (tmp_path / "d=x").mkdir()
    (tmp_path / "d=x" / "one.csv").write_text(f'1,"u, v",10\n2,"{odd}w\r\n""x""",20\n', newline="")
    texts = [(1, "u, v"), (2, f'{odd}w\r\n"x"')]
    assert rows(t_env, "SELECT a, b FROM t") == texts
    assert "fields=[a, b]" in t_env.explain_sql("SELECT a, b FROM t")
    assert rows(t_env, "SELECT twice, d FROM t WHERE file = 'one.csv'") == [(20, "x"), (40, "x")]
    assert rows(t_env, "SELECT d FROM t") == [("x",), ("x",)]
    assert rows(t_env, "SELECT c FROM t WHERE a > 1") == [(20,)]
    assert len(rows(t_env, "SELECT * FROM t")) == 2


def test_options_of_files_are_checked(local_env: Factory, tmp_path: Path) -> None:
    t_env = StreamTableEnvironment.create(local_env(1))
    t_env.execute_sql(
        f"CREATE TABLE t (a INT) WITH ('connector' = 'filesystem', 'path' = '{tmp_path}/t', 'format' = 'parquet')"
    )
    t_env.execute_sql("INSERT INTO t /*+ OPTIONS('parquet.compression' = 'GZIP') */ SELECT 1").wait()
    with pytest.raises(ProgramError, match="can be SNAPPY"):
        t_env.execute_sql("INSERT INTO t /*+ OPTIONS('parquet.compression' = 'ZIP') */ SELECT 1")
    with pytest.raises(ProgramError, match=r"no option 'parquet\.page'"):
        t_env.execute_sql("INSERT INTO t /*+ OPTIONS('parquet.page' = '1') */ SELECT 1")


def batch_session() -> StreamTableEnvironment:
    env = StreamExecutionEnvironment(executor=LocalExecutor(2, False))
    env.set_parallelism(2)
    return StreamTableEnvironment.create(env, EnvironmentSettings.in_batch_mode())


def test_insert_overwrite_replaces_the_table_or_its_partitions(tmp_path: Path) -> None:
    t_env = batch_session()
    files = f"'connector' = 'filesystem', 'path' = '{tmp_path}/%s', 'format' = 'csv'"
    t_env.execute_sql(f"CREATE TABLE plain (a INT) WITH ({files % 'plain'})")
    t_env.execute_sql(f"CREATE TABLE parts (a INT, d STRING) PARTITIONED BY (d) WITH ({files % 'parts'})")
    t_env.execute_sql("INSERT INTO plain VALUES (1), (2)").wait()
    t_env.execute_sql("INSERT OVERWRITE plain VALUES (3), (4), (5)").wait()
    assert rows(t_env, "SELECT * FROM plain") == [(3,), (4,), (5,)]
    t_env.execute_sql("INSERT OVERWRITE plain SELECT a FROM plain WHERE a > 9").wait()
    assert not list((tmp_path / "plain").glob("part-*"))
    t_env.execute_sql("INSERT INTO parts VALUES (1, 'x'), (2, 'y'), (3, 'z')").wait()
    t_env.execute_sql("INSERT OVERWRITE parts VALUES (7, 'x')").wait()
    assert rows(t_env, "SELECT * FROM parts") == [(2, "y"), (3, "z"), (7, "x")]
    t_env.execute_sql("INSERT OVERWRITE parts PARTITION (d = 'y') SELECT 8").wait()
    t_env.execute_sql("INSERT INTO parts PARTITION (d = 'y') SELECT 9").wait()
    assert rows(t_env, "SELECT * FROM parts") == [(3, "z"), (7, "x"), (8, "y"), (9, "y")]


def test_a_failed_overwrite_leaves_what_was_there(tmp_path: Path) -> None:
    t_env = batch_session()
    t_env.execute_sql(
        f"CREATE TABLE t (a INT NOT NULL) WITH ('connector' = 'filesystem', 'path' = '{tmp_path}/t', 'format' = 'csv')"
    )
    t_env.execute_sql("INSERT INTO t VALUES (1)").wait()
    with pytest.raises(Exception, match="NULL"):
        t_env.execute_sql("INSERT OVERWRITE t SELECT a FROM (VALUES (2), (3), (CAST(NULL AS INT))) AS V(a)").wait()
    assert rows(t_env, "SELECT * FROM t") == [(1,)]


def test_overwriting_needs_an_end(local_env: Factory, tmp_path: Path) -> None:
    t_env = StreamTableEnvironment.create(local_env(1))
    t_env.execute_sql(
        f"CREATE TABLE t (a INT) WITH ('connector' = 'filesystem', 'path' = '{tmp_path}/t', 'format' = 'csv')"
    )
    with pytest.raises(NotSupportedError, match="batch mode"):
        t_env.execute_sql("INSERT OVERWRITE t SELECT 1")


def partitioned(t_env: StreamTableEnvironment, path: Path, **options: str) -> None:
    given = {"connector": "filesystem", "path": f"{path}/out", "format": "csv"}
    given |= {"sink.partition-commit.policy.kind": "success-file"}
    given |= {key.replace("__", ".").replace("_", "-"): value for key, value in options.items()}
    pairs = ", ".join(f"'{key}' = '{value}'" for key, value in given.items())
    t_env.execute_sql(f"CREATE TABLE done (id INT, d STRING, h STRING) PARTITIONED BY (d, h) WITH ({pairs})")


def source(t_env: StreamTableEnvironment, path: Path, hours: int) -> None:
    (path / "in").mkdir()
    for hour in range(hours):
        (path / "in" / f"{hour}.csv").write_text(f"{hour},2024-01-01 0{hour}:10:00\n")
    t_env.execute_sql(
        f"""CREATE TABLE src (id INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' MINUTE) WITH (
            'connector' = 'filesystem', 'path' = '{path}/in', 'format' = 'csv')"""
    )


INSERT = "INSERT INTO done SELECT id, DATE_FORMAT(ts, 'yyyy-MM-dd'), DATE_FORMAT(ts, 'HH') FROM src"


def committed(path: Path) -> list[str]:
    return sorted(file.parent.name for file in (path / "out").rglob("_SUCCESS"))


@pytest.mark.parametrize("parallelism", [1, 2])
def test_partitions_are_committed_when_the_watermark_has_passed_them(tmp_path: Path, parallelism: int) -> None:
    executor = LocalExecutor(1, stop_after=3, savepoint_directory=str(tmp_path / "savepoints"))
    env = StreamExecutionEnvironment(executor=executor)
    env.set_parallelism(parallelism)
    t_env = StreamTableEnvironment.create(env)
    options = {
        "sink__partition_commit__trigger": "partition-time",
        "sink__partition_commit__delay": "1 h",
        "partition__time_extractor__timestamp_pattern": "$d $h:00:00",
    }
    source(t_env, tmp_path, 9)
    partitioned(t_env, tmp_path, **options)
    t_env.execute_sql(INSERT).wait()
    assert executor.savepoint_path is not None
    done = committed(tmp_path)
    assert done and done == [f"h=0{hour}" for hour in range(len(done))] and len(done) < 9
    for hour in done:
        assert list((tmp_path / "out").rglob(f"{hour}/part-*")), "told before it was there"
    env = StreamExecutionEnvironment(executor=LocalExecutor(1, start_from=executor.savepoint_path))
    env.set_parallelism(3 - parallelism)
    t_env = StreamTableEnvironment.create(env)
    t_env.execute_sql(
        f"""CREATE TABLE src (id INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' MINUTE) WITH (
            'connector' = 'filesystem', 'path' = '{tmp_path}/in', 'format' = 'csv')"""
    )
    partitioned(t_env, tmp_path, **options)
    t_env.execute_sql(INSERT).wait()
    assert committed(tmp_path) == [f"h=0{hour}" for hour in range(9)]
    assert len(list((tmp_path / "out").rglob("part-*"))) == 9
    assert not list((tmp_path / "out").glob(".partitions*"))


def test_partitions_are_committed_by_the_clock_at_the_end_at_the_latest(local_env: Factory, tmp_path: Path) -> None:
    t_env = StreamTableEnvironment.create(local_env(2, epoch_records=1, forget=True))
    source(t_env, tmp_path, 3)
    partitioned(t_env, tmp_path, sink__partition_commit__delay="1 h")
    t_env.execute_sql(INSERT).wait()
    assert committed(tmp_path) == ["h=00", "h=01", "h=02"]


def test_policies_that_are_not_there_are_refused(local_env: Factory, tmp_path: Path) -> None:
    t_env = StreamTableEnvironment.create(local_env(1))
    partitioned(t_env, tmp_path, sink__partition_commit__policy__kind="metastore,success-file")
    with pytest.raises(NotSupportedError, match="'metastore' is not there"):
        t_env.execute_sql("INSERT INTO done SELECT 1, 'a', 'b'")


def test_raw_lines_are_the_bytes_of_the_file(local_env: Factory, tmp_path: Path) -> None:
    """Also those that are empty, are no UTF-8, or hold a carriage return."""
    (tmp_path / "a.txt").write_bytes(b"gr\xfc\xdfe\r\n\na\rb\nend")
    t_env = StreamTableEnvironment.create(local_env(1))
    for name, kind, more in (("b", "BYTES", ""), ("s", "STRING", ", 'raw.charset' = 'ISO-8859-1'")):
        t_env.execute_sql(
            f"CREATE TABLE {name} (line {kind}) WITH ('connector' = 'filesystem', 'path' = '{tmp_path}',"
            f" 'format' = 'raw'{more})"
        )
    assert rows(t_env, "SELECT * FROM b") == [(b"",), (b"a\rb",), (b"end",), (b"gr\xfc\xdfe",)]
    assert rows(t_env, "SELECT * FROM s") == [("",), ("a\rb",), ("end",), ("grüße",)]

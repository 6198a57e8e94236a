"""Delta tables at both ends, read with Delta's own client: every row once, each epoch one commit."""

from __future__ import annotations

import datetime
import random
import shutil
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from tests.conftest import EnvironmentFactory
from tests.engine.test_jdbc_sink import FailsOnce, restarting_env
from tests.s3_server import BUCKET, reach

from penstock.common import Row, RowKind, WatermarkStrategy
from penstock.common.errors import JobExecutionError, ProgramError
from penstock.common.time import Instant
from penstock.common.typeinfo import TypeInformation, Types
from penstock.connectors.delta.sink import DeltaCommitter, DeltaSink
from penstock.connectors.delta.source import DeltaSource
from penstock.connectors.delta.table import DeltaLocation, DeltaView
from penstock.connectors.lake.staging import StagedFile
from penstock.datastream import StreamExecutionEnvironment
from penstock.engines.local.executor import LocalExecutor
from penstock.functions.sink import CommitterContext
from penstock.functions.source import EnumeratorContext, ReaderContext

PAIR = Types.ROW_NAMED(["k", "v"], [Types.LONG(), Types.STRING()])
NO_WATERMARKS = WatermarkStrategy.no_watermarks()


def pairs(uri: str, **options: Any) -> list[tuple[Any, Any]]:
    rows = DeltaTable(uri, **options).to_pyarrow_table().to_pylist()
    return sorted((row["k"], row["v"]) for row in rows)


def numbers(n: int) -> list[Row]:
    return [Row(i, f"v{i % 3}") for i in range(n)]


@pytest.mark.parametrize("partition_by", [[], ["v"]])
def test_a_failure_neither_loses_nor_repeats(tmp_path: Path, partition_by: list[str]) -> None:
    uri = str(tmp_path / "table")
    env = restarting_env(epoch_records=10)
    rows = env.from_collection(numbers(60), PAIR).map(FailsOnce(30), PAIR)
    rows.sink_to(DeltaSink(uri, PAIR, partition_by=partition_by))
    env.execute()
    assert pairs(uri) == [(i, f"v{i % 3}") for i in range(60)]
    assert DeltaTable(uri).version() >= 6 - 1
    assert DeltaTable(uri).metadata().partition_columns == partition_by


def test_a_table_follows_a_changelog(tmp_path: Path) -> None:
    uri = str(tmp_path / "table")
    chance, expected, changes = random.Random(5), dict[int, str](), []
    for n in range(300):
        key = chance.randrange(20)
        if key in expected and chance.random() < 0.3:
            changes.append(Row.of_kind(RowKind.DELETE, key, expected.pop(key)))
        else:
            kind = RowKind.UPDATE_AFTER if key in expected else RowKind.INSERT
            expected[key] = f"n{n}"
            changes.append(Row.of_kind(kind, key, f"n{n}"))
    env = restarting_env(epoch_records=60, parallelism=1)
    env.from_collection(changes, PAIR).sink_to(DeltaSink(uri, PAIR, key=["k"]))
    env.execute()
    assert dict(pairs(uri)) == expected
    assert not (tmp_path / "table" / "_penstock").exists()


def test_changes_of_a_key_come_to_one_writer(local_env: EnvironmentFactory, tmp_path: Path) -> None:
    """Two files of an epoch with the same key would make two rows of it."""
    uri = str(tmp_path / "table")
    env = local_env(3, epoch_records=1_000)
    rows = env.from_collection([Row(n % 5, "same") for n in range(60)], PAIR).rebalance().map(lambda row: row, PAIR)
    rows.sink_to(DeltaSink(uri, PAIR, key=["k"]))
    env.execute()
    assert pairs(uri) == [(k, "same") for k in range(5)]


def test_a_moment_is_a_key(local_env: EnvironmentFactory, tmp_path: Path) -> None:
    uri, row_type = str(tmp_path / "table"), Types.ROW_NAMED(["at", "v"], [Types.INSTANT(), Types.STRING()])
    env = local_env(2, epoch_records=1_000)
    changes = [Row(Instant.of_epoch_milli(n % 3 * 1_000), f"n{n}") for n in range(9)]
    env.from_collection(changes, row_type).sink_to(DeltaSink(uri, row_type, key=["at"]))
    env.execute()
    assert sorted(DeltaTable(uri).to_pyarrow_table()["v"].to_pylist()) == ["n6", "n7", "n8"]


def test_what_a_job_has_staged_goes_with_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also when it was cancelled: VACUUM does not look there."""

    def away(self: DeltaLocation) -> Any:
        raise OSError("the store is away")

    write_deltalake(str(tmp_path), pa.table({"k": pa.array([1], pa.int64()), "v": ["a"]}))
    location = DeltaLocation.of(str(tmp_path), None)
    for job in ("mine", "another"):
        location.write(f"_penstock/{job}/changes-1.parquet", b"staged")
    DeltaCommitter(location, PAIR, ["k"], [], CommitterContext("mine", "sink", "sink")).conclude()
    assert [path.name for path in (tmp_path / "_penstock").iterdir()] == ["another"]
    secret = DeltaLocation.of("s3://nowhere/table", {"AWS_SECRET_ACCESS_KEY": "hush", "AWS_REGION": "us-east-1"})
    monkeypatch.setattr(DeltaLocation, "files", away)
    DeltaCommitter(secret, PAIR, ["k"], [], CommitterContext("mine", "sink", "sink")).conclude()
    assert "s3://nowhere/table/_penstock/mine could not be removed" in caplog.text and "hush" not in caplog.text


def test_a_table_that_takes_the_place_of_another_is_noticed(tmp_path: Path) -> None:
    uri, rows = str(tmp_path / "table"), pa.table({"k": pa.array(range(5), pa.int64()), "v": ["a"] * 5})

    def run(start_from: str | None) -> str | None:
        executor = LocalExecutor(5, stop_after=2, savepoint_directory=str(tmp_path / "saved"), start_from=start_from)
        env = StreamExecutionEnvironment(executor=executor)
        env.set_parallelism(1)
        source = DeltaSource(uri, PAIR, version=0, continuous=True)
        list(env.from_source(source, NO_WATERMARKS, "t").uid("t").execute_and_collect())
        return executor.savepoint_path

    for _ in range(3):
        write_deltalake(uri, rows, mode="append")
    saved = run(None)
    shutil.rmtree(uri)
    for _ in range(6):
        write_deltalake(uri, rows, mode="append")
    with pytest.raises(JobExecutionError, match="was replaced by another table while this job was reading it"):
        run(saved)


def test_an_epoch_that_is_committed_already_is_left_alone(tmp_path: Path) -> None:
    uri = str(tmp_path / "table")
    write_deltalake(uri, pa.table({"k": pa.array([1], pa.int64()), "v": ["a"]}))
    file = DeltaTable(uri).file_uris()[0]
    location = DeltaLocation.of(uri, None)
    for _ in range(2):
        committer = DeltaCommitter(location, PAIR, [], [], CommitterContext("job", "sink", "sink"))
        committer.open()
        committer.commit(3, [StagedFile(Path(file).name, 1, Path(file).stat().st_size)])
    assert DeltaTable(uri).version() == 1


@pytest.mark.parametrize("parallelism", [1, 3])
def test_every_row_of_a_version_is_read_once(local_env: EnvironmentFactory, tmp_path: Path, parallelism: int) -> None:
    uri = str(tmp_path / "table")
    for part in range(4):
        ids = range(part * 25, part * 25 + 25)
        table = pa.table({"v": [f"v{i % 3}" for i in ids], "k": pa.array(ids, pa.int64())})
        write_deltalake(uri, table, mode="append", partition_by=["v"])
    source = DeltaSource(uri, PAIR, version=3)
    rows = local_env(parallelism, epoch_records=7, forget=True).from_source(source, NO_WATERMARKS, "t")
    write_deltalake(uri, pa.table({"v": ["x"], "k": pa.array([1000], pa.int64())}), mode="append")
    found = sorted((row.k, row.v) for row in rows.execute_and_collect())
    assert found == [(i, f"v{i % 3}") for i in range(100)]


def test_later_versions_are_read_too(tmp_path: Path) -> None:
    uri = str(tmp_path / "table")
    write_deltalake(uri, pa.table({"k": pa.array(range(5), pa.int64()), "v": ["a"] * 5}))
    found: list[Row] = []
    start_from = None
    for run in range(2):
        for part in range(3):
            first = 5 + (run * 3 + part) * 5
            write_deltalake(
                uri, pa.table({"k": pa.array(range(first, first + 5), pa.int64()), "v": ["a"] * 5}), mode="append"
            )
        DeltaTable(uri).optimize.compact()  # which changes files, not rows
        executor = LocalExecutor(5, stop_after=3, savepoint_directory=str(tmp_path / "saved"), start_from=start_from)
        env = StreamExecutionEnvironment(executor=executor)
        env.set_parallelism(1)
        source = DeltaSource(uri, PAIR, version=0, continuous=True)
        found += env.from_source(source, NO_WATERMARKS, "t").uid("t").execute_and_collect()
        start_from = executor.savepoint_path
    assert [row.k for row in found] == list(range(len(found))) and len(found) >= 30


@pytest.mark.parametrize("continuous", [False, True])
def test_a_column_that_the_table_gets_later_is_null_before(tmp_path: Path, continuous: bool) -> None:
    uri = str(tmp_path / "table")
    first = pa.table({"k": pa.array([1], pa.int64()), "p": ["x"]})
    write_deltalake(uri, first, partition_by=["p"])
    for k in range(2, 6):
        wider = pa.table({"k": pa.array([k], pa.int64()), "p": ["y"], "v": ["there"]})
        write_deltalake(uri, wider, mode="append", schema_mode="merge")
    row_type = Types.ROW_NAMED(["v", "k", "p"], [Types.STRING(), Types.LONG(), Types.STRING()])
    source = DeltaSource(uri, row_type, version=0, continuous=continuous)
    reader = source.create_reader(ReaderContext("job", "uid", 0, 1, None))  # type: ignore[arg-type]
    for lane in source.create_enumerator(EnumeratorContext("job", "uid", 1)).discover():
        reader.add_split(lane, lane.start)
    fetches = [reader.fetch(10) for _ in range(8)]
    found = [tuple(row) for fetch in fetches if fetch is not None for row in getattr(fetch.records, "values", [])]
    assert found[:2] == [(None, 1, "x"), ("there", 2, "y")][: 1 + continuous]


def test_what_a_stream_of_rows_cannot_tell_is_refused(tmp_path: Path) -> None:
    uri = str(tmp_path / "table")
    write_deltalake(uri, pa.table({"k": pa.array(range(5), pa.int64()), "v": ["a"] * 5}))
    DeltaTable(uri).delete("k = 1")
    env = StreamExecutionEnvironment(executor=LocalExecutor())
    rows = env.from_source(DeltaSource(uri, PAIR, version=0, continuous=True), NO_WATERMARKS, "t")
    with pytest.raises(JobExecutionError, match="version 1 removes rows"):
        list(rows.execute_and_collect())
    with pytest.raises(ProgramError, match="no column x"):
        DeltaSink(uri, PAIR, key=["x"])
    env = StreamExecutionEnvironment(executor=LocalExecutor())
    other = Types.ROW_NAMED(["k", "v"], [Types.STRING(), Types.STRING()])
    env.from_collection([Row("a", "b")], other).sink_to(DeltaSink(uri, other))
    with pytest.raises(JobExecutionError, match="Give both the same"):
        env.execute()


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (Types.BOOLEAN(), [True, False, None]),
        (Types.BIG_DEC(), [Decimal("1.5"), Decimal("-2")]),
        (Types.INSTANT(), [Instant(1, 2_000), Instant(-1, 0)]),
        (Types.SQL_DATE(), [datetime.date(2026, 1, 2)]),
        (Types.STRING(), ["%41", "a/../../x", "..", "a b+c", "ü", "x" * 300]),
    ],
)
def test_partitions_of_any_value(
    local_env: EnvironmentFactory, tmp_path: Path, kind: TypeInformation, values: list[Any]
) -> None:
    uri = str(tmp_path / "table")
    row_type = Types.ROW_NAMED(["p", "n"], [kind, Types.INT()])
    env = local_env()
    env.from_collection([Row(value, n) for n, value in enumerate(values)], row_type).sink_to(
        DeltaSink(uri, row_type, partition_by=["p"])
    )
    env.execute()
    found = local_env().from_source(DeltaSource(uri, row_type), NO_WATERMARKS, "t").execute_and_collect()
    assert [row.p for row in sorted(found, key=lambda row: row.n)] == values
    assert all(path.parent.parent == tmp_path / "table" for path in tmp_path.rglob("part-*"))


def test_partitions_that_delta_does_not_have_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ProgramError, match="needs a column that is not in partition_by"):
        DeltaSink(str(tmp_path), PAIR, partition_by=["v", "k"])
    with pytest.raises(ProgramError, match="has no times of day: give 't'"):
        DeltaSink(str(tmp_path), Types.ROW_NAMED(["t", "v"], [Types.SQL_TIME(), Types.STRING()]))
    raw = Types.ROW_NAMED(["raw", "v"], [Types.PRIMITIVE_ARRAY(Types.BYTE()), Types.STRING()])
    with pytest.raises(ProgramError, match="cannot be partitioned by 'raw'"):
        DeltaSink(str(tmp_path), raw, partition_by=["raw"])


@pytest.mark.parametrize("partition_by", [[], ["v"]])
def test_the_rules_of_a_table_hold_for_what_is_appended(
    local_env: EnvironmentFactory, tmp_path: Path, partition_by: list[str]
) -> None:
    uri = str(tmp_path / "table")
    DeltaTable.create(uri, pa.schema([("k", pa.int64()), ("v", pa.string())]), partition_by=partition_by)
    DeltaTable(uri).alter.add_constraint({"positive": "k >= 0"})

    def write(*rows: Row) -> None:
        env = local_env(2)
        env.from_collection(list(rows), PAIR).sink_to(DeltaSink(uri, PAIR, partition_by=partition_by))
        env.execute()

    write(Row(1, "a"), Row(2, "b"), Row(3, None))
    assert pairs(uri)[:2] == [(1, "a"), (2, "b")] and len(pairs(uri)) == 3
    with pytest.raises(
        JobExecutionError, match=r"(?s)table does not take the rows of epoch \d: .*failed validation check"
    ):
        write(Row(4, "c"), Row(-1, "d"))
    assert len(pairs(uri)) == 3


def test_a_column_that_is_never_null_stays_so(local_env: EnvironmentFactory, tmp_path: Path) -> None:
    uri = str(tmp_path / "table")
    DeltaTable.create(uri, pa.schema([pa.field("k", pa.int64(), nullable=False), ("v", pa.string())]))
    env = local_env()
    env.from_collection([Row(1, "a")], PAIR).sink_to(DeltaSink(uri, PAIR))
    env.execute()
    env = local_env()
    env.from_collection([Row(None, "b")], PAIR).sink_to(DeltaSink(uri, PAIR))
    with pytest.raises(JobExecutionError, match="does not take the rows"):
        env.execute()
    assert pairs(uri) == [(1, "a")]


def test_what_was_cleaned_up_is_named(tmp_path: Path) -> None:
    uri = str(tmp_path / "table")
    for part in range(4):
        rows = pa.table({"k": pa.array([part], pa.int64()), "v": ["a"]})
        write_deltalake(uri, rows, mode="append")

    def read(**options: Any) -> list[Any]:
        env = StreamExecutionEnvironment(executor=LocalExecutor(stop_after=4))
        return list(env.from_source(DeltaSource(uri, PAIR, **options), NO_WATERMARKS, "t").execute_and_collect())

    DeltaTable(uri).optimize.compact()
    DeltaTable(uri).vacuum(retention_hours=0, dry_run=False, enforce_retention_duration=False)
    with pytest.raises(JobExecutionError, match="(?s)version 1 cannot be read: .*If VACUUM"):
        read(version=1)
    DeltaTable(uri).create_checkpoint()
    for version in range(4):
        (tmp_path / "table" / "_delta_log" / f"{version:020d}.json").unlink()
    view = DeltaView(DeltaLocation.of(uri, None))
    assert view.after(2) == 3
    with pytest.raises(JobExecutionError, match="(?s)version 3 cannot be read: .*If VACUUM"):
        view.files(3, whole=False)


def test_columns_with_other_names_in_files_are_refused(local_env: EnvironmentFactory, tmp_path: Path) -> None:
    """Delta's client reads nulls there."""
    uri = str(tmp_path / "table")
    schema = pa.schema([("k", pa.int64()), ("v", pa.string())])
    DeltaTable.create(uri, schema, configuration={"delta.columnMapping.mode": "name"})
    with pytest.raises(JobExecutionError, match="gives its columns other names in its files"):
        list(local_env().from_source(DeltaSource(uri, PAIR), NO_WATERMARKS, "t").execute_and_collect())
    env = local_env()
    env.from_collection([Row(1, "a")], PAIR).sink_to(DeltaSink(uri, PAIR))
    with pytest.raises(JobExecutionError, match="gives its columns other names in its files"):
        env.execute()


def test_columns_of_any_name_follow_a_changelog(local_env: EnvironmentFactory, tmp_path: Path) -> None:
    names = ["a b", "c`d", 'e"f', "ü.x", "Sel'ect", "UPPER"]
    row_type = Types.ROW_NAMED(names, [Types.INT()] * len(names))
    uri = str(tmp_path / "table")
    env = local_env(epoch_records=1)
    env.from_collection([Row(1, 2, 3, 4, 5, 6), Row(1, 2, 3, 7, 8, 9)], row_type).sink_to(
        DeltaSink(uri, row_type, key=names[:3])
    )
    env.execute()
    assert DeltaTable(uri).to_pyarrow_table().to_pylist() == [dict(zip(names, (1, 2, 3, 7, 8, 9), strict=True))]


def test_a_row_without_a_key_is_refused(local_env: EnvironmentFactory, tmp_path: Path) -> None:
    env = local_env()
    env.from_collection([Row(None, "a")], PAIR).sink_to(DeltaSink(str(tmp_path / "table"), PAIR, key=["k"]))
    with pytest.raises(JobExecutionError, match=r"The key \(k\) of the table needs values"):
        env.execute()


def test_a_version_that_is_not_there_is_named(local_env: EnvironmentFactory, tmp_path: Path) -> None:
    uri = str(tmp_path / "table")
    write_deltalake(uri, pa.table({"k": pa.array(range(5), pa.int64()), "v": ["a"] * 5}))
    with pytest.raises(JobExecutionError, match=r"has no version 7 \(any more\); the newest is 0"):
        list(local_env().from_source(DeltaSource(uri, PAIR, version=7), NO_WATERMARKS, "t").execute_and_collect())


def test_a_store_that_is_away_is_named_without_its_password(local_env: EnvironmentFactory) -> None:
    options = {
        "AWS_ENDPOINT_URL": "http://127.0.0.1:9", "AWS_ALLOW_HTTP": "true", "AWS_ACCESS_KEY_ID": "who",
        "AWS_SECRET_ACCESS_KEY": "hush", "AWS_REGION": "us-east-1", "max_retries": "0", "retry_timeout": "1s",
    }  # fmt: skip
    source = DeltaSource("s3://nowhere/table", PAIR, storage_options=options)
    with pytest.raises(JobExecutionError, match="s3://nowhere/table cannot be reached") as failure:
        list(local_env().from_source(source, NO_WATERMARKS, "t").execute_and_collect())
    assert "hush" not in str(failure.value)


def test_what_failed_attempts_have_staged_is_swept(
    s3_address: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    reach(s3_address, monkeypatch)
    options = {"AWS_ALLOW_HTTP": "true", "AWS_CONDITIONAL_PUT": "etag"}
    for location in (DeltaLocation.of(str(tmp_path), None), DeltaLocation.of(f"s3://{BUCKET}/swept", options)):
        location.write("_penstock/mine/changes-1.parquet", b"staged")
        DeltaCommitter(location, PAIR, ["k"], [], CommitterContext("mine", "sink", "sink")).sweep()
        assert location.files().get_file_info("_penstock/mine/changes-1.parquet").type.name == "NotFound"


def test_on_an_object_store(s3_address: str, monkeypatch: pytest.MonkeyPatch, local_env: EnvironmentFactory) -> None:
    reach(s3_address, monkeypatch)
    uri = f"s3://{BUCKET}/delta-table"
    options = {"AWS_ALLOW_HTTP": "true", "AWS_CONDITIONAL_PUT": "etag"}
    env = local_env(2, epoch_records=10)
    env.from_collection(numbers(30), PAIR).sink_to(DeltaSink(uri, PAIR, storage_options=options))
    env.execute()
    assert len(pairs(uri, storage_options=options)) == 30
    source = DeltaSource(uri, PAIR, storage_options=options)
    assert len(list(local_env(2).from_source(source, NO_WATERMARKS, "t").execute_and_collect())) == 30

"""Iceberg tables at both ends, read with Iceberg's own client: every row once, each epoch one commit."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyiceberg.catalog import Catalog, load_catalog
from tests.conftest import EnvironmentFactory
from tests.engine.test_jdbc_sink import FailsOnce, restarting_env
from tests.s3_server import BUCKET, reach

from penstock.common import Row, RowKind, WatermarkStrategy
from penstock.common.errors import JobExecutionError, ProgramError
from penstock.common.typeinfo import Types
from penstock.connectors.iceberg.sink import IcebergCommitter, IcebergSink
from penstock.connectors.iceberg.source import IcebergSource
from penstock.connectors.iceberg.table import IcebergLocation, IcebergView
from penstock.connectors.lake.staging import StagedFile
from penstock.datastream import StreamExecutionEnvironment
from penstock.engines.local.executor import LocalExecutor
from penstock.functions.sink import CommitterContext

PAIR = Types.ROW_NAMED(["k", "v"], [Types.LONG(), Types.STRING()])
NO_WATERMARKS = WatermarkStrategy.no_watermarks()
TABLE = "shop.pairs"


@pytest.fixture
def properties(tmp_path: Path) -> dict[str, str]:
    return {"type": "sql", "uri": f"sqlite:///{tmp_path}/catalog.db", "warehouse": f"file://{tmp_path}/warehouse"}


def catalog(properties: dict[str, str]) -> Catalog:
    return load_catalog("default", **properties)


def pairs(properties: dict[str, str]) -> list[tuple[Any, Any]]:
    rows = catalog(properties).load_table(TABLE).scan().to_arrow().to_pylist()
    return sorted((row["k"], row["v"]) for row in rows)


def rows_of(first: int, count: int) -> pa.Table:
    ids = range(first, first + count)
    return pa.table({"k": pa.array(ids, pa.int64()), "v": [f"v{i % 3}" for i in ids]})


def made(properties: dict[str, str], *counts: int) -> Any:
    own = catalog(properties)
    own.create_namespace_if_not_exists("shop")
    table = own.create_table(TABLE, rows_of(0, 1).schema)
    first = 0
    for count in counts:
        table.append(rows_of(first, count))
        first += count
    return table


def test_a_failure_neither_loses_nor_repeats(properties: dict[str, str]) -> None:
    env = restarting_env(epoch_records=20)
    rows = env.from_collection([Row(i, f"v{i % 3}") for i in range(60)], PAIR).map(FailsOnce(30), PAIR)
    rows.sink_to(IcebergSink(TABLE, PAIR, properties))
    env.execute()
    assert pairs(properties) == [(i, f"v{i % 3}") for i in range(60)]


def test_a_table_follows_a_changelog(properties: dict[str, str]) -> None:
    chance, expected, changes = random.Random(5), dict[int, str](), []
    for n in range(150):
        key = chance.randrange(15)
        if key in expected and chance.random() < 0.3:
            changes.append(Row.of_kind(RowKind.DELETE, key, expected.pop(key)))
        else:
            kind = RowKind.UPDATE_AFTER if key in expected else RowKind.INSERT
            expected[key] = f"n{n}"
            changes.append(Row.of_kind(kind, key, f"n{n}"))
    env = restarting_env(epoch_records=50, parallelism=1)
    env.from_collection(changes, PAIR).sink_to(IcebergSink(TABLE, PAIR, properties, key=["k"]))
    env.execute()
    assert dict(pairs(properties)) == expected


def test_changes_of_a_key_come_to_one_writer(local_env: EnvironmentFactory, properties: dict[str, str]) -> None:
    """Two files of an epoch with the same key would make two rows of it."""
    env = local_env(3, epoch_records=1_000)
    rows = env.from_collection([Row(n % 5, "same") for n in range(60)], PAIR).rebalance().map(lambda row: row, PAIR)
    rows.sink_to(IcebergSink(TABLE, PAIR, properties, key=["k"]))
    env.execute()
    assert pairs(properties) == [(k, "same") for k in range(5)]


def test_a_table_that_takes_the_place_of_another_is_noticed(properties: dict[str, str], tmp_path: Path) -> None:
    made(properties, 5, 5)

    def run(start_from: str | None) -> str | None:
        executor = LocalExecutor(5, stop_after=2, savepoint_directory=str(tmp_path / "saved"), start_from=start_from)
        env = StreamExecutionEnvironment(executor=executor)
        env.set_parallelism(1)
        source = IcebergSource(TABLE, PAIR, properties, continuous=True)
        list(env.from_source(source, NO_WATERMARKS, "t").uid("t").execute_and_collect())
        return executor.savepoint_path

    saved = run(None)
    catalog(properties).drop_table(TABLE)
    made(properties, 5)
    with pytest.raises(JobExecutionError, match="does not have the snapshot .* any more"):
        run(saved)


def test_an_epoch_that_is_committed_already_is_left_alone(properties: dict[str, str]) -> None:
    table = made(properties, 2)
    file = next(iter(table.scan().plan_files())).file.file_path
    copy = file.replace(".parquet", "-again.parquet").removeprefix("file://")
    Path(copy).write_bytes(Path(file.removeprefix("file://")).read_bytes())
    import pyarrow.parquet as parquet

    parquet.write_table(rows_of(2, 2), copy)
    for _ in range(2):
        context = CommitterContext("job", "sink", "sink")
        committer = IcebergCommitter(IcebergLocation(TABLE, properties), PAIR, [], context)
        committer.open()
        committer.commit(3, [StagedFile(f"file://{copy}", 2, 0)])
    assert len(pairs(properties)) == 4


@pytest.mark.parametrize("parallelism", [1, 3])
def test_every_row_of_a_snapshot_is_read_once(
    local_env: EnvironmentFactory, properties: dict[str, str], parallelism: int
) -> None:
    table = made(properties, 30, 30, 40)
    table.delete("k = 5")
    source = IcebergSource(TABLE, PAIR, properties)
    rows = local_env(parallelism, epoch_records=17, forget=True).from_source(source, NO_WATERMARKS, "t")
    found = sorted((row.k, row.v) for row in rows.execute_and_collect())
    assert found == [(i, f"v{i % 3}") for i in range(100) if i != 5]


def test_later_snapshots_are_read_too(properties: dict[str, str], tmp_path: Path) -> None:
    table = made(properties, 5, 5)
    start = table.metadata.snapshots[0].snapshot_id
    found: list[Row] = []
    start_from = None
    for run in range(2):
        for part in range(3):
            table.append(rows_of(10 + (run * 3 + part) * 5, 5))
        executor = LocalExecutor(5, stop_after=3, savepoint_directory=str(tmp_path / "saved"), start_from=start_from)
        env = StreamExecutionEnvironment(executor=executor)
        env.set_parallelism(1)
        source = IcebergSource(TABLE, PAIR, properties, snapshot_id=start, continuous=True)
        found += env.from_source(source, NO_WATERMARKS, "t").uid("t").execute_and_collect()
        start_from = executor.savepoint_path
    assert [row.k for row in found] == list(range(len(found))) and len(found) >= 30


def test_what_a_stream_of_rows_cannot_tell_is_refused(properties: dict[str, str]) -> None:
    table = made(properties, 5)
    start = table.metadata.snapshots[0].snapshot_id
    table.delete("k = 1")
    env = StreamExecutionEnvironment(executor=LocalExecutor())
    source = IcebergSource(TABLE, PAIR, properties, snapshot_id=start, continuous=True)
    with pytest.raises(JobExecutionError, match="changes or removes rows"):
        list(env.from_source(source, NO_WATERMARKS, "t").execute_and_collect())
    with pytest.raises(ProgramError, match="no column x"):
        IcebergSink(TABLE, PAIR, properties, key=["x"])


def test_what_was_cleaned_up_is_named(properties: dict[str, str]) -> None:
    table = made(properties, 5, 5)
    first = table.metadata.snapshots[0].snapshot_id
    view = IcebergView(IcebergLocation(TABLE, properties))
    [file] = view.files(first, whole=True)
    Path(file.removeprefix("file://")).unlink()
    with pytest.raises(JobExecutionError, match=f"does not have the snapshot {first} any more"):
        list(view.read(first, True, file))
    table.maintenance.expire_snapshots().by_id(first).commit()
    view = IcebergView(IcebergLocation(TABLE, properties))
    with pytest.raises(JobExecutionError, match=f"does not have the snapshot {first} any more.*its files are not"):
        view.files(first, whole=False)


def test_what_does_not_fit_the_table_is_refused(properties: dict[str, str], local_env: EnvironmentFactory) -> None:
    table = made(properties, 5)
    newest = table.current_snapshot().snapshot_id
    source = IcebergSource(TABLE, PAIR, properties, snapshot_id=99)
    with pytest.raises(JobExecutionError, match=rf"has no snapshot 99 \(any more\); the newest is {newest}"):
        list(local_env().from_source(source, NO_WATERMARKS, "t").execute_and_collect())
    with pytest.raises(ProgramError, match=r"with its namespace, as 'shop\.views', not 'pairs'"):
        IcebergSink("pairs", PAIR, properties)
    env = local_env()
    other = Types.ROW_NAMED(["k", "v"], [Types.STRING(), Types.STRING()])
    env.from_collection([Row("a", "b")], other).sink_to(IcebergSink(TABLE, other, properties))
    with pytest.raises(JobExecutionError, match="'k' is int64, that of the stream string. Give both the same"):
        env.execute()
    env = local_env()
    env.from_collection([Row(None, "b")], PAIR).sink_to(IcebergSink(TABLE, PAIR, properties, key=["k"]))
    with pytest.raises(JobExecutionError, match=r"The key \(k\) of the table needs values"):
        env.execute()


def test_on_an_object_store(
    s3_address: str, monkeypatch: pytest.MonkeyPatch, local_env: EnvironmentFactory, tmp_path: Path
) -> None:
    reach(s3_address, monkeypatch)
    properties = {
        "type": "sql", "uri": f"sqlite:///{tmp_path}/catalog.db", "warehouse": f"s3://{BUCKET}/iceberg",
        "s3.endpoint": s3_address, "s3.access-key-id": "test", "s3.secret-access-key": "test", "s3.region": "us-east-1",
    }  # fmt: skip
    env = local_env(1, epoch_records=10)
    env.from_collection([Row(i, "x") for i in range(30)], PAIR).sink_to(IcebergSink(TABLE, PAIR, properties))
    env.execute()
    assert len(pairs(properties)) == 30
    source = IcebergSource(TABLE, PAIR, properties)
    assert len(list(local_env(2).from_source(source, NO_WATERMARKS, "t").execute_and_collect())) == 30

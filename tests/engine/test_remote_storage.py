"""Savepoints and checkpoints on an S3-compatible server."""

from __future__ import annotations

import pytest
from tests.engine.shelves import Shelves, shelves, values_of
from tests.s3_server import BUCKET, reach

from penstock.common import Types, WatermarkStrategy
from penstock.common.errors import JobExecutionError
from penstock.common.job_status import JobStatus
from penstock.control.checkpoints import CheckpointSettings, CheckpointStore
from penstock.control.restore_point import open_restore_point
from penstock.control.snapshot_machine import Pacing
from penstock.datastream import StreamExecutionEnvironment
from penstock.engines.local.executor import LocalExecutor
from penstock.storage import storage_at


@pytest.fixture
def bucket(s3_address: str, monkeypatch: pytest.MonkeyPatch) -> str:
    reach(s3_address, monkeypatch)
    return f"s3://{BUCKET}"


def _read(executor: LocalExecutor) -> list[str]:
    env = StreamExecutionEnvironment(executor=executor)
    env.set_parallelism(2)
    source = Shelves("s3", shelves(4, 10))
    stream = env.from_source(source, WatermarkStrategy.no_watermarks(), "s", Types.STRING()).uid("shelves")
    counted = stream.key_by(lambda value: value[0]).map(str, Types.STRING()).uid("map")
    return list(counted.execute_and_collect())


def test_a_job_stops_with_a_savepoint_on_s3_and_another_starts_from_it(bucket: str) -> None:
    stopping = LocalExecutor(epoch_records=10, stop_after=2, savepoint_directory=f"{bucket}/savepoints")
    found = _read(stopping)
    path = stopping.savepoint_path
    assert path is not None and path.startswith(f"{bucket}/savepoints/savepoint-")
    assert "_metadata" in storage_at(path).names()
    found += _read(LocalExecutor(start_from=path))
    assert sorted(found) == sorted(values_of(shelves(4, 10)))


def test_a_damaged_savepoint_on_s3_is_refused(bucket: str) -> None:
    stopping = LocalExecutor(epoch_records=10, stop_after=2, savepoint_directory=f"{bucket}/damaged")
    _read(stopping)
    assert stopping.savepoint_path is not None
    storage = storage_at(stopping.savepoint_path)
    part = next(name for name in storage.names() if name.startswith("level-"))
    storage.write(part, storage.read(part)[:-1])
    with pytest.raises(JobExecutionError, match=f"damaged: {part} is not what was written"):
        _read(LocalExecutor(start_from=stopping.savepoint_path))


def test_checkpoints_on_s3_are_kept_by_number_and_the_newest_that_is_not_damaged_is_used(bucket: str) -> None:
    directory = f"{bucket}/checkpoints/job"
    settings = CheckpointSettings(Pacing(interval_ms=0), directory, 2, frozenset(JobStatus))
    _read(LocalExecutor(epoch_records=10, checkpoints=settings))
    store = CheckpointStore(directory)
    older, newest = store.complete_numbers()
    assert store.numbers() == [older, newest], "the others were dropped"
    storage_at(directory).write(f"chk-{newest}/_metadata", b"{}")
    savepoint = open_restore_point(directory)
    assert savepoint.path == f"{directory}/chk-{older}"
    assert len(savepoint.passed_over) == 1
    store.remove_all()
    assert storage_at(directory).names() == []

"""Savepoints on an S3-compatible server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.engine.shelves import Shelves, shelves, values_of
from tests.unit.storage.s3_server import BUCKET, reach, s3_server

from penstock.common import Types, WatermarkStrategy
from penstock.common.errors import JobExecutionError
from penstock.datastream import StreamExecutionEnvironment
from penstock.engines.local.executor import LocalExecutor
from penstock.storage import storage_at


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with s3_server() as address:
        yield address


@pytest.fixture
def bucket(address: str, monkeypatch: pytest.MonkeyPatch) -> str:
    reach(address, monkeypatch)
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
    assert "_metadata" in storage_at(path).list()
    found += _read(LocalExecutor(start_from=path))
    assert sorted(found) == sorted(values_of(shelves(4, 10)))


def test_a_damaged_savepoint_on_s3_is_refused(bucket: str) -> None:
    stopping = LocalExecutor(epoch_records=10, stop_after=2, savepoint_directory=f"{bucket}/damaged")
    _read(stopping)
    assert stopping.savepoint_path is not None
    storage = storage_at(stopping.savepoint_path)
    part = next(name for name in storage.list() if name.startswith("level-"))
    storage.write(part, storage.read(part)[:-1])
    with pytest.raises(JobExecutionError, match=f"damaged: {part} is not what was written"):
        _read(LocalExecutor(start_from=stopping.savepoint_path))

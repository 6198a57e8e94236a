"""Savepoints, checkpoints and files of sinks on an S3-compatible server."""

from __future__ import annotations

import gzip
import io
import uuid
from typing import Any

import pyarrow.parquet as parquet
import pytest
from tests.conftest import EnvironmentFactory
from tests.engine.shelves import Shelves, shelves, values_of
from tests.s3_server import BUCKET, reach

from penstock.common import Encoder, Row, Types, WatermarkStrategy
from penstock.common.errors import JobExecutionError, SetupError
from penstock.common.job_status import JobStatus
from penstock.connectors.files.commit import FileCommitter, Rename
from penstock.control.checkpoints import CheckpointSettings, CheckpointStore
from penstock.control.restore_point import open_restore_point
from penstock.control.snapshot_machine import Pacing
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.connectors.file_system import BucketAssigner, FileSink, FileSource, StreamFormat
from penstock.datastream.formats.parquet import ParquetBulkWriters
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


@pytest.mark.parametrize("bulk", [False, True])
@pytest.mark.parametrize("forget", [False, True])
def test_files_on_s3_have_every_record_once(bucket: str, forget: bool, bulk: bool) -> None:
    base = f"{bucket}/files-{bulk}-{forget}"
    env = StreamExecutionEnvironment(executor=LocalExecutor(epoch_records=7, forget=forget))
    env.set_parallelism(2)
    row_type = Types.ROW_NAMED(["n"], [Types.LONG()])
    numbers = env.from_collection([Row(n=n) for n in range(50)], row_type).rebalance()
    if bulk:
        builder: Any = FileSink.for_bulk_format(base, ParquetBulkWriters.for_row_type(row_type))
    else:
        builder = FileSink.for_row_format(base, Encoder.simple_string_encoder())
        numbers = numbers.map(lambda row: str(row.n), Types.STRING())
    builder.with_bucket_assigner(BucketAssigner.base_path_bucket_assigner())
    storage_at(base).write(".part-x.inprogress.another-1f", b"of another job")
    numbers.sink_to(builder.build())
    env.execute()
    names = storage_at(base).names()
    assert [name for name in names if name.startswith(".")] == [".part-x.inprogress.another-1f"]
    found = []
    for name in names[1:]:
        content = storage_at(base).read(name)
        if bulk:
            found += parquet.read_table(io.BytesIO(content)).column("n").to_pylist()
        else:
            found += [int(line) for line in content.decode().split()]
    assert sorted(found) == list(range(50))


def test_a_commit_on_s3_may_be_repeated(bucket: str) -> None:
    store = storage_at(f"{bucket}/repeated")
    store.write(".a.inprogress.job-1", b"a")
    renames = [Rename(f"{store.location}/.a.inprogress.job-1", f"{store.location}/a")]
    committer = FileCommitter(store.location, "job")
    committer.commit(1, renames)
    committer.commit(1, renames)
    store.write(".a.inprogress.job-1", b"a")  # as a crash between copy and removal leaves it
    committer.commit(1, renames)
    assert store.names() == ["a"]
    lost = Rename(f"{store.location}/.b.inprogress.job-1", f"{store.location}/b")
    with pytest.raises(JobExecutionError, match="which is gone"):
        committer.commit(2, [lost])
    store.write(".c.inprogress.job-2", b"c")
    committer.sweep()
    assert store.names() == ["a"]


def test_a_file_source_reads_what_lies_in_a_bucket(bucket: str, local_env: EnvironmentFactory) -> None:
    """Lines are split inside files, compressed files are read whole, hidden ones are left out."""
    store = storage_at(f"{bucket}/logs-{uuid.uuid4().hex}")
    lines = [f"line {number}" for number in range(5000)]
    store.write("day/a.txt", "\n".join(lines[:4000]).encode())
    store.write("day/b.txt.gz", gzip.compress("\n".join(lines[4000:]).encode()))
    store.write("day/_SUCCESS", b"no line")

    def read(path: str) -> list[str]:
        env = local_env(2, epoch_records=700, forget=True)
        source = FileSource.for_record_stream_format(StreamFormat.text_line_format(), path).build()
        stream = env.from_source(source, WatermarkStrategy.no_watermarks(), "logs")
        with stream.execute_and_collect() as results:
            return sorted(results)

    assert read(store.location) == sorted(lines)
    assert read(f"{store.location}/day/b.txt.gz") == sorted(lines[4000:])
    with pytest.raises(SetupError, match="there is no file or directory 's3://"):
        read(f"{bucket}/nothing-here")


def test_a_bucket_that_is_not_there_is_not_made(bucket: str, local_env: EnvironmentFactory) -> None:
    env = local_env()
    sink = FileSink.for_row_format("s3://mistyped/lines", Encoder.simple_string_encoder()).build()
    env.from_collection(["a"], Types.STRING()).sink_to(sink)
    with pytest.raises(JobExecutionError, match="FileSink cannot write into 's3://mistyped/lines'.*bucket"):
        env.execute()

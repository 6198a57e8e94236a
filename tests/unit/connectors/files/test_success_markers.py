"""A bucket is marked when event time has passed it on every subtask: not before, and whatever dies."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

import pytest

from penstock.common import Encoder, Types, WatermarkStrategy
from penstock.common.errors import ProgramError
from penstock.common.watermark_strategy import TimestampAssigner
from penstock.connectors.files.commit import FileCommitter, Rename, hidden_name
from penstock.connectors.files.compacting import CompactingCommitter
from penstock.connectors.files.success_markers import EventTime, MarkingCommitter, SuccessMarkers
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.connectors.file_system import (
    BucketAssigner,
    FileCompactor,
    FileCompactStrategy,
    FileSink,
    RollingPolicy,
)
from penstock.datastream.connectors.number_seq import NumberSequenceSource
from penstock.engines.local.executor import LocalExecutor

STRATEGY = FileCompactStrategy.builder().enable_compaction_on_checkpoint(100).build()


def end_of(bucket: str) -> int:
    """Bucket 3 has the records of the event times from 300 to 399."""
    return (int(bucket) + 1) * 100


def stage(directory: Path, bucket: str, name: str) -> Rename:
    (directory / bucket).mkdir(parents=True, exist_ok=True)
    hidden = directory / bucket / hidden_name(name, "job", uuid.uuid4().hex)
    hidden.write_text(name)
    return Rename(str(hidden), str(directory / bucket / name))


def committer(directory: Path, compacts: bool = False) -> MarkingCommitter:
    inner: Any = FileCommitter(str(directory), "job")
    if compacts:
        inner = CompactingCommitter(str(directory), "job", STRATEGY, FileCompactor.concat_file_compactor())
    made = MarkingCommitter(str(directory), SuccessMarkers(end_of), inner)
    made.open()
    return made


def marked(directory: Path) -> set[str]:
    return {path.parent.name for path in directory.rglob("_SUCCESS")}


def test_the_slowest_subtask_decides(tmp_path: Path) -> None:
    driver = committer(tmp_path)
    driver.commit(1, [stage(tmp_path, "0", "a"), EventTime(0, 2, 150)])
    assert marked(tmp_path) == set(), "nobody knows about the other subtask"
    driver.commit(2, [stage(tmp_path, "1", "b"), EventTime(1, 2, 99)])
    assert marked(tmp_path) == set()
    driver.commit(3, [EventTime(1, 2, 100)])
    assert marked(tmp_path) == {"0"}
    driver.commit(4, [EventTime(0, 2, 400), EventTime(1, 2, 400)])
    assert marked(tmp_path) == {"0", "1"}
    driver.commit(5, [stage(tmp_path, "1", "late")])
    assert not list(tmp_path.rglob(".unmarked"))


def test_a_driver_that_goes_on_finds_what_waits(tmp_path: Path) -> None:
    last = [stage(tmp_path, "0", "a"), EventTime(0, 1, 50)]
    committer(tmp_path).commit(1, last)
    after_crash = committer(tmp_path)
    after_crash.commit(1, last)
    assert marked(tmp_path) == set()
    after_crash.commit(2, [EventTime(0, 1, 100)])
    assert marked(tmp_path) == {"0"}


def test_files_are_put_together_before_the_marker_appears(tmp_path: Path) -> None:
    driver = committer(tmp_path, compacts=True)
    driver.commit(1, [stage(tmp_path, "0", "a"), stage(tmp_path, "0", "b"), EventTime(0, 1, 99)])
    assert [path.name for path in (tmp_path / "0").iterdir() if path.name[0] != "."] == []
    driver.commit(2, [EventTime(0, 1, 100)])
    assert sorted(path.name for path in (tmp_path / "0").iterdir()) == ["_SUCCESS", "compacted-a"]


class Hundreds(BucketAssigner):
    def get_bucket_id(self, element: Any, context: Any) -> str:
        return str(context.timestamp() // 100)


class Itself(TimestampAssigner):
    def extract_timestamp(self, value: int, record_timestamp: int) -> int:
        return value


def run(executor: LocalExecutor, directory: Path) -> None:
    env = StreamExecutionEnvironment(executor=executor)
    env.set_parallelism(2)
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Itself())
    numbers = env.from_source(NumberSequenceSource(0, 999), WatermarkStrategy.no_watermarks(), "numbers")
    sink = (
        FileSink.for_row_format(str(directory), Encoder.simple_string_encoder())
        .with_bucket_assigner(Hundreds())
        .with_rolling_policy(RollingPolicy.default_rolling_policy())
        .with_success_markers(end_of)
        .build()
    )
    timed = numbers.uid("numbers").assign_timestamps_and_watermarks(strategy).uid("time")
    timed.map(str, Types.STRING()).uid("text").sink_to(sink).uid("sink")
    env.execute()


def test_a_job_marks_what_is_over_and_the_next_one_the_rest(tmp_path: Path) -> None:
    """Subtask 0 reads from 0 to 499, subtask 1 from 500 to 999: the first holds event time back."""
    results, saved = tmp_path / "results", tmp_path / "saved"
    stopping = LocalExecutor(epoch_records=100, stop_after=4, savepoint_directory=str(saved))
    run(stopping, results)
    before = marked(results)
    assert before == {"0"} or before == {"0", "1"}, "the rest is not over when the job stops"
    for bucket in before:
        lines = [line for part in (results / bucket).glob("part-*") for line in part.read_text().split()]
        assert sorted(map(int, lines)) == list(range(int(bucket) * 100, int(bucket) * 100 + 100))
    run(LocalExecutor(epoch_records=100, start_from=stopping.savepoint_path), results)
    assert marked(results) == {str(n) for n in range(10)}
    assert not list(results.rglob(".unmarked"))


def test_markers_that_cannot_work_are_refused(tmp_path: Path) -> None:
    builder = FileSink.for_row_format(str(tmp_path), Encoder.simple_string_encoder())
    with pytest.raises(ProgramError, match="function from a bucket to a time"):
        builder.with_success_markers(100)
    with pytest.raises(ProgramError, match="no name"):
        builder.with_success_markers(end_of, "a/b")

"""The file sink, driven without Spark: epochs, failed attempts, rolling and commits."""

from __future__ import annotations

import os
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.common.errors import JobExecutionError, SetupError
from penstock.common.serialization import Encoder
from penstock.common.typeinfo import Types
from penstock.common.types import Row
from penstock.connectors.files.commit import FileCommitter, Rename, sweep
from penstock.datastream.connectors.file_system import BucketAssigner, FileSink, OutputFileConfig, RollingPolicy
from penstock.datastream.formats.csv import CsvBulkWriters, CsvSchema
from penstock.runtime.batch import Batch
from penstock.runtime.blueprint import JobSettings, OperatorBlueprint, Origin
from penstock.runtime.context import SubtaskContext
from penstock.runtime.operators.sinks import SinkOperator
from penstock.storage import storage_at

JOB = "ab" * 16


class NoOutput:
    def end(self) -> None: ...


def operator(builder: Any, clock: Callable[[], int] = lambda: 0, attempt: int = 0) -> SinkOperator:
    sink = pickle.loads(pickle.dumps(builder.build()))
    params = {"type_info": Types.STRING()}
    blueprint = OperatorBlueprint(1, "u", "sink", "sink", sink, params, 1, 128, 0, Origin("job.py", 1))
    made = SinkOperator(blueprint, SubtaskContext(blueprint, JobSettings(JOB, "job", attempt=attempt), 0, clock))
    made.connect(NoOutput(), {})  # type: ignore[arg-type]
    made.open()
    return made


def rows(path: Path, policy: RollingPolicy | None = None) -> Any:
    return (
        FileSink.for_row_format(str(path), Encoder.simple_string_encoder())
        .with_bucket_assigner(BucketAssigner.base_path_bucket_assigner())
        .with_rolling_policy(policy or RollingPolicy.default_rolling_policy())
    )


def end_epoch(sink: SinkOperator) -> tuple[list[Any], Any]:
    sink.end_epoch()
    committables = sink.committables()
    return committables, pickle.loads(pickle.dumps(sink.snapshot()))


def commit(committables: list[Any]) -> None:
    FileCommitter("unused", JOB).commit(1, pickle.loads(pickle.dumps(committables)))


def visible(path: Path) -> list[str]:
    files = sorted(f for f in path.rglob("*") if f.is_file() and not f.name.startswith("."))
    return [line for file in files for line in file.read_text().splitlines()]


def hidden(path: Path) -> list[Path]:
    return [f for f in path.rglob(".*") if f.is_file()]


def test_records_become_visible_when_the_input_has_ended_and_the_epoch_is_committed(tmp_path: Path) -> None:
    sink = operator(rows(tmp_path / "out"))
    sink.process(Batch(["a", "b"]), 0)
    assert end_epoch(sink)[0] == []
    sink.process(Batch(["c"]), 0)
    sink.finish()
    committables, _ = end_epoch(sink)
    assert visible(tmp_path) == []
    commit(committables)
    commit(committables)
    assert visible(tmp_path) == ["a", "b", "c"]
    assert hidden(tmp_path) == []


def test_names_are_those_of_flink(tmp_path: Path) -> None:
    config = OutputFileConfig.builder().with_part_prefix("out").with_part_suffix(".txt").build()
    sink = operator(rows(tmp_path, RollingPolicy.on_checkpoint_rolling_policy()).with_output_file_config(config))
    for _ in range(2):
        sink.process(Batch(["a"]), 0)
        assert re.fullmatch(r"\.out-[0-9a-f-]{36}-\d\.txt\.inprogress\.[0-9a-f]+-[0-9a-f]+", hidden(tmp_path)[0].name)
        commit(end_epoch(sink)[0])
    names = sorted(os.listdir(tmp_path))
    assert [bool(re.fullmatch(r"out-[0-9a-f-]{36}-[01]\.txt", name)) for name in names] == [True, True]
    assert names[0].removesuffix("0.txt") == names[1].removesuffix("1.txt")


def test_an_attempt_that_failed_leaves_no_trace_in_visible_files(tmp_path: Path) -> None:
    first = operator(rows(tmp_path))
    first.process(Batch(["a"]), 0)
    _, snapshot = end_epoch(first)
    first.process(Batch(["from a failed attempt"]), 0)
    first.finish()
    end_epoch(first)
    second = operator(rows(tmp_path))
    second.load(snapshot)
    second.process(Batch(["b"]), 0)
    second.finish()
    commit(end_epoch(second)[0])
    assert visible(tmp_path) == ["a", "b"]


def test_a_file_of_the_snapshot_is_cut_back_even_if_nothing_more_is_written(tmp_path: Path) -> None:
    first = operator(rows(tmp_path))
    first.process(Batch(["a"]), 0)
    _, snapshot = end_epoch(first)
    first.process(Batch(["from a failed attempt"]), 0)
    second = operator(rows(tmp_path))
    second.load(snapshot)
    second.finish()
    commit(end_epoch(second)[0])
    assert visible(tmp_path) == ["a"]


def test_a_worker_of_an_earlier_attempt_cannot_write_into_the_files_of_this_one(tmp_path: Path) -> None:
    stale = operator(rows(tmp_path))
    stale.process(Batch(["a"]), 0)
    _, delta = end_epoch(stale)
    stale.process(Batch(["stale"]), 0)
    fresh = operator(rows(tmp_path), attempt=1)
    fresh.load(delta)
    fresh.process(Batch(["b"]), 0)
    stale.process(Batch(["stale again"]), 0)  # it was stopped, and wakes up
    fresh.finish()
    commit(end_epoch(fresh)[0])
    assert visible(tmp_path) == ["a", "b"]
    sweep(storage_at(str(tmp_path)), JOB)
    assert hidden(tmp_path) == []


def test_a_rename_that_another_driver_does_in_the_same_moment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sink = operator(rows(tmp_path))
    sink.process(Batch(["a"]), 0)
    sink.finish()
    committables, _ = end_epoch(sink)
    rename = os.rename

    def overtaken(*names: str) -> None:
        rename(*names)
        rename(*names)

    monkeypatch.setattr(os, "rename", overtaken)
    commit(committables)
    assert visible(tmp_path) == ["a"]


def test_the_sweep_removes_only_what_this_job_left(tmp_path: Path) -> None:
    sink = operator(rows(tmp_path))
    sink.process(Batch(["a"]), 0)
    other = tmp_path / f".part-x-0.inprogress.{'cd' * 16}-0123"
    other.touch()
    (left,) = [path for path in hidden(tmp_path) if path != other]
    assert sweep(storage_at(str(tmp_path)), JOB) == [str(left.relative_to(tmp_path))]
    assert hidden(tmp_path) == [other]


@given(
    epochs=st.lists(
        st.tuples(st.lists(st.text("abc", max_size=5), max_size=5), st.sampled_from(["okay", "fail", "move"]))
    ),
    part_size=st.integers(1, 20),
    on_checkpoint=st.booleans(),
)
@settings(max_examples=40, deadline=None)
def test_each_record_is_visible_exactly_once_whatever_fails(
    tmp_path_factory: pytest.TempPathFactory, epochs: list[Any], part_size: int, on_checkpoint: bool
) -> None:
    """A failing epoch runs again, from the last snapshot; a job may move to another process at any epoch."""
    path = tmp_path_factory.mktemp("sink")
    policy = (
        RollingPolicy.on_checkpoint_rolling_policy()
        if on_checkpoint
        else RollingPolicy.default_rolling_policy(part_size)
    )
    sink = operator(rows(path, policy))
    snapshots: list[Any] = []

    def restored() -> SinkOperator:
        fresh = operator(rows(path, policy))
        for snapshot in snapshots:
            fresh.load(snapshot)
        return fresh

    for records, fate in epochs:
        if fate == "move":
            sink = restored()
        if fate == "fail":
            sink.process(Batch(list(records)), 0)
            end_epoch(sink)
            sink = restored()
        if records:
            sink.process(Batch(list(records)), 0)
        committables, delta = end_epoch(sink)
        if delta is not None:
            snapshots.append(delta)
        commit(committables)
    sink.finish()
    commit(end_epoch(sink)[0])
    assert sorted(visible(path)) == sorted(record for records, _ in epochs for record in records)


def test_part_files_roll_by_size(tmp_path: Path) -> None:
    sink = operator(rows(tmp_path, RollingPolicy.default_rolling_policy(part_size=3)))
    sink.process(Batch(["a", "b", "c", "d", "e"]), 0)
    sink.finish()
    commit(end_epoch(sink)[0])
    assert sorted(file.read_text() for file in tmp_path.iterdir()) == ["a\nb\n", "c\nd\n", "e\n"]


def test_part_files_roll_by_age_and_inactivity_at_the_check_interval(tmp_path: Path) -> None:
    now = 0
    policy = RollingPolicy.default_rolling_policy(rollover_interval=100, inactivity_interval=30)
    sink = operator(rows(tmp_path, policy).with_bucket_check_interval(20), lambda: now)
    assert sink.next_processing_time() is None
    sink.process(Batch(["a"]), 0)
    assert sink.next_processing_time() == 20
    now = 20
    sink.advance_processing_time(now)
    assert end_epoch(sink)[0] == []
    now = 40
    sink.advance_processing_time(now)
    commit(end_epoch(sink)[0])
    assert visible(tmp_path) == ["a"]
    assert sink.next_processing_time() is None


def test_buckets_by_processing_time(tmp_path: Path) -> None:
    now = 1_700_000_000_000
    builder = FileSink.for_row_format(str(tmp_path), Encoder.simple_string_encoder())
    assigner = BucketAssigner.date_time_bucket_assigner("'y'=yyyy/MM-dd--HH", "UTC")
    sink = operator(builder.with_bucket_assigner(assigner), lambda: now)
    sink.process(Batch(["a"]), 0)
    now += 3_600_000
    sink.process(Batch(["b"]), 0)
    sink.finish()
    commit(end_epoch(sink)[0])
    assert {str(f.parent.relative_to(tmp_path)): f.read_text() for f in tmp_path.rglob("part-*")} == {
        "y=2023/11-14--22": "a\n",
        "y=2023/11-14--23": "b\n",
    }


class ByFirstLetter(BucketAssigner):
    def get_bucket_id(self, element: Any, context: Any) -> str:
        return f"{element[0]}-{context.timestamp()}"


def test_a_bucket_assigner_of_the_user(tmp_path: Path) -> None:
    sink = operator(rows(tmp_path).with_bucket_assigner(ByFirstLetter()))
    sink.process(Batch(["ax", "by", "az"], [5, 6, 5]), 0)
    sink.finish()
    commit(end_epoch(sink)[0])
    assert {f.parent.name: f.read_text() for f in tmp_path.rglob("part-*")} == {"a-5": "ax\naz\n", "b-6": "by\n"}


class ByItself(BucketAssigner):
    def get_bucket_id(self, element: Any, context: Any) -> Any:
        return element


@pytest.mark.parametrize("name", ["../elsewhere", "a/../../elsewhere", "/elsewhere", "a\0b", 5])
def test_a_bucket_is_a_directory_below_that_of_the_sink(tmp_path: Path, name: Any) -> None:
    sink = operator(rows(tmp_path / "out").with_bucket_assigner(ByItself()))
    with pytest.raises(JobExecutionError, match="bucket"):
        sink.process(Batch([name]), 0)
    assert not list(tmp_path.rglob("*part*"))


def test_bulk_formats_write_one_file_for_each_epoch(tmp_path: Path) -> None:
    schema = CsvSchema.builder().add_string_column("a").add_number_column("b").set_use_header().build()
    builder = FileSink.for_bulk_format(str(tmp_path), CsvBulkWriters.for_schema(schema))
    sink = operator(builder.with_bucket_assigner(BucketAssigner.base_path_bucket_assigner()))
    for number in range(2):
        sink.process(Batch([Row("x y", number), ("z", None)]), 0)
        commit(end_epoch(sink)[0])
    contents = sorted(file.read_text() for file in tmp_path.iterdir())
    assert contents == ['a,b\n"x y",0\nz,\n', 'a,b\n"x y",1\nz,\n']


def test_a_commit_never_overwrites_another_file(tmp_path: Path) -> None:
    (tmp_path / ".h").write_text("new")
    (tmp_path / "final").write_text("old")
    with pytest.raises(JobExecutionError, match="exists already"):
        commit([Rename(str(tmp_path / ".h"), str(tmp_path / "final"))])
    assert (tmp_path / "final").read_text() == "old"


def test_a_hidden_file_that_is_gone_is_an_error(tmp_path: Path) -> None:
    first = operator(rows(tmp_path))
    first.process(Batch(["a"]), 0)
    _, snapshot = end_epoch(first)
    hidden(tmp_path)[0].unlink()
    second = operator(rows(tmp_path))
    second.load(snapshot)
    with pytest.raises(JobExecutionError, match="it is gone"):
        second.process(Batch(["b"]), 0)
    with pytest.raises(JobExecutionError, match="which is gone"):
        commit([Rename(str(tmp_path / ".h"), str(tmp_path / "final"))])


def test_a_directory_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SetupError, match="cannot write into .*file/out"):
        operator(rows(tmp_path / "file" / "out")).process(Batch(["a"]), 0)

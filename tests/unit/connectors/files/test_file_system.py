"""Building file sources and sinks: what is accepted, refused, and handed to the runtime."""

from __future__ import annotations

import os
import pickle
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from penstock.common.errors import ConfigurationError, NotSupportedError, ProgramError
from penstock.common.serialization import BulkWriterFactory, Encoder
from penstock.common.time import Duration
from penstock.common.typeinfo import Types
from penstock.connectors.files.java_time_pattern import parse_pattern
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.connectors.file_system import (
    BucketAssigner,
    FileEnumeratorProvider,
    FileSink,
    FileSource,
    FileSplitAssignerProvider,
    OutputFileConfig,
    RollingPolicy,
    StreamFormat,
    StreamingFileSink,
)
from penstock.datastream.connectors.number_seq import NumberSequenceSource

LINES = StreamFormat.text_line_format()
TEXT = Encoder.simple_string_encoder()


def test_a_file_source_knows_its_type_and_whether_it_ends() -> None:
    builder = FileSource.for_record_stream_format(LINES, "in")
    assert builder.build().get_produced_type() == Types.STRING()
    assert builder.build()._planner().bounded
    assert not builder.monitor_continuously(Duration.of_seconds(1)).build()._planner().bounded
    assert builder.process_static_file_set().build()._planner().bounded


def test_paths_may_be_uris(tmp_path: Path) -> None:
    (tmp_path / "a b.txt").write_text("x\n")
    for path in (str(tmp_path / "a b.txt"), f"file://{tmp_path}/a%20b.txt", f"file:{tmp_path}/a%20b.txt"):
        source = FileSource.for_record_stream_format(LINES, path).build()._planner()
        assert [file[0] for file in source.initial_position(1)["pending"]] == [str(tmp_path / "a b.txt")]
    with pytest.raises(ConfigurationError, match="hdfs"):  # no Hadoop is installed here
        FileSink.for_row_format("hdfs://name/out", TEXT)


def test_files_that_must_not_be_split_are_one_piece(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x\n" * 1000)
    builder = FileSource.for_record_stream_format(LINES, str(tmp_path))
    builder.set_file_enumerator(FileEnumeratorProvider.default_non_splittable_file_enumerator())
    builder.set_split_assigner(FileSplitAssignerProvider.locality_aware_split_assigner())
    source = builder.build()._planner()
    start = source.initial_position(1)
    assert source.exhausted(source.advance(start, 1))


def test_what_a_file_source_refuses() -> None:
    with pytest.raises(ProgramError, match="StreamFormat"):
        FileSource.for_record_stream_format("text", "in")  # type: ignore[arg-type]
    with pytest.raises(ProgramError, match="at least one path"):
        FileSource.for_record_stream_format(LINES)
    with pytest.raises(ValueError, match="Unknown character set"):
        StreamFormat.text_line_format("no-such-charset")
    with pytest.raises(ValueError, match="above 0"):
        FileSource.for_record_stream_format(LINES, "in").monitor_continuously(Duration.of_millis(0))


def test_sinks_become_nodes_that_can_be_pickled(tmp_path: Path) -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    words = env.from_collection(["a"], Types.STRING())
    config = OutputFileConfig.builder().with_part_prefix("p").build()
    old = StreamingFileSink.for_row_format("out", TEXT).with_output_file_config(config).build()
    new = FileSink.for_row_format("out", TEXT).with_output_file_config(config).build()
    for attached in (words.sink_to(new), words.add_sink(old)):
        (node,) = attached._operator_nodes("")
        assert (node.kind, node.name, node.is_sink) == ("sink", "Writer", True)
        assert node.params["type_info"] == Types.STRING()
        settings = pickle.loads(pickle.dumps(node.function))._settings
        assert settings.base_path == os.path.abspath("out")
        assert (settings.part_prefix, settings.part_suffix) == ("p", "")


@pytest.mark.parametrize("old", [False, True])
def test_both_classes_write_files(tmp_path: Path, local_env: Any, old: bool) -> None:
    env = local_env()
    words = env.from_collection(["a", "b"], Types.STRING())
    builder = (StreamingFileSink if old else FileSink).for_row_format(str(tmp_path), TEXT)
    builder.with_bucket_assigner(BucketAssigner.base_path_bucket_assigner())
    if old:
        words.add_sink(builder.build())
    else:
        words.sink_to(builder.build())
    env.execute()
    assert [file.read_text() for file in tmp_path.iterdir()] == ["a\nb\n"]


def test_what_a_file_sink_refuses() -> None:
    rows = FileSink.for_row_format("out", TEXT)
    assert rows.disable_compact() is rows
    with pytest.raises(ProgramError, match="Encoder"):
        FileSink.for_row_format("out", "text")  # type: ignore[arg-type]
    with pytest.raises(NotSupportedError, match="create"):
        FileSink.for_bulk_format("out", BulkWriterFactory())
    with pytest.raises(ProgramError, match="BucketAssigner"):
        rows.with_bucket_assigner("hourly")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="part_size"):
        RollingPolicy.default_rolling_policy(part_size=0)
    with pytest.raises(ValueError, match="without '/'"):
        OutputFileConfig("a/b", "")


class Csv(BulkWriterFactory):
    def create(self, stream: Any) -> Any: ...


def test_bulk_sinks_roll_only_at_checkpoints() -> None:
    bulk = FileSink.for_bulk_format("out", Csv())
    bulk.with_rolling_policy(RollingPolicy.on_checkpoint_rolling_policy())
    with pytest.raises(ProgramError, match="OnCheckpointRollingPolicy"):
        bulk.with_rolling_policy(RollingPolicy.default_rolling_policy())  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("yyyy-MM-dd--HH", "2024-03-05--14"),
        ("yy/M/d h:mm a", "24/3/5 2:07 PM"),
        ("EEE, d MMM uuuu", "Tue, 5 Mar 2024"),
        ("EEEE MMMM", "Tuesday March"),
        ("'year'=yyyy''ss.SSS", "year=2024'09.123"),
        ("DDD", "065"),
    ],
)
def test_java_patterns(pattern: str, expected: str) -> None:
    moment = datetime(2024, 3, 5, 14, 7, 9, 123000)
    assert "".join(part(moment) for part in parse_pattern(pattern)) == expected


def test_patterns_and_zones_are_checked_at_once() -> None:
    with pytest.raises(NotSupportedError, match="'Q'"):
        BucketAssigner.date_time_bucket_assigner("yyyy-QQ")
    with pytest.raises(ValueError, match="wrong at position 4"):
        BucketAssigner.date_time_bucket_assigner("yyyy'open")
    with pytest.raises(ValueError, match="Unknown time zone"):
        BucketAssigner.date_time_bucket_assigner("yyyy", "Nowhere/Atall")


def test_number_sequence() -> None:
    source = NumberSequenceSource(1, 5)
    assert source.get_produced_type() == Types.LONG()
    assert source._planner().initial_position(1) == [[1, 6]]
    with pytest.raises(ValueError, match="start"):
        NumberSequenceSource(2, 1)

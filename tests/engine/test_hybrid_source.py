"""Sources one after the other, whatever their kinds, wherever epochs are cut; and generated records at a rate."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.conftest import EnvironmentFactory
from tests.engine.kafka_programs import strings_of
from tests.engine.shelves import Shelves, shelves, values_of
from tests.services.kafka import KafkaBroker, create_topic, produce

from penstock.common import Types, WatermarkStrategy
from penstock.common.errors import ProgramError
from penstock.common.time import Duration
from penstock.connectors.data_generator import GeneratedRecords
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.connectors.datagen import DataGeneratorSource, RateLimiterStrategy
from penstock.datastream.connectors.file_system import FileSource, StreamFormat
from penstock.datastream.connectors.hybrid_source import HybridSource
from penstock.engines.local.executor import LocalExecutor

NO_WATERMARKS = WatermarkStrategy.no_watermarks()


@pytest.fixture
def files(tmp_path: Path) -> FileSource:
    (tmp_path / "old").mkdir()
    for number in range(3):
        (tmp_path / "old" / f"{number}.txt").write_text("".join(f"old {number} {line}\n" for line in range(20)))
    return FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(tmp_path / "old")).build()


OLD = [f"old {number} {line}" for number in range(3) for line in range(20)]


@pytest.mark.parametrize("forget", [False, True])
@pytest.mark.parametrize("epoch_records", [7, 1_000_000])
@pytest.mark.parametrize("parallelism", [1, 3])
def test_all_of_the_first_then_all_of_the_next(
    local_env: EnvironmentFactory, files: FileSource, parallelism: int, epoch_records: int, forget: bool
) -> None:
    env = local_env(parallelism, epoch_records, forget)
    generated = DataGeneratorSource(lambda n: f"made {n}", 15, type_info=Types.STRING())
    source = HybridSource.builder(files).add_source(Shelves("hybrid", shelves(3, 10))).add_source(generated).build()
    with env.from_source(source, NO_WATERMARKS, "all", Types.STRING()).execute_and_collect() as results:
        found = list(results)
    made = [f"made {n}" for n in range(15)]
    assert sorted(found) == sorted([*OLD, *values_of(shelves(3, 10)), *made])
    if parallelism == 1:
        assert found[:60] == OLD and found[-15:] == made


def test_a_savepoint_knows_which_source_it_is_in(files: FileSource, tmp_path: Path) -> None:
    def run(executor: LocalExecutor, parallelism: int) -> list[str]:
        env = StreamExecutionEnvironment(executor=executor)
        env.set_parallelism(parallelism)
        source = HybridSource.builder(files).add_source(Shelves("saved", shelves(4, 10))).build()
        stream = env.from_source(source, NO_WATERMARKS, "all", Types.STRING()).uid("source")
        return list(stream.map(str, Types.STRING()).uid("map").execute_and_collect())

    for stop_after in (1, 4, 6, 7, 8):
        stopping = LocalExecutor(epoch_records=15, stop_after=stop_after, savepoint_directory=str(tmp_path / "s"))
        found = run(stopping, 2)
        found += run(LocalExecutor(start_from=stopping.savepoint_path), 3)
        assert sorted(found) == sorted([*OLD, *values_of(shelves(4, 10))]), stop_after


@pytest.mark.parametrize("stop_after", [None, 2, 5, 7])
def test_files_first_then_kafka_without_a_gap(
    kafka: KafkaBroker, files: FileSource, tmp_path: Path, stop_after: int | None
) -> None:
    topic = create_topic(kafka, 3)
    news = [f"news {n}" for n in range(50)]
    produce(kafka, topic, [word.encode() for word in news])

    def run(executor: LocalExecutor, parallelism: int) -> list[str]:
        env = StreamExecutionEnvironment(executor=executor)
        env.set_parallelism(parallelism)
        source = HybridSource.builder(files).add_source(strings_of(kafka, topic).build()).build()
        return list(env.from_source(source, NO_WATERMARKS, "all").uid("source").execute_and_collect())

    if stop_after is None:
        found = run(LocalExecutor(epoch_records=15), 2)
        assert sorted(found[:60]) == sorted(OLD)
    else:
        stopping = LocalExecutor(epoch_records=15, stop_after=stop_after, savepoint_directory=str(tmp_path / "s"))
        found = run(stopping, 2)
        found += run(LocalExecutor(start_from=stopping.savepoint_path), 3)
    assert sorted(found) == sorted([*OLD, *news])


def test_only_the_last_may_be_without_end(tmp_path: Path, files: FileSource) -> None:
    lines = FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(tmp_path))
    endless = lines.monitor_continuously(Duration.of_seconds(1)).build()
    with pytest.raises(ProgramError, match="never ends, so nothing can come after it"):
        HybridSource.builder(endless).add_source(files)


def test_records_are_generated_at_the_rate_of_the_clock() -> None:
    now = [1000]
    planner = GeneratedRecords(str, 1_000, RateLimiterStrategy.per_second(100).records_per_second, lambda: now[0])
    position = planner.initial_position(3)

    def generated(at: int) -> int:
        nonlocal position
        now[0] = at
        before = sum(next_ for next_, _ in position)
        position = planner.advance(position, 1_000)
        return sum(next_ for next_, _ in position) - before

    assert [generated(at) for at in (1000, 1000, 1500, 1505, 2000)] == [1, 0, 50, 0, 50]

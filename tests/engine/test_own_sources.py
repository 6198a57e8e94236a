"""Sources of splits, written as users write them: read once each, whatever happens between epochs."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.conftest import EnvironmentFactory
from tests.engine.shelves import EVENTS, Broken, Shelves, Stuck, Unsteady, allow_after_last, shelves, values_of

from penstock.common import Configuration, Time, Types, WatermarkStrategy
from penstock.common.errors import JobExecutionError, ProgramError
from penstock.connectors import Source
from penstock.datastream import StreamExecutionEnvironment
from penstock.datastream.window import TumblingEventTimeWindows
from penstock.engines.local.executor import LocalExecutor


@pytest.fixture(autouse=True)
def forget_events() -> None:
    EVENTS.clear()


def read(env: StreamExecutionEnvironment, source: Source) -> list[str]:
    stream = env.from_source(source, WatermarkStrategy.no_watermarks(), "shelves", Types.STRING())
    return list(stream.map(str, Types.STRING()).execute_and_collect())


@pytest.mark.parametrize("parallelism", [1, 3])
@pytest.mark.parametrize("epoch_records", [1, 7, 1000])
@pytest.mark.parametrize("forget", [False, True])
def test_every_record_once_wherever_epochs_end(
    local_env: EnvironmentFactory, parallelism: int, epoch_records: int, forget: bool
) -> None:
    content = shelves(5, 8)
    found = read(local_env(parallelism, epoch_records, forget), Shelves("once", content))
    assert sorted(found) == sorted(values_of(content))
    for shelf in content.values():
        values = [value for value, _ in shelf]
        assert [value for value in found if value in values] == values, "in order within a split"


def test_splits_that_are_found_later_are_read_too(local_env: EnvironmentFactory) -> None:
    first, later = shelves(2, 3), {"late": [("late", 0)]}
    source = Shelves("later", first, later)
    assert sorted(read(local_env(2, 1), source)) == sorted(values_of({**first, **later}))


@pytest.mark.in_this_process
def test_a_reader_lives_across_epochs_and_is_told_of_commits(local_env: EnvironmentFactory) -> None:
    read(local_env(1, 2), Shelves("life", shelves(1, 6)))
    events = [event for event in EVENTS["life"] if event[0] != "committed"]
    assert events == [
        ("open",),
        ("add", "s0", 0),
        ("reader committed", {"s0": 2}),
        ("reader committed", {"s0": 4}),
        ("close",),
    ]


@pytest.mark.in_this_process
def test_a_reader_that_was_lost_is_replaced_at_the_last_position(local_env: EnvironmentFactory) -> None:
    read(local_env(1, 2, forget=True), Shelves("lost", shelves(1, 6)))
    assert [event for event in EVENTS["lost"] if event[0] == "add"] == [
        ("add", "s0", 0),
        ("add", "s0", 2),
        ("add", "s0", 4),
    ]


@pytest.mark.parametrize("parallelism", [(1, 3), (3, 2)])
def test_a_savepoint_has_the_positions_and_goes_on_with_another_parallelism(
    tmp_path: Path, parallelism: tuple[int, int]
) -> None:
    content = shelves(5, 8)
    stopping = LocalExecutor(epoch_records=5, stop_after=2, savepoint_directory=str(tmp_path))
    found: list[str] = []
    for executor, subtasks in zip((stopping, None), parallelism, strict=True):
        executor = executor or LocalExecutor(epoch_records=5, start_from=stopping.savepoint_path)
        env = StreamExecutionEnvironment(executor=executor)
        env.set_parallelism(subtasks)
        stream = env.from_source(Shelves("saved", content), WatermarkStrategy.no_watermarks(), "s", Types.STRING())
        found += stream.uid("shelves").map(str, Types.STRING()).uid("map").execute_and_collect()
        assert found, "each of the two has read something"
    assert sorted(found) == sorted(values_of(content))
    assert ("restore", 1) in EVENTS["saved"]


@pytest.mark.parametrize("forget", [False, True])
def test_no_record_is_late_because_another_split_was_read_first(local_env: EnvironmentFactory, forget: bool) -> None:
    content = {"ahead": [("x", n * 1000) for n in range(50)], "behind": [("x", n * 1000) for n in range(50)]}
    env = local_env(1, 20, forget)
    stream = env.from_source(
        Shelves("time", content), WatermarkStrategy.for_monotonous_timestamps(), "shelves", Types.STRING()
    )
    windows = (
        stream.map(lambda value: (value, 1), Types.TUPLE([Types.STRING(), Types.INT()]))
        .key_by(lambda pair: pair[0])
        .window(TumblingEventTimeWindows.of(Time.seconds(10)))
        .reduce(lambda a, b: (a[0], a[1] + b[1]))
    )
    assert [count for _, count in windows.execute_and_collect()] == [20] * 5


@pytest.mark.in_this_process
def test_discovery_does_not_hold_up_other_sources(local_env: EnvironmentFactory) -> None:
    """The enumerator is stuck until the other source has been read to its end, in epochs of one record."""
    env = local_env(1, 1)
    slow = env.from_source(Stuck("stuck", shelves(1, 1)), WatermarkStrategy.no_watermarks(), "slow", Types.STRING())
    quick = env.from_collection(["a", "b", "last"], Types.STRING()).map(allow_after_last, Types.STRING())
    assert sorted(slow.union(quick).execute_and_collect()) == ["0-0", "a", "b", "last"]


@pytest.mark.parametrize(
    ("where", "message"),
    [("enumerator", "no such shelf"), ("reader", "the shelf fell down"), ("split", "'another'.*its splits are s0")],
)
def test_failures_name_what_went_wrong(local_env: EnvironmentFactory, where: str, message: str) -> None:
    with pytest.raises(JobExecutionError, match=f"(?s){message}"):
        read(local_env(), Broken(f"broken-{where}", where))


def test_what_is_no_source_is_refused(local_env: EnvironmentFactory) -> None:
    with pytest.raises(ProgramError, match="from_source\\(\\) takes a Source"):
        local_env().from_source(object(), WatermarkStrategy.no_watermarks(), "what")


@pytest.mark.in_this_process
def test_an_enumerator_that_failed_is_replaced_in_the_next_attempt() -> None:
    """Once before anything is found, and once in the middle: the second goes on from what the job remembers."""
    content, later = shelves(2, 6), {"late": [("late", 0)]}
    configuration = Configuration()
    configuration.set_string("restart-strategy.type", "fixed-delay")
    configuration.set_string("restart-strategy.fixed-delay.delay", "0 s")
    configuration.set_string("restart-strategy.fixed-delay.attempts", "2")
    env = StreamExecutionEnvironment(configuration, executor=LocalExecutor(2))
    found = read(env, Unsteady("unsteady", content, later))
    assert sorted(found) == sorted(values_of({**content, **later}))
    assert EVENTS["unsteady"].count("failed") == 2

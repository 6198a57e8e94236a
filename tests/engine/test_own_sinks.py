"""Sinks as users write them: each record visible once, whatever happens between epochs."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.conftest import EnvironmentFactory
from tests.engine.notes import EVENTS, VISIBLE, Notes, visible

from penstock.common import Configuration, Types
from penstock.common.errors import JobExecutionError, NotSupportedError, ProgramError
from penstock.connectors import Sink
from penstock.datastream import StreamExecutionEnvironment
from penstock.engines.local.executor import LocalExecutor


@pytest.fixture(autouse=True)
def forget_events() -> None:
    EVENTS.clear()
    VISIBLE.clear()


def write(env: StreamExecutionEnvironment, sink: Sink, keyed: bool = False) -> None:
    numbers = env.from_collection(list(range(20)), Types.INT())
    stream = numbers.key_by(lambda n: n % 2).map(lambda n: n, Types.INT()) if keyed else numbers
    stream.sink_to(sink).uid("sink")
    env.execute()


@pytest.mark.parametrize("keyed", [False, True])
@pytest.mark.parametrize("forget", [False, True])
@pytest.mark.parametrize("epoch_records", [3, 1000])
def test_every_record_is_visible_once(
    local_env: EnvironmentFactory, epoch_records: int, forget: bool, keyed: bool
) -> None:
    write(local_env(2, epoch_records, forget), Notes("once"), keyed)
    assert sorted(visible("once")) == list(range(20))


def test_an_epoch_is_committed_at_once_for_all_subtasks(local_env: EnvironmentFactory) -> None:
    write(local_env(2, 10), Notes("atomic"), keyed=True)
    assert [sorted(records) for records in VISIBLE["atomic"].values()] == [list(range(10)), list(range(10, 20))]


def test_a_commit_that_fails_is_repeated_under_the_same_number() -> None:
    configuration = Configuration()
    configuration.set_string("restart-strategy.type", "fixed-delay")
    configuration.set_string("restart-strategy.fixed-delay.delay", "0 s")
    env = StreamExecutionEnvironment(configuration, executor=LocalExecutor(epoch_records=5))
    env.set_parallelism(1)
    write(env, Notes("again", fail_at=2))
    assert visible("again") == list(range(20))


@pytest.mark.parametrize("keyed", [False, True])
@pytest.mark.in_this_process
def test_a_writer_lives_across_epochs_and_hears_of_its_commits(local_env: EnvironmentFactory, keyed: bool) -> None:
    write(local_env(1, 10), Notes("life"), keyed)
    committer = ["open committer", "sweep", "close committer"]
    assert [event for event in EVENTS["life"] if isinstance(event, str)] == committer
    writer = [event[1:] for event in EVENTS["life"] if not isinstance(event, str)]
    assert writer == [("open",), ("committed", 1), ("end",), ("committed", 2), ("close",)]


@pytest.mark.in_this_process
def test_a_writer_that_was_lost_goes_on_from_its_state(local_env: EnvironmentFactory) -> None:
    write(local_env(1, 5, forget=True), Notes("lost"), keyed=True)
    restored = [event[2] for event in EVENTS["lost"] if event[1] == "restore"]
    assert restored == [5, 10, 15, 20], "also the one that hears of the last commit"


@pytest.mark.in_this_process
def test_a_savepoint_has_the_states_of_all_writers(tmp_path: Path) -> None:
    def run(executor: LocalExecutor, parallelism: int) -> None:
        env = StreamExecutionEnvironment(executor=executor)
        env.set_parallelism(parallelism)
        numbers = env.from_collection(list(range(20)), Types.INT()).uid("numbers")
        stream = numbers.key_by(lambda n: n % 4).map(lambda n: n, Types.INT()).uid("map")
        stream.sink_to(Notes("saved")).uid("sink")
        env.execute()

    stopping = LocalExecutor(epoch_records=5, stop_after=2, savepoint_directory=str(tmp_path))
    run(stopping, 2)
    EVENTS.clear()
    before = dict(VISIBLE["saved"])
    run(LocalExecutor(start_from=stopping.savepoint_path), 1)
    states = [state for event in EVENTS["saved"] if event[1] == "restore" for state in event[2:]]
    assert len(states) == 2 and sum(states) == sum(len(records) for records in before.values())
    assert sorted(visible("saved")) == list(range(20))


class NoWriter(Sink):
    """A sink of Java."""


def test_what_is_no_sink_is_refused(local_env: EnvironmentFactory) -> None:
    stream = local_env().from_collection([1], Types.INT())
    with pytest.raises(ProgramError, match="sink_to\\(\\) takes a Sink"):
        stream.sink_to(object())
    with pytest.raises(NotSupportedError, match="Java"):
        Sink("org.example.JavaSink")
    with pytest.raises(JobExecutionError, match="NoWriter cannot be written by Penstock: it has no create_writer"):
        write(local_env(), NoWriter())

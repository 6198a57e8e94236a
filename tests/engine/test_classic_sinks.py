"""Flink's two base classes of sinks: transactions with two phases, and a log that is written ahead."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pytest
from tests.conftest import EnvironmentFactory
from tests.engine import classic_sinks
from tests.engine.classic_sinks import EVENTS, Ledger, LedgerOfContents, LedgerOfOneConnection, SentOnce, Transactions

from penstock.common import Configuration, Types
from penstock.common.errors import JobExecutionError
from penstock.datastream import SinkFunction, StreamExecutionEnvironment
from penstock.engines.local.executor import LocalExecutor


@pytest.fixture(autouse=True)
def _forget() -> None:
    EVENTS.clear()
    classic_sinks.VISIBLE.clear()
    classic_sinks.COMMITTED.clear()
    classic_sinks.CONTENTS.clear()


def write(env: StreamExecutionEnvironment, sink: Any) -> None:
    numbers = env.from_collection(list(range(20)), Types.INT())
    stream = numbers.key_by(lambda n: n % 10).map(lambda n: n, Types.INT())
    (stream.add_sink if isinstance(sink, SinkFunction) else stream.sink_to)(sink).uid("sink")
    env.execute()


def restarting(epoch_records: int) -> StreamExecutionEnvironment:
    configuration = Configuration()
    configuration.set_string("restart-strategy.type", "fixed-delay")
    configuration.set_string("restart-strategy.fixed-delay.delay", "0 s")
    env = StreamExecutionEnvironment(configuration, executor=LocalExecutor(epoch_records=epoch_records))
    env.set_parallelism(1)
    return env


@pytest.mark.in_this_process
@pytest.mark.parametrize("forget", [False, True])
@pytest.mark.parametrize("epoch_records", [3, 1000])
def test_every_record_is_in_one_committed_transaction(
    local_env: EnvironmentFactory, epoch_records: int, forget: bool
) -> None:
    write(local_env(2, epoch_records, forget), Transactions())
    assert sorted(classic_sinks.VISIBLE) == list(range(20))
    begun, ended = classic_sinks.begun_and_ended()
    assert begun == ended, "a transaction was left open"


@pytest.mark.in_this_process
def test_the_life_of_transactions() -> None:
    env = StreamExecutionEnvironment(executor=LocalExecutor(epoch_records=10))
    env.set_parallelism(1)
    write(env, Transactions())
    order = ["begin 0", "pre-commit 0", "begin 1", "commit 0", "pre-commit 1", "begin 2", "abort 2", "commit 1"]
    assert order == EVENTS


@pytest.mark.in_this_process
def test_a_commit_that_fails_is_recovered() -> None:
    write(restarting(5), Transactions(fail_commit_of=1))
    assert sorted(classic_sinks.VISIBLE) == list(range(20))
    assert "recover-and-commit 1" in EVENTS


@pytest.mark.in_this_process
def test_what_a_failed_attempt_has_begun_is_aborted() -> None:
    write(restarting(5), Transactions(fail_at=12))
    assert sorted(classic_sinks.VISIBLE) == list(range(20))
    assert any(event.startswith("recover-and-abort") for event in EVENTS)


def test_the_log_is_sent_once_for_each_subtask_and_epoch(local_env: EnvironmentFactory) -> None:
    write(local_env(2, 10, forget=True), SentOnce(Ledger()))
    assert sorted(classic_sinks.VISIBLE) == list(range(20))
    of_epoch: dict[int, set[int]] = defaultdict(set)
    for subtask, epoch in classic_sinks.COMMITTED:
        of_epoch[epoch].add(subtask)
    assert list(of_epoch.values()) == [{0, 1}, {0, 1}]


@pytest.mark.parametrize("ledger", [Ledger, LedgerOfContents])
def test_what_was_sent_is_not_sent_again(ledger: type[Ledger]) -> None:
    write(restarting(5), SentOnce(ledger(fail_after=2)))
    assert sorted(classic_sinks.VISIBLE) == list(range(20))


def test_values_that_were_not_taken_fail_the_job(local_env: EnvironmentFactory) -> None:
    with pytest.raises(
        JobExecutionError, match=r"send_values\(\) of the sink 'Sink: Writer' did not take the \d+ records"
    ):
        write(local_env(), SentOnce(Ledger(), takes=False))


class NotesOfAnEarlierRun(Ledger):
    """It has sent more epochs than this run will have, under the same id."""

    def is_checkpoint_committed(self, subtask_idx: int, checkpoint_id: int) -> bool:
        return checkpoint_id <= 57


def test_epochs_of_an_earlier_run_are_not_taken_for_those_of_this_one(local_env: EnvironmentFactory) -> None:
    with pytest.raises(JobExecutionError, match="give another --job-id"):
        write(local_env(), SentOnce(NotesOfAnEarlierRun()))


def test_the_last_epoch_of_an_earlier_run_is_not_taken_for_one_of_as_many_epochs(local_env: EnvironmentFactory) -> None:
    write(local_env(), SentOnce(LedgerOfContents()))
    with pytest.raises(JobExecutionError, match="these are other records.* give another --job-id"):
        write(local_env(), SentOnce(LedgerOfContents()))
    assert sorted(classic_sinks.VISIBLE) == list(range(20))


def test_a_commit_that_failed_is_tried_again_with_a_new_connection() -> None:
    write(restarting(5), SentOnce(LedgerOfOneConnection()))
    assert set(classic_sinks.VISIBLE) == set(range(20)) and len(classic_sinks.COMMITTED) == 4

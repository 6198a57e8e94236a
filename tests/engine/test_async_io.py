"""Asynchronous I/O in whole programs, on all engines."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import EnvironmentFactory
from tests.patience import patience

from penstock.common import Time, Types, WatermarkStrategy
from penstock.common.errors import JobExecutionError, ProgramError
from penstock.datastream import AsyncDataStream, AsyncFunction, StreamExecutionEnvironment
from penstock.datastream.connectors.number_seq import NumberSequenceSource
from penstock.engines.local.executor import LocalExecutor
from penstock.runtime.claims import claim_epoch
from penstock.testing.resident_processes import ResidentExecutor


class Slow(AsyncFunction[Any, Any]):
    """Later records answer sooner, so that order has to be made."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    async def async_invoke(self, value: int) -> list[Any]:
        await asyncio.sleep(self._seconds * (1 + (7 * value) % 3))
        return [value * 10]


class FailsOnce(AsyncFunction[Any, Any]):
    def __init__(self, mark: Path) -> None:
        self._mark = mark

    async def async_invoke(self, value: int) -> list[Any]:
        await asyncio.sleep(0.001)
        if value == 17 and not self._mark.exists():
            self._mark.touch()
            raise ValueError("the service is away")
        return [value]


class Logs(AsyncFunction[Any, Any]):
    async def async_invoke(self, value: int) -> list[Any]:
        logging.getLogger("shop").warning("asked for %s", value)
        return []


@pytest.mark.parametrize("epoch_records", [1, 7, 1_000_000])
def test_results_do_not_depend_on_where_epochs_are_cut(local_env: EnvironmentFactory, epoch_records: int) -> None:
    env = local_env(2, epoch_records=epoch_records, forget=True)
    numbers = env.from_collection(range(40), type_info=Types.INT()).key_by(lambda value: value % 5)
    slow = AsyncDataStream.ordered_wait(numbers, Slow(0.002), Time.seconds(10), 4, Types.INT())
    counted = slow.key_by(lambda value: value % 3).reduce(lambda a, b: a + b)
    with counted.execute_and_collect() as results:
        assert max(r for r in results if r % 3 == 0) == sum(v * 10 for v in range(40) if v * 10 % 3 == 0)


def test_order_is_kept_on_one_channel(local_env: EnvironmentFactory) -> None:
    env = local_env(1, epoch_records=5)
    numbers = env.from_collection(range(30))
    with AsyncDataStream.ordered_wait(numbers, Slow(0.002), Time.seconds(10)).execute_and_collect() as results:
        assert list(results) == [value * 10 for value in range(30)]


def _takes(env: StreamExecutionEnvironment) -> float:
    """Seconds for 1,000 calls of 100 ms, a hundred at a time."""

    class Ask(AsyncFunction[Any, Any]):
        async def async_invoke(self, value: int) -> list[Any]:
            await asyncio.sleep(0.1)
            return [value]

    began = time.monotonic()
    answers = AsyncDataStream.unordered_wait(env.from_collection(range(1, 1001)), Ask(), Time.seconds(60), 100)
    with answers.execute_and_collect() as results:
        assert sorted(results) == list(range(1, 1001))
    return time.monotonic() - began


def test_a_hundred_calls_at_a_time(local_env: EnvironmentFactory) -> None:
    assert _takes(local_env(1)) < patience(2.5)


def test_on_resident_tasks_calls_overlap_over_many_epochs() -> None:
    env = StreamExecutionEnvironment(executor=ResidentExecutor(20))
    env.set_parallelism(1)
    assert _takes(env) < patience(12)


def test_a_failed_call_fails_the_job_with_record_and_line(local_env: EnvironmentFactory, tmp_path: Path) -> None:
    env = local_env(1)
    stream = AsyncDataStream.unordered_wait(
        env.from_collection(range(1, 31)), FailsOnce(tmp_path / "mark"), Time.seconds(10)
    )
    with pytest.raises(
        JobExecutionError, match=r"(?s)the service is away.*in FailsOnce.async_invoke\(\) of the record 17"
    ):
        list(stream.execute_and_collect())


def test_a_large_record_does_not_fill_the_message(local_env: EnvironmentFactory) -> None:
    class Fails(AsyncFunction[str, str]):
        async def async_invoke(self, value: str) -> list[str]:
            raise ValueError("no")

    stream = AsyncDataStream.unordered_wait(local_env(1).from_collection(["x" * 100_000]), Fails(), Time.seconds(10))
    with pytest.raises(JobExecutionError, match="of the record 'xxx") as failure:
        list(stream.execute_and_collect())
    assert len(str(failure.value)) < 5_000


def test_nothing_is_lost_or_doubled_when_the_job_restarts(local_env: EnvironmentFactory, tmp_path: Path) -> None:
    env = local_env(2, epoch_records=3)
    env.get_config()
    env._configuration.set_string("restart-strategy.type", "fixed-delay")
    env._configuration.set_string("restart-strategy.fixed-delay.delay", "1 ms")
    stream = AsyncDataStream.unordered_wait(
        env.from_collection(range(1, 31)), FailsOnce(tmp_path / "mark"), Time.seconds(10), 4
    )
    with stream.execute_and_collect() as results:
        assert sorted(results) == list(range(1, 31))


class Stuck(AsyncFunction[Any, Any]):
    """Answers nobody as long as the file is not there, so that a savepoint finds many calls under way."""

    def __init__(self, gate: Path) -> None:
        self._gate = gate

    async def async_invoke(self, value: int) -> list[Any]:
        while not self._gate.exists():
            await asyncio.sleep(0.005)
        return [value]


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize(("before", "after"), [(1, 3), (3, 1), (2, 4), (2, 2)])
def test_calls_under_way_go_on_with_another_parallelism(tmp_path: Path, ordered: bool, before: int, after: int) -> None:
    def run(executor: LocalExecutor, parallelism: int) -> list[int]:
        env = StreamExecutionEnvironment(executor=executor)
        env.set_parallelism(parallelism)
        numbers = env.from_source(NumberSequenceSource(1, 60), WatermarkStrategy.no_watermarks(), "numbers")
        ask = AsyncDataStream.ordered_wait if ordered else AsyncDataStream.unordered_wait
        answers = ask(numbers.uid("numbers").rebalance(), Stuck(tmp_path / "gate"), Time.seconds(60), 50, Types.LONG())
        return list(answers.uid("ask").map(lambda value: value, Types.LONG()).uid("pass").execute_and_collect())

    stopping = LocalExecutor(epoch_records=15, stop_after=2, savepoint_directory=str(tmp_path / "saved"))
    assert run(stopping, before) == [], "no call has an answer yet"
    (tmp_path / "gate").touch()
    found = run(LocalExecutor(start_from=stopping.savepoint_path), after)
    assert sorted(found) == list(range(1, 61))
    if ordered and after == 1 and before == 1:
        assert found == list(range(1, 61))


@pytest.mark.in_this_process
def test_what_calls_log_is_said_by_their_operator(local_env: EnvironmentFactory, caplog: Any) -> None:
    env = local_env(1)
    AsyncDataStream.unordered_wait(env.from_collection(range(1, 4)), Logs(), Time.seconds(10)).print()
    env.execute()
    assert sorted(r.getMessage() for r in caplog.records if r.name == "shop") == [f"asked for {n}" for n in (1, 2, 3)]


def _blocking(value: Any) -> Any:
    return [value]


def test_programs_that_cannot_work_are_refused(local_env: EnvironmentFactory) -> None:
    class NotAsync(AsyncFunction[Any, Any]):
        async_invoke: Callable[..., Any] = _blocking  # type: ignore[assignment]

    stream = local_env(1).from_collection([1, 2, 3])
    with pytest.raises(ProgramError, match="should be declared as 'async def'"):
        AsyncDataStream.unordered_wait(stream, NotAsync(), Time.seconds(1))
    with pytest.raises(ProgramError, match="capacity"):
        AsyncDataStream.unordered_wait(stream, Slow(1), Time.seconds(1), 0)
    with pytest.raises(ProgramError, match="capacity"):
        AsyncDataStream.unordered_wait(stream, Slow(1), Time.seconds(1), "5")  # type: ignore[arg-type]
    with pytest.raises(ProgramError, match="timeout of async I/O is a Time"):
        AsyncDataStream.unordered_wait(stream, Slow(1), 5)  # type: ignore[arg-type]


def test_two_attempts_of_one_task_cannot_both_be_used(tmp_path: Path) -> None:
    """Answers may come in another epoch the second time: a task that had ended must not be run again on its own."""
    claim_epoch(str(tmp_path), "0-1-0", "nothing")
    claim_epoch(str(tmp_path), "0-1-0", "snapshot-1")
    with pytest.raises(JobExecutionError, match="the whole epoch has to be computed again"):
        claim_epoch(str(tmp_path), "0-1-0", "snapshot-1")
    claim_epoch(str(tmp_path), "1-1-0", "snapshot-1")  # the job was restarted

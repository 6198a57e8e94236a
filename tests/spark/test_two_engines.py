"""A worker that dies, on both engines, and what tasks that stay must not take from others."""

from __future__ import annotations

import os
import signal
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import EnvironmentFactory

from penstock.common import Types, WatermarkStrategy
from penstock.datastream import KeyedProcessFunction, SourceFunction, StreamExecutionEnvironment
from penstock.datastream.connectors.number_seq import NumberSequenceSource
from penstock.datastream.functions import MapFunction
from penstock.datastream.state import ValueStateDescriptor

pytestmark = pytest.mark.spark

SMALL_EPOCHS = {"penstock.epoch.initial-records": "500", "penstock.epoch.max-records": "500"}
RECORDS, KEYS = 20_000, 13


class Count(KeyedProcessFunction):
    def open(self, runtime_context: Any) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value: Any, ctx: Any) -> Any:
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        yield value, count


class DyingOnce(MapFunction):
    """Its process is killed, once in the life of the job."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def map(self, value: Any) -> Any:
        if value == RECORDS // 2:
            try:
                self.mark.touch(exist_ok=False)
            except FileExistsError:
                return value % KEYS
            os.kill(os.getpid(), signal.SIGKILL)
        return value % KEYS


def test_a_killed_worker_is_replaced_and_nothing_is_lost_or_doubled(
    spark_env: EnvironmentFactory, tmp_path: Path
) -> None:
    env = spark_env(4, SMALL_EPOCHS)  # more subtasks than cores
    numbers = env.from_source(NumberSequenceSource(1, RECORDS), WatermarkStrategy.no_watermarks(), "numbers")
    keys = Counter(number % KEYS for number in range(1, RECORDS + 1))
    counted = numbers.map(DyingOnce(tmp_path / "died")).key_by(lambda key: key).process(Count())
    with counted.execute_and_collect() as results:
        assert Counter(results) == Counter((key, n) for key, times in keys.items() for n in range(1, times + 1))
    assert (tmp_path / "died").exists()


class UntilTold(SourceFunction):
    """Emits numbers until there is a file."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self._file = file
        self._cancelled = False

    def run(self, ctx: SourceFunction.SourceContext) -> None:
        number = 0
        while not self._cancelled and not self._file.exists():
            ctx.collect(number)
            number += 1

    def cancel(self) -> None:
        self._cancelled = True


@pytest.mark.parametrize("engine", ["resident"])
def test_jobs_that_stay_leave_room_for_others_and_for_spark(spark_env: EnvironmentFactory, tmp_path: Path) -> None:
    def start(env: StreamExecutionEnvironment) -> Any:
        env.add_source(UntilTold(tmp_path / "enough")).rebalance().filter(lambda n: False).print()
        return env.execute_async()

    endless = [start(spark_env(2)) for _ in range(3)]
    with (
        spark_env(2).from_collection([1, 2, 3]).key_by(lambda n: n).map(lambda n: n * n).execute_and_collect() as found
    ):
        assert sorted(found) == [1, 4, 9]
    from penstock.engines.spark.session import running_session

    assert running_session().range(1000).count() == 1000
    (tmp_path / "enough").touch()
    for job in endless:
        job.get_job_execution_result().result()

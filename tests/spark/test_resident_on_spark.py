"""The resident engine where it belongs: long-running tasks in Spark's Python workers."""

from __future__ import annotations

import os
import signal
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from penstock.common import Types, WatermarkStrategy
from penstock.common.errors import JobExecutionError
from penstock.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from penstock.datastream.connectors.number_seq import NumberSequenceSource
from penstock.datastream.functions import MapFunction
from penstock.datastream.state import ValueStateDescriptor

pytestmark = pytest.mark.spark

RESIDENT = {
    "penstock.engine": "resident",
    "penstock.epoch.initial-records": "500",
    "penstock.epoch.max-records": "500",
}
RECORDS, KEYS = 20_000, 13


class Count(KeyedProcessFunction):
    def open(self, runtime_context: Any) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value: Any, ctx: Any) -> Any:
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        yield value, count


def counts(env: StreamExecutionEnvironment, function: Any) -> Counter[Any]:
    numbers = env.from_source(NumberSequenceSource(1, RECORDS), WatermarkStrategy.no_watermarks(), "numbers")
    with numbers.map(function).key_by(lambda key: key).process(Count()).execute_and_collect() as results:
        return Counter(results)


def expected() -> Counter[Any]:
    keys = Counter(number % KEYS for number in range(1, RECORDS + 1))
    return Counter((key, count) for key, times in keys.items() for count in range(1, times + 1))


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


def test_a_killed_worker_is_replaced_and_nothing_is_lost_or_doubled(spark_env: Any, tmp_path: Path) -> None:
    assert counts(spark_env(2, RESIDENT), DyingOnce(tmp_path / "died")) == expected()
    assert (tmp_path / "died").exists()


def test_more_subtasks_than_cores_share_slots(spark_env: Any) -> None:
    assert counts(spark_env(4, RESIDENT), lambda number: number % KEYS) == expected()


class Failing(MapFunction):
    def map(self, value: Any) -> Any:
        raise ValueError("not this one")


def test_a_failure_of_user_code_names_operator_and_line(spark_env: Any) -> None:
    with pytest.raises(JobExecutionError, match="not this one") as failed:
        counts(spark_env(2, RESIDENT), Failing())
    assert failed.value.failure.task is not None


def test_a_job_with_a_streaming_dataframe_stays_on_micro_batches_and_says_so(
    spark_env: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    from penstock.common.configuration import Configuration
    from penstock.engines.spark.engine import SparkEngine
    from penstock.engines.spark.executor import engine_for
    from penstock.graph.job_request import JobRequest

    class Frame:
        isStreaming = True

    class Node:
        id, params, inputs = 1, {"spark_frame": Frame()}, ()

    configuration = Configuration.from_dict(RESIDENT).to_dict()
    request: Any = JobRequest("job", (), configuration, 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("penstock.engines.spark.engine.upstream_first", lambda sinks: [Node()])
        assert isinstance(engine_for(request), SparkEngine)
    assert "from_spark()" in capsys.readouterr().err

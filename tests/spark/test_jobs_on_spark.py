"""A few jobs on real Spark; everything else is proved on the in-process executor, which runs the same containers."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import EnvironmentFactory

from penstock.common import Row, Time, Types, WatermarkStrategy
from penstock.common.errors import JobCancelledError, JobExecutionError
from penstock.common.job_status import JobStatus
from penstock.datastream import (
    AsyncDataStream,
    AsyncFunction,
    KeyedProcessFunction,
    MapFunction,
    OutputTag,
    ProcessFunction,
    RuntimeContext,
    SourceFunction,
    StreamExecutionEnvironment,
)
from penstock.datastream.connectors.number_seq import NumberSequenceSource
from penstock.datastream.state import ListStateDescriptor, ValueStateDescriptor

pytestmark = pytest.mark.spark

SMALL_EPOCHS = {"penstock.epoch.initial-records": "40", "penstock.epoch.max-records": "40"}


def collected(stream: Any) -> list[Any]:
    with stream.execute_and_collect() as records:
        return list(records)


class Sessions(KeyedProcessFunction):
    """Value and list state, a timer at the end, and a plain attribute."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.INT()))
        self.values = runtime_context.get_list_state(ListStateDescriptor("values", Types.INT()))

    def process_element(self, value: int, ctx: KeyedProcessFunction.Context) -> Any:
        self.count.update((self.count.value() or 0) + 1)
        self.values.add(value)
        ctx.timer_service().register_event_time_timer(1 << 60)
        yield "count", ctx.get_current_key(), self.count.value()

    def on_timer(self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext) -> Any:
        yield "all", ctx.get_current_key(), tuple(self.values.get())


class Running(MapFunction):
    def __init__(self) -> None:
        self.seen = 0

    def map(self, value: Any) -> Any:
        self.seen += 1
        return value


def keyed_job(env: StreamExecutionEnvironment) -> list[Any]:
    numbers = env.from_collection(list(range(200)), Types.INT()).map(Running(), Types.INT()).set_parallelism(1)
    return sorted(collected(numbers.key_by(lambda n: n % 7).process(Sessions()).rebalance().map(lambda r: r)))


def test_keyed_job_over_several_epochs_equals_the_local_one(
    spark_env: EnvironmentFactory, local_env: EnvironmentFactory
) -> None:
    assert keyed_job(spark_env(4, SMALL_EPOCHS)) == keyed_job(local_env(1))


def divide(value: int) -> float:
    return 10 / value


def test_failure_without_a_spark_stack(spark_env: EnvironmentFactory) -> None:
    env = spark_env(2)
    env.from_collection([2, 1, 0]).map(divide).name("divider").print()
    with pytest.raises(JobExecutionError) as caught:
        env.execute()
    message = str(caught.value)
    assert message.startswith("ZeroDivisionError in operator 'divider'")
    assert "return 10 / value" in message
    for noise in ("org.apache", "Py4J", "pyspark", "JVM", "at java."):
        assert noise not in message
    assert caught.value.__cause__ is None or "Py4J" not in repr(caught.value.__cause__)


EVEN = OutputTag("even", Types.INT())


class Split(ProcessFunction):
    def process_element(self, value: int, ctx: Any) -> Any:
        if value % 2 == 0:
            yield EVEN, value
        yield value


def test_side_outputs_and_several_sinks(spark_env: EnvironmentFactory, capsys: pytest.CaptureFixture[str]) -> None:
    env = spark_env(2)
    split = env.from_collection(list(range(10)), Types.INT()).process(Split(), Types.INT())
    split.get_side_output(EVEN).map(lambda n: f"even {n}", Types.STRING()).print()
    split.key_by(lambda n: n % 2).reduce(lambda a, b: a + b).map(lambda n: f"sum {n}", Types.STRING()).print()
    split.map(lambda n: f"all {n}", Types.STRING()).print()
    env.execute()
    lines = Counter(line.split("> ")[1].split(" ")[0] for line in capsys.readouterr().out.splitlines())
    assert lines == Counter({"even": 5, "sum": 10, "all": 10})


class Endless(SourceFunction):
    def __init__(self) -> None:
        super().__init__()
        self._cancelled = False

    def run(self, ctx: SourceFunction.SourceContext) -> None:
        number = 0
        while not self._cancelled:
            ctx.collect(number)
            number += 1
            time.sleep(0.001)

    def cancel(self) -> None:
        self._cancelled = True


def test_asynchronous_job_can_be_cancelled(spark_env: EnvironmentFactory) -> None:
    env = spark_env(1)
    stream = env.add_source(Endless()).key_by(lambda n: n % 3).map(lambda n: n)
    with stream.execute_and_collect() as records:
        assert len([next(records) for _ in range(20)]) == 20
    env.add_source(Endless()).map(lambda n: n).filter(lambda n: False).print()
    client = env.execute_async("endless")
    assert client.get_job_status().result() == JobStatus.RUNNING
    threading.Timer(1.0, client.cancel).start()
    with pytest.raises(JobCancelledError):
        client.get_job_execution_result().result()
    assert client.get_job_status().result() == JobStatus.CANCELED


def test_chain_of_a_thousand_operators(spark_env: EnvironmentFactory) -> None:
    stream = spark_env(1).from_collection([0, 1])
    for _ in range(1000):
        stream = stream.map(lambda n: n + 1)
    assert collected(stream) == [1000, 1001]


def test_records_of_ten_megabytes(spark_env: EnvironmentFactory) -> None:
    stream = spark_env(2).from_collection([1, 2, 3]).map(lambda n: bytes([n]) * 10_000_000).key_by(lambda b: b[0])
    assert sorted(collected(stream.map(lambda b: (b[0], len(b))))) == [(n, 10_000_000) for n in (1, 2, 3)]


def test_more_subtasks_than_cores(spark_env: EnvironmentFactory) -> None:
    stream = spark_env(4).from_collection(list(range(100))).key_by(lambda n: n % 10).process(Sessions())
    counts = [record for record in collected(stream) if record[0] == "count"]
    assert Counter(count for _, _, count in counts) == Counter(dict.fromkeys(range(1, 11), 10))


def test_empty_stream(spark_env: EnvironmentFactory) -> None:
    assert collected(spark_env(2).from_collection([], Types.INT()).key_by(lambda n: n).map(lambda n: n)) == []


class FailsOnce(MapFunction):
    """Fails in the first attempt, after an epoch that was committed."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.attempt = runtime_context.get_attempt_number()

    def map(self, value: int) -> tuple[int, int]:
        if value == 60 and self.attempt == 0:
            raise ValueError("once")
        return value, self.attempt


def test_functions_know_the_attempt_after_a_restart(spark_env: EnvironmentFactory) -> None:
    restart = {"restart-strategy.type": "fixed-delay", "restart-strategy.fixed-delay.delay": "1 ms"}
    env = spark_env(1, {**SMALL_EPOCHS, **restart})
    # After an exchange as well: a container whose epochs all went well is made again, too.
    records = collected(
        env.from_collection(list(range(80))).map(FailsOnce()).key_by(lambda v: v[0] % 2).map(Attempts())
    )
    assert sorted(records) == [(value, value // 40, value // 40) for value in range(80)]


class Attempts(MapFunction):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.attempt = runtime_context.get_attempt_number()

    def map(self, value: tuple[int, int]) -> tuple[int, int, int]:
        return *value, self.attempt


def test_a_stream_as_a_frame_of_spark_and_async_calls(spark_env: EnvironmentFactory, tmp_path: Path) -> None:
    """One job for two things that only Spark can show: calls that live across epochs, and results that Spark reads."""

    class Square(AsyncFunction[int, Row]):
        async def async_invoke(self, value: int) -> list[Row]:
            await asyncio.sleep(0.05)
            return [Row(n=value, square=value * value, tags=[str(value)])]

    env = spark_env(2, SMALL_EPOCHS)
    numbers = env.from_source(NumberSequenceSource(1, 200), WatermarkStrategy.no_watermarks(), "numbers")
    row = Types.ROW_NAMED(["n", "square", "tags"], [Types.LONG(), Types.LONG(), Types.OBJECT_ARRAY(Types.STRING())])
    squares = AsyncDataStream.unordered_wait(numbers.rebalance(), Square(), Time.seconds(30), 20, row)
    frame = squares.to_spark(str(tmp_path / "frame"))
    assert frame.dtypes == [("n", "bigint"), ("square", "bigint"), ("tags", "array<string>")]
    found = frame.selectExpr("count(*)", "count(distinct n)", "sum(square)").first()
    assert tuple(found) == (200, 200, sum(n * n for n in range(1, 201)))


def test_a_stream_without_records_is_a_frame_without_rows(spark_env: EnvironmentFactory, tmp_path: Path) -> None:
    nothing = spark_env(1, SMALL_EPOCHS).from_collection([1, 2], Types.LONG()).filter(lambda value: False)
    frame = nothing.to_spark(str(tmp_path / "frame"))
    assert frame.dtypes == [("value", "bigint")] and frame.collect() == []

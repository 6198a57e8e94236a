"""A program with state, stopped with a savepoint, or started from one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from penstock.common import Time, Types, WatermarkStrategy
from penstock.common.watermark_strategy import TimestampAssigner
from penstock.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from penstock.datastream.state import ListStateDescriptor, MapStateDescriptor, ValueStateDescriptor
from penstock.datastream.window import TumblingEventTimeWindows
from penstock.engines.local.executor import LocalExecutor

TIMER = 1_000_000
RECORDS = 40


class _Time(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return int(value)


class Counting(KeyedProcessFunction):
    def open(self, runtime_context: Any) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))
        self.seen = runtime_context.get_list_state(ListStateDescriptor("seen", Types.LONG()))
        self.digits = runtime_context.get_map_state(MapStateDescriptor("digits", Types.INT(), Types.LONG()))

    def process_element(self, value: int, ctx: Any) -> Any:
        self.count.update((self.count.value() or 0) + 1)
        self.seen.add(value)
        self.digits.put(value % 10, value)
        ctx.timer_service().register_event_time_timer(TIMER)
        yield ctx.get_current_key(), self.count.value()


def run(parallelism: int = 2, count_uid: str = "counting", **options: Any) -> tuple[list[Any], str | None]:
    """The results of the counting function, and the path of the savepoint if it was stopped."""
    executor = LocalExecutor(epoch_records=10, **options)
    env = StreamExecutionEnvironment(executor=executor)
    env.set_parallelism(parallelism)
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(_Time())
    numbers = env.from_collection(list(range(RECORDS)), Types.LONG()).uid("numbers")
    timed = numbers.assign_timestamps_and_watermarks(strategy).uid("times")
    keyed = timed.key_by(lambda number: number % 3)
    counts = keyed.process(Counting()).uid(count_uid)
    windows = (
        keyed.window(TumblingEventTimeWindows.of(Time.seconds(1)))
        .reduce(lambda a, b: a + b)
        .uid("windows")
        .filter(lambda number: False)
        .uid("nothing")
        .map(lambda number: (number, number))
        .uid("pairs")
    )
    return list(counts.union(windows).execute_and_collect()), executor.savepoint_path


def savepoint_after(epochs: int, directory: Path) -> str:
    _, path = run(stop_after=epochs, savepoint_directory=str(directory))
    assert path is not None
    return path

"""What a whole windowed job costs per record without Spark: source, exchange and windows of two subtasks, by level.

python benchmarks/typed_windows.py [--records 6000000] [--keys 100000] [--per-second 1500000] [--spark]

Both subtasks run in this process one after the other, so two cores take half of the CPU time: the rates shown assume
that. An epoch is `--epoch-records` long and ends with a snapshot, as on Spark.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import time
from collections.abc import Callable
from typing import Any

from penstock.common import Time, Types, WatermarkStrategy
from penstock.common.watermark_strategy import TimestampAssigner
from penstock.datastream import AggregateFunction, DataStream, StreamExecutionEnvironment, WindowedStream
from penstock.datastream.connectors.number_seq import NumberSequenceSource
from penstock.datastream.functions import SinkFunction
from penstock.datastream.window import SlidingEventTimeWindows, TumblingEventTimeWindows
from penstock.graph.job_request import JobRequest
from penstock.plan.translation import translate
from penstock.runtime.blueprint import JobBlueprint, JobSettings
from penstock.runtime.container import Container
from penstock.runtime.exchange import ExchangeRow
from penstock.runtime.sources.base import Assignment
from penstock.testing.epochs import whole_epoch

SUBTASKS = 2
RECORD = Types.TUPLE([Types.LONG(), Types.LONG(), Types.LONG()])  # key, amount, time
Program = Callable[[WindowedStream], DataStream]


class CountAndSum(AggregateFunction):
    def create_accumulator(self) -> tuple[int, int]:
        return 0, 0

    def add(self, value: Any, accumulator: tuple[int, int]) -> tuple[int, int]:
        return accumulator[0] + 1, accumulator[1] + value[1]

    def get_result(self, accumulator: tuple[int, int]) -> tuple[int, int]:
        return accumulator

    def merge(self, acc_a: tuple[int, int], acc_b: tuple[int, int]) -> tuple[int, int]:
        return acc_a[0] + acc_b[0], acc_a[1] + acc_b[1]


class Nowhere(SinkFunction):
    results = 0

    def invoke(self, value: Any, context: Any) -> None:
        Nowhere.results += 1


class MomentOfRecord(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return value[2]  # type: ignore[no-any-return]


class Blueprints:
    """An executor that only keeps what it should run."""

    def submit(self, request: JobRequest) -> Any:
        self.request = request
        raise SystemExit


def build(env: StreamExecutionEnvironment, program: Program, assigner: Any, options: Any) -> None:
    """Numbers -> a Python map that makes typed records -> event time -> key -> window -> nowhere."""
    env.set_parallelism(SUBTASKS)
    keys, rate = options.keys, options.per_second // SUBTASKS
    half = options.records // SUBTASKS
    source = NumberSequenceSource(0, options.records - 1)
    numbers = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers")
    records = numbers.map(
        lambda n: (n * 7919 % keys, n & 15, 1_000_000 + n % half * 1000 // rate),
        output_type=RECORD,
    ).assign_timestamps_and_watermarks(
        WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(MomentOfRecord())
    )
    program(records.key_by(lambda r: r[0], key_type=Types.LONG()).window(assigner)).add_sink(Nowhere())


def blueprint_of(program: Program, assigner: Any, options: Any) -> JobBlueprint:
    executor = Blueprints()
    env = StreamExecutionEnvironment(executor=executor)
    build(env, program, assigner, options)
    with contextlib.suppress(SystemExit):
        env.execute()
    return translate(executor.request, JobSettings("0" * 32, "benchmark"))


def on_spark(title: str, program: Program, assigner: Any, options: Any) -> None:
    """The rate between a short and a long job of one session, so that starts do not count."""
    seconds = {}
    for records in (options.records // 4, options.records // 4, options.records):
        env = StreamExecutionEnvironment.get_execution_environment()
        build(env, program, assigner, argparse.Namespace(**{**vars(options), "records": records}))
        seconds[records] = env.execute().get_net_runtime() / 1000
    short, long = sorted(seconds)
    rate = (long - short) / (seconds[long] - seconds[short])
    print(
        f"{title:32} on Spark: {long:,} records in {seconds[long]:.1f} s, {short:,} in {seconds[short]:.1f} s"
        f" -> {rate:11,.0f} records/s in steady state",
        flush=True,
    )


def measure(title: str, program: Program, assigner: Any, options: Any) -> None:
    job = blueprint_of(program, assigner, options)
    (source,) = [operator.id for operator in job.operators if operator.kind == "source"]
    levels = [[Container(job, level, subtask) for subtask in range(SUBTASKS)] for level in range(job.levels)]
    for container in [container for level in levels for container in level]:
        container.open()
    cpu = [0.0] * job.levels
    Nowhere.results = 0
    half, step = options.records // SUBTASKS, options.epoch_records // SUBTASKS
    for start in range(0, half, step):
        end = min(half, start + step)
        rows: list[ExchangeRow] = []
        for number, level in enumerate(levels):
            begun = time.process_time()
            produced: list[ExchangeRow] = []
            for subtask, container in enumerate(level):
                work = Assignment([(subtask * half + start, subtask * half + end)], end == half)
                own = [row for row in rows if row.subtask == subtask]
                sent, report = whole_epoch(container, own, {source: work} if number == 0 else None)
                assert report.failure is None, report.failure
                produced += sent
                container.snapshot()
            cpu[number] += time.process_time() - begun
            rows = produced
    each = [seconds * 1e9 / options.records for seconds in cpu]
    print(
        f"{title:32} {sum(each):6.0f} ns/record = {' + '.join(f'{ns:.0f}' for ns in each)} by level"
        f" -> {SUBTASKS * 1e9 / sum(each):11,.0f} records/s on {SUBTASKS} cores   {Nowhere.results:9,} results",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=6_000_000)
    parser.add_argument("--keys", type=int, default=100_000)
    parser.add_argument("--per-second", type=int, default=1_500_000, help="records per second of event time")
    parser.add_argument("--epoch-records", type=int, default=1_500_000)
    parser.add_argument("--spark", action="store_true", help="run the jobs on Spark instead")
    options = parser.parse_args()
    run = on_spark if options.spark else measure
    gc.set_threshold(100_000, 50, 100)  # as in workers
    second = TumblingEventTimeWindows.of(Time.seconds(1))
    sliding = SlidingEventTimeWindows.of(Time.seconds(4), Time.seconds(1))
    run("tumbling 1 s built-in sum", lambda windows: windows.sum(1), second, options)
    run("tumbling 1 s built-in max", lambda windows: windows.max(1), second, options)
    run("tumbling 1 s built-in max_by", lambda windows: windows.max_by(1), second, options)
    run("tumbling 1 s built-in count", lambda windows: windows.count(), second, options)
    run("tumbling 1 s AggregateFunction", lambda windows: windows.aggregate(CountAndSum()), second, options)
    run("sliding 4 s / 1 s built-in sum", lambda windows: windows.sum(1), sliding, options)
    run("sliding 4 s / 1 s AggregateFunction", lambda windows: windows.aggregate(CountAndSum()), sliding, options)


if __name__ == "__main__":
    main()

"""Counts 10,000 records a second in windows of 4 s that slide by 1 s, keeps a running total, and checks all counts.

penstock run examples/sliding_count.py --seconds 30

The running total is operator state: it belongs to the window function's subtask and to no key. A checkpoint is taken
every 6 s, and the job can be stopped with a savepoint and started from it.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable, Iterator

from penstock.common import Time, Types
from penstock.datastream import DataStream, StreamExecutionEnvironment
from penstock.datastream.functions import AggregateFunction, ProcessAllWindowFunction, SourceFunction
from penstock.datastream.state import ListStateDescriptor
from penstock.datastream.window import SlidingEventTimeWindows, TimeWindow
from penstock.functions.checkpointed import (
    CheckpointedFunction,
    FunctionInitializationContext,
    FunctionSnapshotContext,
)

WINDOW_SECONDS, SLIDE_SECONDS = 4, 1
CHECKPOINT_INTERVAL_MS = 6000
STEPS_PER_SECOND = 20

Record = tuple[int, str, str, int]
RECORD = Types.TUPLE([Types.LONG(), Types.STRING(), Types.STRING(), Types.INT()])  # id, name, info, count
RESULT = Types.TUPLE([Types.LONG(), Types.LONG(), Types.LONG()])  # end of the window, records in it, running total


class Events(SourceFunction):
    """The same number of records in each second; in event time they are evenly spread over it.

    `emitted` goes into the snapshot together with what was emitted, so a restarted job goes on behind it.
    """

    def __init__(self, seconds: int, per_second: int, start_ms: int, fast: bool) -> None:
        super().__init__()
        self._records = seconds * per_second
        self._per_second = per_second
        self._start_ms = start_ms
        self._fast = fast
        self._running = True
        self.emitted = 0

    def run(self, ctx: SourceFunction.SourceContext) -> None:
        began = time.monotonic() - self.emitted / self._per_second
        while self._running and self.emitted < self._records:
            with ctx.get_checkpoint_lock():
                step = min(self._records, self.emitted + max(1, self._per_second // STEPS_PER_SECOND))
                for number in range(self.emitted, step):
                    ctx.collect_with_timestamp((number, f"name-{number % 100}", "info", 1), self._moment(number))
                self.emitted = step
                ctx.emit_watermark(self._moment(step) - 1)
            if not self._fast:
                time.sleep(max(0.0, began + self.emitted / self._per_second - time.monotonic()))

    def _moment(self, number: int) -> int:
        return self._start_ms + number * 1000 // self._per_second

    def cancel(self) -> None:
        self._running = False


class Count(AggregateFunction):
    """One number per window instead of its 40,000 records."""

    def create_accumulator(self) -> int:
        return 0

    def add(self, value: Record, accumulator: int) -> int:
        return accumulator + value[3]

    def get_result(self, accumulator: int) -> int:
        return accumulator

    def merge(self, acc_a: int, acc_b: int) -> int:
        return acc_a + acc_b


class RunningTotal(ProcessAllWindowFunction[int, tuple[int, int, int], TimeWindow], CheckpointedFunction):
    """(end of the window, its count, all counts so far)."""

    def initialize_state(self, context: FunctionInitializationContext) -> None:
        store = context.get_operator_state_store()
        self.saved_total = store.get_list_state(ListStateDescriptor("total", Types.LONG()))
        self.total = sum(self.saved_total.get())

    def snapshot_state(self, context: FunctionSnapshotContext) -> None:
        self.saved_total.update([self.total])

    def process(
        self, context: ProcessAllWindowFunction.Context[TimeWindow], elements: Iterable[int]
    ) -> Iterator[tuple[int, int, int]]:
        (count,) = elements
        self.total += count
        yield context.window().end, count, self.total


def counts(
    env: StreamExecutionEnvironment, seconds: int, per_second: int, start_ms: int, fast: bool = False
) -> DataStream:
    """The job: one result per window."""
    env.set_parallelism(1)  # windows over all records are one subtask's work, and results keep their order
    env.enable_checkpointing(CHECKPOINT_INTERVAL_MS)
    return (
        env.add_source(Events(seconds, per_second, start_ms, fast), "events", RECORD)
        .window_all(SlidingEventTimeWindows.of(Time.seconds(WINDOW_SECONDS), Time.seconds(SLIDE_SECONDS)))
        .aggregate(Count(), RunningTotal(), output_type=RESULT)
    )


def expected_counts(seconds: int, per_second: int, start_ms: int) -> list[tuple[int, int, int]]:
    """What the job must give: every window covers up to four of the seconds in which records were made."""
    expected, total = [], 0
    for end in range(1, seconds + WINDOW_SECONDS):
        covered = min(end, seconds) - max(0, end - WINDOW_SECONDS)
        total += covered * per_second
        expected.append((start_ms + end * 1000, covered * per_second, total))
    return expected


def main() -> int:
    options = read_options()
    start_ms = int(time.time()) * 1000
    print(f"{options.rate:,} records a second for {options.seconds} s; windows of {WINDOW_SECONDS} s every second.")
    print("Starting Spark ...", flush=True)
    env = StreamExecutionEnvironment.get_execution_environment()
    results = []
    job = counts(env, options.seconds, options.rate, start_ms, options.fast)
    with job.execute_and_collect("sliding count") as rows:
        print(f"\n  {'window':>15}   {'records':>9}   {'running total':>15}", flush=True)
        for end, count, total in rows:
            results.append((end, count, total))
            second = (end - start_ms) // 1000
            print(f"  {second - WINDOW_SECONDS:>4} s to {second:>4} s   {count:>9,}   {total:>15,}", flush=True)
    return compare(results, expected_counts(options.seconds, options.rate, start_ms))


def compare(results: list[tuple[int, int, int]], expected: list[tuple[int, int, int]]) -> int:
    if results == expected:
        print(f"\nOK: all {len(expected)} windows have the right counts.")
        return 0
    print(f"\nWRONG: {len(results)} windows, expected were {len(expected)}. The first that differ:")
    missing = [row for row in expected if row not in results]
    surplus = [row for row in results if row not in expected]
    for title, rows in (("missing", missing), ("not expected", surplus)):
        for row in rows[:5]:
            print(f"  {title}: window ending at {row[0]}, {row[1]:,} records, running total {row[2]:,}")
    return 1


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Counts records in sliding windows and checks the counts.")
    parser.add_argument("--seconds", type=positive, default=30, metavar="N", help="how long records are made")
    parser.add_argument("--rate", type=positive, default=10_000, metavar="N", help="records a second")
    parser.add_argument("--fast", action="store_true", help="make them as fast as possible, with the same timestamps")
    return parser.parse_args()


def positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is less than 1")
    return number


if __name__ == "__main__":
    sys.exit(main())

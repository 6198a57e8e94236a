"""What windows cost per record, measured on the operator harness: one subtask, no exchange, no Spark.

python benchmarks/micro_windows.py [--records 1000000] [--keys 100000]
"""

from __future__ import annotations

import argparse
import gc
import random
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from penstock.common.typeinfo import Types
from penstock.datastream.functions import AggregateFunction, ReduceFunctionWrapper
from penstock.datastream.window import (
    EventTimeSessionWindows,
    EventTimeTrigger,
    SlidingEventTimeWindows,
    TumblingEventTimeWindows,
)
from penstock.functions.rolling import Maximum, Sum
from penstock.functions.window_count import Count
from penstock.runtime.arrow_codec import codec_for
from penstock.runtime.batch import Batch
from penstock.runtime.windows.settings import WindowSettings
from penstock.testing.harness import OperatorHarness

BATCH = 32_768
RECORDS_PER_MILLISECOND = 300
PAIR = Types.TUPLE([Types.INT(), Types.LONG()])


class CountAndSum(AggregateFunction):
    def create_accumulator(self) -> tuple[int, int]:
        return 0, 0

    def add(self, value: Any, accumulator: tuple[int, int]) -> tuple[int, int]:
        return accumulator[0] + 1, accumulator[1] + value[1]

    def get_result(self, accumulator: tuple[int, int]) -> tuple[int, int]:
        return accumulator

    def merge(self, acc_a: tuple[int, int], acc_b: tuple[int, int]) -> tuple[int, int]:
        return acc_a[0] + acc_b[0], acc_a[1] + acc_b[1]


class MergeableCountAndSum(CountAndSum):
    mergeable = True


class GeneralTrigger(EventTimeTrigger[Any]):
    """The default trigger, which the engine does not know as such: it takes the general path."""


def batches(records: int, keys: int, disorder: int, typed: bool) -> Iterator[Batch]:
    """Random keys, `RECORDS_PER_MILLISECOND` of event time, each up to `disorder` milliseconds too early."""
    source = random.Random(7)
    for start in range(0, records, BATCH):
        positions = range(start, min(start + BATCH, records))
        drawn = [source.randrange(keys) for _ in positions]
        times = [position // RECORDS_PER_MILLISECOND + 100_000 for position in positions]
        if disorder:
            times = [moment - source.randrange(disorder) for moment in times]
        batch = Batch([(key, key % 10) for key in drawn], times, drawn)
        codec = codec_for(PAIR)
        yield Batch.of_columns(codec, codec.encode(batch.values), batch.times, batch.key_column) if typed else batch


def measure(title: str, settings: WindowSettings, arguments: argparse.Namespace, typed: bool = False) -> None:
    stream = list(batches(arguments.records, arguments.keys, arguments.disorder, typed))
    last_times = [max(batch.timestamps or [0]) for batch in stream]
    harness = OperatorHarness("window", None, {"window": settings}, key=lambda value: value[0])
    adding = firing = saving = 0.0
    for number, batch in enumerate(stream):
        begun = time.process_time()
        harness.operator.process(batch, 0)
        added = time.process_time()
        harness.watermark(last_times[number] - arguments.disorder - 1)
        fired = time.process_time()
        adding += added - begun
        firing += fired - added
        if number % 8 == 7:
            harness.snapshot()
            harness._snapshots.clear()
            saving += time.process_time() - fired
    begun = time.process_time()
    harness.end_of_input()
    firing += time.process_time() - begun
    each = 1e9 / arguments.records
    print(
        f"{title:34} {(adding + firing + saving) * each:8.0f} ns/record = {adding * each:6.0f} add"
        f" + {firing * each:6.0f} fire + {saving * each:6.0f} snapshot   {len(harness.results):9,} results"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--keys", type=int, default=100_000)
    parser.add_argument("--disorder", type=int, default=0, help="milliseconds")
    arguments = parser.parse_args()
    gc.set_threshold(100_000, 50, 100)  # as in workers
    second = TumblingEventTimeWindows(1000, 0)
    sliding = SlidingEventTimeWindows(4000, 1000, 0)
    trigger = second.get_default_trigger(None)
    total = ReduceFunctionWrapper(lambda a, b: (a[0], a[1] + b[1]))
    aggregated = WindowSettings(second, trigger, aggregation=CountAndSum())
    general = GeneralTrigger()

    def run(title: str, assigner: Any, aggregation: Any, typed: bool = False) -> None:
        measure(title, WindowSettings(assigner, trigger, aggregation=aggregation), arguments, typed)

    run("tumbling 1 s aggregate", second, CountAndSum())
    run("tumbling 1 s reduce", second, total)
    run("tumbling 1 s built-in sum", second, Sum(1, PAIR))
    run("tumbling 1 s built-in sum, typed", second, Sum(1, PAIR), typed=True)
    run("tumbling 1 s built-in max, typed", second, Maximum(1, PAIR), typed=True)
    run("tumbling 1 s count, typed", second, Count(), typed=True)
    run("sliding 4 s / 1 s aggregate", sliding, CountAndSum())
    run("sliding 4 s / 1 s mergeable", sliding, MergeableCountAndSum())
    run("sliding 4 s / 1 s reduce", sliding, total)
    run("sliding 4 s / 1 s sum, typed", sliding, Sum(1, PAIR), typed=True)
    run("session 500 ms aggregate", EventTimeSessionWindows(500), CountAndSum())
    measure("general path, tumbling aggregate", replace(aggregated, trigger=general), arguments)
    measure("tumbling 1 s elements", WindowSettings(second, trigger), arguments)
    measure("general path, tumbling elements", WindowSettings(second, general), arguments)


if __name__ == "__main__":
    main()

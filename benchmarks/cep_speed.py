"""What patterns cost per event, measured on the operator harness: one subtask, no exchange, no Spark.

python benchmarks/cep_speed.py [--events 1000000] [--keys 10000] [--memory]

The bare loop beside it does the same by hand: a dictionary with the last small charge of each key. With --memory it
counts what is kept while ten million events go through a pattern of ten seconds.
"""

from __future__ import annotations

import argparse
import gc
import random
import resource
import time
from collections.abc import Iterator
from typing import Any

import pyarrow.compute as pc

from penstock.cep import ColumnCondition, Pattern, PatternProcessFunction
from penstock.common.time import Time
from penstock.common.typeinfo import Types
from penstock.runtime.arrow_codec import codec_for
from penstock.runtime.batch import Batch
from penstock.runtime.cep.settings import PARAMETER, CepSettings
from penstock.runtime.key_columns import column_of_keys
from penstock.testing.harness import OperatorHarness

BATCH = 32_768
EVENTS_PER_MILLISECOND = 10
SMALL, LARGE, WINDOW = 10, 900, 60_000
CHARGE = Types.TUPLE([Types.LONG(), Types.LONG()])  # key, amount


class Pairs(PatternProcessFunction):
    def process_match(self, match: Any, ctx: Any) -> Any:
        return [(match["small"][0], match["large"][0])]


def small(charge: Any) -> bool:
    return charge[1] < SMALL * 10  # one in ten


def large(charge: Any) -> bool:
    return charge[1] > LARGE


def batches(events: int, keys: int, disorder: int) -> Iterator[Batch]:
    source = random.Random(7)
    for start in range(0, events, BATCH):
        count = min(BATCH, events - start)
        drawn = [source.randrange(keys) for _ in range(count)]
        times = [(start + i) // EVENTS_PER_MILLISECOND + 100_000 for i in range(count)]
        if disorder:
            times = [moment - source.randrange(disorder) for moment in times]
        yield Batch([(key, source.randrange(1000)) for key in drawn], times, drawn)


def patterns() -> dict[str, Pattern]:
    def begin() -> Pattern:
        return Pattern.begin("small").where(small)

    minute = Time.milliseconds(WINDOW)
    return {
        "small next large": begin().next("large").where(large).within(minute),
        "small followed by large": begin().followed_by("large").where(large).within(minute),
        "three small, then large": begin().times(3).followed_by("large").where(large).within(minute),
        "iterative condition": begin()
        .next("large")
        .where(lambda charge, ctx: charge[1] > 9 * ctx.get_events_for_pattern("small")[0][1])
        .within(minute),
    }


def patterns_on_columns() -> dict[str, Pattern]:
    def begin() -> Pattern:
        return Pattern.begin("small").where(pc.field("f1") < 100)

    minute, large_amount = Time.milliseconds(WINDOW), ColumnCondition(lambda columns: pc.greater(columns["f1"], 900))
    return {
        "small next large, columns": begin().next("large").where(large_amount).within(minute),
        "followed by, columns": begin().followed_by("large").where(large_amount).within(minute),
    }


def in_columns(batch: Batch) -> Batch:
    codec = codec_for(CHARGE)
    assert codec is not None and batch.keys is not None
    return Batch.of_columns(codec, codec.encode(batch.values), batch.times, column_of_keys(batch.keys))


def harness_of(pattern: Pattern) -> OperatorHarness:
    settings = CepSettings(pattern._model(), event_type=CHARGE)
    return OperatorHarness("cep", Pairs(), {PARAMETER: settings}, key=lambda charge: charge[0])


def measure(title: str, pattern: Pattern, stream: list[Batch], disorder: int) -> None:
    harness = harness_of(pattern)
    gc.collect()
    started, snapshots, count = time.process_time(), 0.0, 0
    for number, batch in enumerate(stream):
        harness.operator.process(batch, 0)
        assert batch.timestamps is not None
        harness.watermark(max(batch.timestamps) - disorder - 1)
        count += len(batch)
        if number % 10 == 9:  # an epoch
            begun = time.process_time()
            harness.snapshot()
            harness._snapshots.clear()
            snapshots += time.process_time() - begun
    elapsed = time.process_time() - started
    found = len(harness.output.records)
    print(
        f"{title:28} {count / elapsed:>10,.0f} events/s   {elapsed / count * 1e6:5.2f} us each, "
        f"snapshots {snapshots / elapsed:4.0%}   {found:,} matches"
    )


def bare_loop(stream: list[Batch]) -> None:
    started, count, found = time.process_time(), 0, []
    last: dict[Any, Any] = {}
    for batch in stream:
        assert batch.keys is not None and batch.timestamps is not None
        for key, charge, moment in zip(batch.keys, batch.values, batch.timestamps, strict=True):
            before = last.pop(key, None)
            if before is not None and large(charge) and moment - before[0] < WINDOW:
                found.append((before[1], charge))
            if small(charge):
                last[key] = (moment, charge)
        count += len(batch)
    elapsed = time.process_time() - started
    print(f"{'by hand, no state or time':28} {count / elapsed:>10,.0f} events/s   {elapsed / count * 1e6:5.2f} us each")


def memory(events: int, keys: int) -> None:
    """Ten seconds of event time are a hundred thousand events: that much may be kept, however many there were."""
    pattern = Pattern.begin("small").where(small).followed_by("large").where(lambda charge: False)
    harness = harness_of(pattern.within(Time.seconds(10)))
    operator: Any = harness.operator
    for number, batch in enumerate(batches(events, keys, 0)):
        operator.process(batch, 0)
        assert batch.timestamps is not None
        harness.watermark(batch.timestamps[-1] - 1)
        if number % 10 == 9:
            harness.snapshot()
            harness._snapshots.clear()
        if number % 30 == 29:
            with_matches, entries = operator.matchers()[""].sizes()
            resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
            print(
                f"{(number + 1) * BATCH:>12,} events: {with_matches:>7,} keys, {entries:>8,} entries, "
                f"{len(operator.timers.event):>7,} timers, at most {resident} MB"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--keys", type=int, default=10_000)
    parser.add_argument("--disorder", type=int, default=0, help="milliseconds")
    parser.add_argument("--memory", action="store_true")
    arguments = parser.parse_args()
    if arguments.memory:
        memory(10_000_000 if arguments.events == 1_000_000 else arguments.events, arguments.keys)
        return
    stream = list(batches(arguments.events, arguments.keys, arguments.disorder))
    bare_loop(stream)
    for title, pattern in patterns().items():
        measure(title, pattern, stream, arguments.disorder)
    typed = [in_columns(batch) for batch in stream]
    for title, pattern in patterns_on_columns().items():
        measure(title, pattern, typed, arguments.disorder)


if __name__ == "__main__":
    main()

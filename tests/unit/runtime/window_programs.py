"""One job with every family of windows, typed and untyped, and what it must give: the naive sums of all records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from penstock.common import Time, Types, WatermarkStrategy
from penstock.common.time import Duration
from penstock.common.watermark_strategy import TimestampAssigner
from penstock.datastream import DataStream, StreamExecutionEnvironment
from penstock.datastream.functions import ProcessWindowFunction
from penstock.datastream.window import (
    EventTimeSessionWindows,
    SlidingEventTimeWindows,
    TumblingEventTimeWindows,
)

RECORD = Types.TUPLE([Types.STRING(), Types.LONG(), Types.LONG()])  # key, amount, time
RESULT = Types.TUPLE([Types.STRING(), Types.STRING(), Types.LONG(), Types.LONG()])  # windows, key, end, amount
COUNT = 600
DISORDER, GAP = 40, 30


def records() -> list[tuple[str, int, int]]:
    """Several keys, disorder up to DISORDER ms, gaps between bursts."""
    result = []
    for number in range(COUNT):
        time = number * 7 + number // 50 * 200 - number * 31 % DISORDER
        result.append((f"key-{number * 17 % 11}", number % 23, time))
    return result


class RecordTime(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return value[2]  # type: ignore[no-any-return]


class SumOfElements(ProcessWindowFunction[Any, Any, Any, Any]):
    def process(self, key: str, context: Any, elements: Iterable[Any]) -> Iterable[Any]:
        yield key, sum(element[1] for element in elements), context.window().max_timestamp()


class EndOfWindow(ProcessWindowFunction[Any, Any, Any, Any]):
    def process(self, key: str, context: Any, elements: Iterable[Any]) -> Iterable[Any]:
        for element in elements:
            yield key, element[1], context.window().max_timestamp()


def program(env: StreamExecutionEnvironment) -> DataStream:
    """(name of the windows, key, last timestamp of the window, amount)."""
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(DISORDER))
    stream = env.from_collection(records(), RECORD).assign_timestamps_and_watermarks(
        strategy.with_timestamp_assigner(RecordTime())
    )
    keyed = stream.key_by(lambda record: record[0], key_type=Types.STRING())
    tumbling, sliding = (
        TumblingEventTimeWindows.of(Time.milliseconds(100)),
        SlidingEventTimeWindows.of(Time.milliseconds(200), Time.milliseconds(50)),
    )

    def add(one: Any, other: Any) -> Any:
        return one[0], one[1] + other[1], one[2]

    elements = keyed.window(tumbling).process(SumOfElements())
    reduced = keyed.window(sliding).reduce(add, EndOfWindow())
    sessions = keyed.window(EventTimeSessionWindows.with_gap(Time.milliseconds(GAP))).reduce(add, EndOfWindow())
    counted = keyed.window(tumbling).count()
    # A window after a window: the results of the first carry its last timestamp, so both have the same borders.
    summed = keyed.window(tumbling).sum(1).key_by(lambda record: record[0]).window(tumbling).sum(1)
    named = [
        elements.map(lambda r: ("elements", r[0], r[2], r[1]), output_type=RESULT),
        reduced.map(lambda r: ("sliding", r[0], r[2], r[1]), output_type=RESULT),
        sessions.map(lambda r: ("sessions", r[0], r[2], r[1]), output_type=RESULT),
        counted.map(lambda r: ("count", r[0], 0, r[1]), output_type=RESULT),
        summed.map(lambda r: ("sum", r[0], 0, r[1]), output_type=RESULT),
    ]
    return named[0].union(*named[1:])


def expected() -> Counter[Any]:
    """All windows computed from the list of all records."""
    results: Counter[Any] = Counter()
    by_key: dict[str, list[tuple[int, int]]] = {}
    for key, amount, time in records():
        by_key.setdefault(key, []).append((time, amount))
    for key, found in by_key.items():
        for size, slide, name in ((100, 100, "elements"), (200, 50, "sliding")):
            starts = {s for time, _ in found for s in range(time - size + 1, time + 1) if s % slide == 0}
            for start in starts:
                amounts = [amount for time, amount in found if start <= time < start + size]
                results[name, key, start + size - 1, sum(amounts)] += 1
                if name == "elements":
                    results["count", key, 0, len(amounts)] += 1
                    results["sum", key, 0, sum(amounts)] += 1
        session: list[tuple[int, int]] = []
        for time, amount in [*sorted(found), (1 << 60, 0)]:
            if session and time - session[-1][0] > GAP:
                results["sessions", key, session[-1][0] + GAP - 1, sum(a for _, a in session)] += 1
                session = []
            session.append((time, amount))
    return results

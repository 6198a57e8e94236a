"""Programs whose savepoints of an earlier format are in `old_savepoints`: every kind of operator that keeps something.

Commit fbf766a, the last one that wrote format 2, ran each with parallelism 2 in epochs of EPOCH_RECORDS records, and
stopped it with a savepoint after STOP_AFTER of them. `results-before` is what it had given by then, `results` what it
gives when nobody stops it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from penstock.common import Duration, Time, Types, WatermarkStrategy
from penstock.common.watermark_strategy import TimestampAssigner
from penstock.datastream import DataStream, StreamExecutionEnvironment
from penstock.datastream.functions import (
    AggregateFunction,
    BroadcastProcessFunction,
    KeyedBroadcastProcessFunction,
    KeyedProcessFunction,
    MapFunction,
    ProcessWindowFunction,
    WindowFunction,
)
from penstock.datastream.state import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateTtlConfig,
    ValueStateDescriptor,
)
from penstock.datastream.window import (
    CountTrigger,
    EventTimeSessionWindows,
    PurgingTrigger,
    SlidingEventTimeWindows,
    TumblingEventTimeWindows,
)
from penstock.functions.join import ProcessJoinFunction

SAVEPOINTS = Path(__file__).parent / "old_savepoints"
RECORD = Types.TUPLE([Types.STRING(), Types.LONG(), Types.LONG()])  # key, number, time
RECORDS, EPOCH_RECORDS, STOP_AFTER = 240, 30, 4


class RecordTime(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return int(value[2])


class Summing(AggregateFunction):
    def create_accumulator(self) -> Any:
        return (0, 0)

    def add(self, value: Any, accumulator: Any) -> Any:
        return accumulator[0] + value[1], accumulator[1] + 1

    def get_result(self, accumulator: Any) -> Any:
        return accumulator

    def merge(self, acc_a: Any, acc_b: Any) -> Any:
        return acc_a[0] + acc_b[0], acc_a[1] + acc_b[1]


class AllStates(KeyedProcessFunction):
    """Every kind of keyed state, time to live, plain attributes, and a timer per key that says all of it."""

    def __init__(self) -> None:
        self.calls = 0

    def open(self, runtime_context: Any) -> None:
        ttl = StateTtlConfig.new_builder(Time.days(10_000)).build()
        lasting = ValueStateDescriptor("lasting", Types.LONG())
        lasting.enable_time_to_live(ttl)
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))
        self.untyped = runtime_context.get_state(ValueStateDescriptor("untyped", Types.PICKLED_BYTE_ARRAY()))
        self.lasting = runtime_context.get_state(lasting)
        self.seen = runtime_context.get_list_state(ListStateDescriptor("seen", Types.LONG()))
        self.parity = runtime_context.get_map_state(MapStateDescriptor("parity", Types.INT(), Types.LONG()))
        self.total = runtime_context.get_reducing_state(
            ReducingStateDescriptor("total", lambda a, b: a + b, Types.LONG())
        )
        self.mean = runtime_context.get_aggregating_state(
            AggregatingStateDescriptor("mean", Summing(), Types.TUPLE([Types.LONG(), Types.LONG()]))
        )

    def process_element(self, value: Any, ctx: Any) -> Any:
        self.calls += 1
        self.count.update((self.count.value() or 0) + 1)
        self.untyped.update({value[0]: value[1]})
        self.lasting.update(value[1])
        self.seen.add(value[1])
        self.parity.put(value[1] % 2, (self.parity.get(value[1] % 2) or 0) + 1)
        self.total.add(value[1])
        self.mean.add(value)
        ctx.timer_service().register_event_time_timer(10_000_000)
        return ()

    def on_timer(self, timestamp: int, ctx: Any) -> Any:
        state = (self.count.value(), self.untyped.value(), self.lasting.value(), list(self.seen.get()))
        more = (sorted(self.parity.items()), self.total.get(), self.mean.get(), self.calls)
        yield ctx.get_current_key(), *state, *more


RULES = MapStateDescriptor("rules", Types.STRING(), Types.STRING())


class Tagging(BroadcastProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Any:
        yield value[0], value[1], sorted(ctx.get_broadcast_state(RULES).items())

    def process_broadcast_element(self, value: Any, ctx: Any) -> Any:
        ctx.get_broadcast_state(RULES).put(value, value.upper())
        return ()


class KeyedTagging(KeyedBroadcastProcessFunction):
    process_element = Tagging.process_element
    process_broadcast_element = Tagging.process_broadcast_element


class Offsets(MapFunction):
    """List state that is dealt out, and union list state that everybody sees."""

    def initialize_state(self, context: Any) -> None:
        store = context.get_operator_state_store()
        self.listed = store.get_list_state(ListStateDescriptor("listed", Types.LONG()))
        self.union = store.get_union_list_state(ListStateDescriptor("union", Types.LONG()))
        self.counts = [sum(self.listed.get()), max(self.union.get(), default=0)]

    def snapshot_state(self, context: Any) -> None:
        self.listed.update([self.counts[0]])
        self.union.update([self.counts[1]])

    def map(self, value: Any) -> Any:
        self.counts[0] += 1
        self.counts[1] = max(self.counts[1], value[1])
        return (*value, *self.counts)


class Listing(ProcessWindowFunction[Any, Any, Any, Any]):
    def process(self, key: str, context: Any, elements: Iterable[Any]) -> Iterable[Any]:
        seen = context.global_state().get_state(ValueStateDescriptor("windows", Types.LONG()))
        seen.update((seen.value() or 0) + 1)
        yield key, context.window().start, context.window().end, sorted(e[1] for e in elements), seen.value()


def _add(one: Any, other: Any) -> Any:
    return one[0], one[1] + other[1], other[2]


def _timed(env: StreamExecutionEnvironment) -> DataStream:
    source = random.Random(11)
    records = [(f"k{source.randrange(7)}", n, n * 20 - source.randrange(100)) for n in range(RECORDS)]
    strategy: Any = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(100))
    stream = env.from_collection(records, RECORD).uid("records")
    return stream.assign_timestamps_and_watermarks(strategy.with_timestamp_assigner(RecordTime())).uid("times")


def _keyed(env: StreamExecutionEnvironment) -> Any:
    return _timed(env).key_by(lambda record: record[0], Types.STRING())


def _rules(env: StreamExecutionEnvironment) -> Any:
    return env.from_collection(["a", "b"], Types.STRING()).uid("rules").broadcast(RULES)


TUMBLE, SLIDE = TumblingEventTimeWindows(500, 0), SlidingEventTimeWindows(800, 200, 0)
SESSION = EventTimeSessionWindows(90)

PROGRAMS: dict[str, Callable[[StreamExecutionEnvironment], DataStream]] = {
    "states": lambda env: _keyed(env).process(AllStates()).uid("op"),
    "rolling": lambda env: _keyed(env).reduce(_add).uid("op"),
    "broadcast": lambda env: _timed(env).connect(_rules(env)).process(Tagging()).uid("op"),
    "keyed_broadcast": lambda env: _keyed(env).connect(_rules(env)).process(KeyedTagging()).uid("op"),
    "operator_state": lambda env: _timed(env).rebalance().map(Offsets()).uid("op"),
    "interval_join": lambda env: (
        _keyed(env)
        .interval_join(
            env.from_collection([(f"k{n % 7}", -n, n * 50) for n in range(90)], RECORD)
            .uid("other")
            .assign_timestamps_and_watermarks(
                WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(RecordTime())
            )
            .uid("other times")
            .key_by(lambda record: record[0], Types.STRING())
        )
        .between(Time.milliseconds(-100), Time.milliseconds(100))
        .process(Joining())
        .uid("op")
    ),
    "tumble_sum": lambda env: _keyed(env).window(TUMBLE).sum(1).uid("op"),
    "tumble_reduce": lambda env: _keyed(env).window(TUMBLE).reduce(_add).uid("op"),
    "tumble_aggregate": lambda env: _keyed(env).window(TUMBLE).aggregate(Summing()).uid("op"),
    "tumble_process": lambda env: _keyed(env).window(TUMBLE).process(Listing()).uid("op"),
    "tumble_late": lambda env: _keyed(env).window(TUMBLE).allowed_lateness(300).reduce(_add).uid("op"),
    "tumble_trigger": lambda env: (
        _keyed(env).window(TUMBLE).trigger(PurgingTrigger.of(CountTrigger.of(3))).process(Listing()).uid("op")
    ),
    "slide_sum": lambda env: _keyed(env).window(SLIDE).sum(1).uid("op"),
    "slide_aggregate": lambda env: _keyed(env).window(SLIDE).aggregate(Summing()).uid("op"),
    "slide_process": lambda env: _keyed(env).window(SLIDE).process(Listing()).uid("op"),
    "session_reduce": lambda env: _keyed(env).window(SESSION).reduce(_add).uid("op"),
    "session_process": lambda env: _keyed(env).window(SESSION).process(SessionListing()).uid("op"),
    "count_window": lambda env: _keyed(env).count_window(5).reduce(_add).uid("op"),
    "count_slide": lambda env: _keyed(env).count_window(5, 2).apply(CountListing()).uid("op"),
}


class SessionListing(ProcessWindowFunction[Any, Any, Any, Any]):
    def process(self, key: str, context: Any, elements: Iterable[Any]) -> Iterable[Any]:
        yield key, context.window().start, context.window().end, sorted(e[1] for e in elements)


class Joining(ProcessJoinFunction):
    def process_element(self, left: Any, right: Any, ctx: Any) -> Any:
        yield left[0], left[1], right[1], ctx.get_timestamp()


class CountListing(WindowFunction[Any, Any, Any, Any]):
    def apply(self, key: str, window: Any, inputs: Iterable[Any]) -> Iterable[Any]:
        yield key, [e[1] for e in inputs]

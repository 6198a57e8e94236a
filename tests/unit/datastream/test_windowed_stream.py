"""Windows and joins as programs write them: what is built, what is refused, and whole jobs in this process."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.unit.datastream.recording_executor import environment

from penstock.common.errors import ProgramError
from penstock.common.time import Duration, Time
from penstock.common.typeinfo import Types
from penstock.common.watermark_strategy import TimestampAssigner, WatermarkStrategy
from penstock.datastream.functions import (
    AggregateFunction,
    AllWindowFunction,
    ProcessAllWindowFunction,
    ProcessWindowFunction,
    WindowFunction,
)
from penstock.datastream.stream import DataStream
from penstock.datastream.stream_execution_environment import StreamExecutionEnvironment
from penstock.datastream.window import (
    CountEvictor,
    CountTrigger,
    EventTimeSessionWindows,
    NeverTrigger,
    PurgingTrigger,
    SlidingEventTimeWindows,
    TumblingEventTimeWindows,
)
from penstock.engines.local.executor import LocalExecutor
from penstock.functions.join import CoGroupFunction, JoinFunction, ProcessJoinFunction
from penstock.functions.output_tag import OutputTag

EVENT = Types.TUPLE([Types.STRING(), Types.LONG(), Types.LONG()])  # key, timestamp, number
TEN = TumblingEventTimeWindows.of(Time.milliseconds(10))
SLIDING = SlidingEventTimeWindows.of(Time.milliseconds(20), Time.milliseconds(5))
SESSIONS = EventTimeSessionWindows.with_gap(Time.milliseconds(4))


class EventTime(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return int(value[1])


class Collect(ProcessWindowFunction[Any, Any, Any, Any]):
    def process(self, key: Any, context: Any, elements: Any) -> Iterator[Any]:
        yield key, context.window().start, context.window().end, tuple(sorted(e[2] for e in elements))


class Total(AggregateFunction):
    def create_accumulator(self) -> int:
        return 0

    def add(self, value: Any, accumulator: int) -> int:
        return accumulator + int(value[2])

    def get_result(self, accumulator: int) -> int:
        return accumulator

    def merge(self, acc_a: int, acc_b: int) -> int:
        return acc_a + acc_b


class TotalOf(WindowFunction[Any, Any, Any, Any]):
    def apply(self, key: Any, window: Any, inputs: Any) -> list[Any]:
        return [(key, window.start, *inputs)]


class CollectAll(ProcessAllWindowFunction[Any, Any, Any]):
    def process(self, context: Any, elements: Any) -> Iterator[Any]:
        yield context.window().start, tuple(sorted(e[2] for e in elements))


EVENTS = [
    ("abcde"[number * 7 % 5], number // 3 + (number * 13 % 4), number) for number in range(200)
]  # up to 3 ms out of order


def events(env: StreamExecutionEnvironment, records: list[Any] = EVENTS) -> DataStream:
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_millis(5))
    return env.from_collection(records, EVENT).assign_timestamps_and_watermarks(
        strategy.with_timestamp_assigner(EventTime())
    )


def keyed(env: StreamExecutionEnvironment) -> Any:
    return events(env).key_by(lambda event: event[0], Types.STRING())


class Pair(JoinFunction):
    def join(self, first: Any, second: Any) -> Any:
        return first[0], first[2], second[2]


class Sides(CoGroupFunction):
    def co_group(self, first: Any, second: Any) -> Iterator[Any]:
        yield tuple(sorted(e[2] for e in first)), tuple(sorted(e[2] for e in second))


class Near(ProcessJoinFunction):
    def process_element(self, left: Any, right: Any, ctx: ProcessJoinFunction.Context) -> Iterator[Any]:
        yield left[0], left[2], right[2], ctx.get_timestamp()


def others(env: StreamExecutionEnvironment) -> DataStream:
    return events(env, [(key, timestamp + 1, number + 1000) for key, timestamp, number in EVENTS[::3]])


def joined(env: StreamExecutionEnvironment, streams: Any) -> Any:
    return streams.where(lambda e: e[0]).equal_to(lambda e: e[0]).window(TEN)


PROGRAMS: dict[str, Callable[[StreamExecutionEnvironment], DataStream]] = {
    "tumbling process": lambda env: keyed(env).window(TEN).process(Collect()),
    "tumbling aggregate": lambda env: keyed(env).window(TEN).aggregate(Total(), TotalOf()),
    # which record of several subtasks comes first is not defined, so its other fields are left out
    "tumbling sum": lambda env: keyed(env).window(TEN).sum(2).map(lambda event: (event[0], event[2])),
    "sliding aggregate": lambda env: keyed(env).window(SLIDING).aggregate(Total(), TotalOf()),
    "sliding process": lambda env: keyed(env).window(SLIDING).process(Collect()),
    "sessions": lambda env: keyed(env).window(SESSIONS).process(Collect()),
    "sessions aggregate": lambda env: keyed(env).window(SESSIONS).aggregate(Total(), TotalOf()),
    "all": lambda env: events(env).window_all(TEN).process(CollectAll()),
    "window after window": lambda env: (
        keyed(env)
        .window(TEN)
        .max(2)
        .window_all(TEN)
        .reduce(lambda a, b: max(a, b, key=lambda e: e[2]))
        .map(lambda event: event[2])
    ),
    "join": lambda env: joined(env, events(env).join(others(env))).apply(Pair()),
    "co-group": lambda env: joined(env, events(env).co_group(others(env))).apply(Sides()),
    "interval join": lambda env: (
        keyed(env)
        .interval_join(others(env).key_by(lambda e: e[0]))
        .between(Time.milliseconds(-2), Time.milliseconds(3))
        .lower_bound_exclusive()
        .process(Near())
    ),
}


def run(program: str, parallelism: int, epoch_records: int) -> Counter[Any]:
    executor = LocalExecutor(epoch_records, forget=True)
    env = StreamExecutionEnvironment(executor=executor).set_parallelism(parallelism)
    results = list(PROGRAMS[program](env).execute_and_collect())
    assert (executor.epochs > 20) == (epoch_records < 10)
    return Counter(results)


@pytest.mark.parametrize("program", PROGRAMS)
def test_results_do_not_depend_on_epochs_and_subtasks(program: str) -> None:
    whole = run(program, parallelism=1, epoch_records=1_000_000)
    assert whole
    assert run(program, parallelism=1, epoch_records=4) == whole
    assert run(program, parallelism=2, epoch_records=7) == whole
    assert run(program, parallelism=4, epoch_records=1_000_000) == whole


def test_tumbling_windows_hold_every_element_once() -> None:
    expected: dict[Any, list[int]] = {}
    for key, timestamp, number in EVENTS:
        expected.setdefault((key, timestamp // 10 * 10), []).append(number)
    results = run("tumbling process", 2, 1_000_000)
    assert results == Counter((key, start, start + 10, tuple(ns)) for (key, start), ns in expected.items())


def test_the_join_is_the_join_of_the_lists() -> None:
    right = [(key, timestamp + 1, number + 1000) for key, timestamp, number in EVENTS[::3]]
    in_window = Counter((a[0], a[2], b[2]) for a in EVENTS for b in right if a[0] == b[0] and a[1] // 10 == b[1] // 10)
    assert run("join", 2, 1_000_000) == in_window
    near = Counter(
        (a[0], a[2], b[2], max(a[1], b[1])) for a in EVENTS for b in right if a[0] == b[0] and -2 < b[1] - a[1] <= 3
    )
    assert run("interval join", 2, 1_000_000) == near


def test_late_elements_go_to_their_side_output() -> None:
    late = OutputTag("late", EVENT)
    env = StreamExecutionEnvironment(executor=LocalExecutor(1)).set_parallelism(1)
    records = [("a", 1, 0), ("a", 50, 1), ("a", 2, 2)]
    windowed = (
        events(env, records).key_by(lambda event: event[0]).window(TEN).side_output_late_data(late).process(Collect())
    )
    assert list(windowed.get_side_output(late).execute_and_collect()) == [("a", 2, 2)]


# What is built


def test_whatever_the_worker_makes_of_it_the_operator_is_a_window() -> None:
    env, _ = environment()
    windowed = keyed(env).window
    streams = [
        windowed(TEN).aggregate(Total()),
        windowed(SLIDING).sum(2),
        windowed(SESSIONS).reduce(lambda a, b: a),
        windowed(TEN).process(Collect()),
        windowed(TEN).trigger(CountTrigger.of(2)).sum(2),
        windowed(TEN).evictor(CountEvictor.of(2)).sum(2),
    ]
    assert {stream._nodes[0].kind for stream in streams} == {"window"}


def test_names_types_and_parallelism() -> None:
    env, _ = environment()
    windowed = keyed(env).window(TEN)
    assert windowed.get_input_type() == EVENT
    assert windowed.get_execution_environment() is env
    reduced = windowed.reduce(lambda a, b: a)
    assert reduced.get_name() == "TumblingEventTimeWindows"
    assert reduced.get_type() == EVENT
    assert windowed.aggregate(Total(), output_type=Types.LONG()).get_type() == Types.LONG()
    assert windowed.aggregate(Total()).get_type() == Types.PICKLED_BYTE_ARRAY()
    assert reduced._nodes[0].parallelism == 3
    assert events(env).window_all(TEN).sum(2)._nodes[0].parallelism == 1


def test_count_windows_give_their_elements_up_when_they_are_full() -> None:
    env, _ = environment()
    counted = keyed(env).count_window(2).sum(2)
    assert isinstance(counted._nodes[0].params["window"].trigger, PurgingTrigger)


class NotForKeys(AllWindowFunction[Any, Any, Any]):
    def apply(self, window: Any, inputs: Any) -> Any:
        return inputs


@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        (lambda env: keyed(env).window(10), "WindowAssigner"),
        (lambda env: keyed(env).window(TEN).trigger("now"), "Trigger"),
        (lambda env: keyed(env).window(SESSIONS).trigger(NeverTrigger()), "can_merge"),
        (lambda env: keyed(env).window(TEN).evictor(3), "Evictor"),
        (lambda env: keyed(env).window(TEN).allowed_lateness(-1), "not negative"),
        (lambda env: keyed(env).window(TEN).allowed_lateness("1 s"), "allowed_lateness"),
        (lambda env: keyed(env).window(TEN).side_output_late_data("late"), "OutputTag"),
        (lambda env: keyed(env).window(TEN).aggregate(len), "AggregateFunction"),
        (lambda env: keyed(env).window(TEN).process(Collect), "instance"),
        (lambda env: keyed(env).window(TEN).reduce(max, NotForKeys()), "ProcessWindowFunction or a WindowFunction"),
        (lambda env: events(env).window_all(TEN).reduce(max, Collect()), "ProcessAllWindowFunction"),
        (lambda env: keyed(env).window(TEN).sum(7), "no field 7"),
        (lambda env: keyed(env).interval_join(events(env)), "KeyedStream"),
        (lambda env: joined(env, events(env).join(events(env))).apply(Sides()), "JoinFunction"),
        (
            lambda env: keyed(env).interval_join(keyed(env)).between(Time.seconds(2), Time.seconds(1)).process(Near()),
            "matches nothing",
        ),
    ],
)
def test_mistakes_are_named_when_the_program_is_built(mistake: Any, message: str) -> None:
    env, _ = environment()
    with pytest.raises(ProgramError, match=message):
        mistake(env)

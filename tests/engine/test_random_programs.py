"""Random small programs give what plain Python gives, for every size of epochs and from snapshots alone."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock.common import Types
from penstock.datastream import (
    CoFlatMapFunction,
    DataStream,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    RuntimeContext,
    StreamExecutionEnvironment,
)
from penstock.datastream.state import MapStateDescriptor, ValueStateDescriptor
from penstock.engines.local.executor import LocalExecutor

# Containers raise the limit for long chains, as they do in workers.
pytestmark = pytest.mark.filterwarnings("ignore:The recursion limit will not be reset")


class NumberPerKey(KeyedProcessFunction):
    """Value and map state: emits the key, how many records it has had, and how many different ones."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.INT()))
        self.seen = runtime_context.get_map_state(MapStateDescriptor("seen", Types.INT(), Types.BOOLEAN()))

    def process_element(self, value: int, ctx: KeyedProcessFunction.Context) -> Any:
        number = (self.count.value() or 0) + 1
        self.count.update(number)
        self.seen.put(value, True)
        yield number * 100 + len(list(self.seen.keys()))


class Tagged(CoFlatMapFunction):
    def flat_map1(self, value: int) -> Any:
        yield value
        yield -value

    def flat_map2(self, value: int) -> Any:
        if value % 2:
            yield value * 10


class CountBoth(KeyedCoProcessFunction):
    """The number of records of a key on both inputs together when the last one has come."""

    def open(self, runtime_context: RuntimeContext) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.INT()))

    def _add(self, ctx: Any) -> None:
        self.count.update((self.count.value() or 0) + 1)
        ctx.timer_service().register_event_time_timer(1 << 60)

    def process_element1(self, value: int, ctx: KeyedCoProcessFunction.Context) -> Any:
        self._add(ctx)
        yield from ()

    def process_element2(self, value: int, ctx: KeyedCoProcessFunction.Context) -> Any:
        self._add(ctx)
        yield from ()

    def on_timer(self, timestamp: int, ctx: KeyedCoProcessFunction.OnTimerContext) -> Any:
        yield ctx.get_current_key() * 1000 + self.count.value()


@dataclass(frozen=True)
class Step:
    """One operator: which earlier streams it reads, what it is, and a number that varies it."""

    kind: str
    inputs: tuple[int, ...]
    number: int


UNARY = ("map", "filter", "flat_map", "rebalance", "keyed_map", "process", "reduce_totals")
BINARY = ("union", "connect", "keyed_connect")


@st.composite
def programs(draw: st.DrawFn) -> tuple[list[list[int]], list[Step]]:
    sources = draw(st.lists(st.lists(st.integers(-20, 20), max_size=12), min_size=1, max_size=3))
    steps: list[Step] = []
    for position in range(draw(st.integers(1, 7))):
        earlier = st.integers(0, len(sources) + position - 1)
        kind = draw(st.sampled_from(UNARY + BINARY))
        inputs = (draw(earlier), draw(earlier)) if kind in BINARY else (draw(earlier),)
        steps.append(Step(kind, inputs, draw(st.integers(1, 4))))
    return sources, steps


def build(step: Step, streams: list[DataStream]) -> DataStream:
    first, n = streams[step.inputs[0]], step.number
    match step.kind:
        case "map":
            return first.map(lambda v: v * n + 1)
        case "filter":
            return first.filter(lambda v: v % (n + 1) != 0)
        case "flat_map":
            return first.flat_map(lambda v: [v] * (abs(v) % (n + 1)))
        case "rebalance":
            return first.rebalance().map(lambda v: v + n)
        case "keyed_map":
            return first.key_by(lambda v: v % n).map(lambda v: v - n)
        case "process":
            return first.map(lambda v: v % 7).key_by(lambda v: v % n).process(NumberPerKey())
        case "reduce_totals":
            return (
                first.key_by(lambda v: v % n)
                .map(lambda v: (v % n, v))
                .key_by(lambda r: r[0])
                .reduce(lambda a, b: (a[0], max(a[1], b[1])))
                .map(lambda r: r[0])
            )
    second = streams[step.inputs[1]]
    match step.kind:
        case "union":
            return first.map(lambda v: v).union(second.map(lambda v: v))
        case "connect":
            return first.connect(second).flat_map(Tagged())
        case _:
            keyed = first.key_by(lambda v: v % n).connect(second.key_by(lambda v: v % n))
            return keyed.process(CountBoth())


def evaluate(step: Step, values: list[list[int]]) -> list[int]:
    """The same with lists. The order of the results may differ; no operator's results depend on it."""
    first, n = values[step.inputs[0]], step.number
    match step.kind:
        case "map":
            return [v * n + 1 for v in first]
        case "filter":
            return [v for v in first if v % (n + 1) != 0]
        case "flat_map":
            return [v for v in first for _ in range(abs(v) % (n + 1))]
        case "rebalance":
            return [v + n for v in first]
        case "keyed_map":
            return [v - n for v in first]
        case "process":
            return _numbers_per_key([v % 7 for v in first], n)
        case "reduce_totals":
            return [v % n for v in first]
    second = values[step.inputs[1]]
    match step.kind:
        case "union":
            return first + second
        case "connect":
            return [w for v in first for w in (v, -v)] + [v * 10 for v in second if v % 2]
        case _:
            return [key * 1000 + count for key, count in Counter(v % n for v in first + second).items()]


def _numbers_per_key(values: list[int], n: int) -> list[int]:
    seen: dict[int, list[int]] = {}
    results = []
    for value in values:
        own = seen.setdefault(value % n, [])
        own.append(value)
        results.append(len(own) * 100 + len(set(own)))
    return results


def run(
    sources: list[list[int]], steps: list[Step], parallelism: int, epoch_records: int, forget: bool
) -> list[list[int]]:
    env = StreamExecutionEnvironment(executor=LocalExecutor(epoch_records, forget))
    env.set_parallelism(parallelism)
    streams: list[DataStream] = [env.from_collection(values) for values in sources]
    for step in steps:
        streams.append(build(step, streams))
    numbered = [stream.map(lambda v, i=i: (i, v)) for i, stream in enumerate(streams)]
    merged = numbered[0].union(*numbered[1:]) if len(numbered) > 1 else numbered[0]
    results: list[list[int]] = [[] for _ in streams]
    with merged.execute_and_collect() as records:
        for index, value in records:
            results[index].append(value)
    return results


def expected(sources: list[list[int]], steps: list[Step]) -> list[list[int]]:
    values = [list(source) for source in sources]
    for step in steps:
        values.append(evaluate(step, values))
    return values


def order_matters(steps: list[Step], count: int) -> set[int]:
    """Streams whose content depends on an order that is not defined: behind process() of a merged or spread stream."""
    tainted: set[int] = set()
    unordered: set[int] = set()
    for position, step in enumerate(steps, start=count):
        if tainted.intersection(step.inputs) or (step.kind == "process" and unordered.intersection(step.inputs)):
            tainted.add(position)
        if step.kind in BINARY or unordered.intersection(step.inputs):
            unordered.add(position)
    return tainted


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(programs(), st.integers(1, 6), st.booleans())
def test_one_subtask(program: tuple[list[list[int]], list[Step]], epoch_records: int, forget: bool) -> None:
    sources, steps = program
    results, wanted = run(sources, steps, 1, epoch_records, forget), expected(sources, steps)
    skipped = order_matters(steps, len(sources))
    for index, (got, want) in enumerate(zip(results, wanted, strict=True)):
        if index not in skipped:
            assert Counter(got) == Counter(want), f"stream {index}"


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(programs(), st.integers(2, 4), st.integers(1, 6), st.booleans())
def test_several_subtasks(
    program: tuple[list[list[int]], list[Step]], parallelism: int, epoch_records: int, forget: bool
) -> None:
    sources, steps = program
    if any(step.kind == "process" for step in steps):  # its results depend on an order that is not defined here
        steps = [Step("map", step.inputs, step.number) if step.kind == "process" else step for step in steps]
    results, wanted = run(sources, steps, parallelism, epoch_records, forget), expected(sources, steps)
    for index, (got, want) in enumerate(zip(results, wanted, strict=True)):
        assert Counter(got) == Counter(want), f"stream {index}"


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.integers(-20, 20), max_size=15), st.lists(st.sampled_from(UNARY), max_size=6), st.integers(1, 5))
def test_a_line_of_operators_keeps_order_whatever_the_epochs(
    values: list[int], kinds: list[str], epoch_records: int
) -> None:
    steps = [Step(kind, (position,), 1 + position % 4) for position, kind in enumerate(kinds)]
    whole = run([values], steps, 1, 1_000_000, False)
    assert run([values], steps, 1, epoch_records, True) == whole
    assert whole == expected([values], steps)

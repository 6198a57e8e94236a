"""Windows against an oracle that keeps every element in a list and recomputes everything, on random streams."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.unit.runtime.window_oracles import (
    AlignedOracle,
    ContinuousClockOracle,
    ContinuousOracle,
    CountOracle,
    CountWindowOracle,
    DeltaOracle,
    Element,
    ProcessingTimeOracle,
    Program,
    SessionOracle,
    Shape,
    programs,
)

from penstock.datastream.functions import AggregateFunction, ProcessWindowFunction, ReduceFunctionWrapper
from penstock.datastream.window import (
    ContinuousEventTimeTrigger,
    ContinuousProcessingTimeTrigger,
    CountEvictor,
    CountSlidingWindowAssigner,
    CountTrigger,
    CountTumblingWindowAssigner,
    CumulativeEventTimeWindows,
    DeltaTrigger,
    DynamicEventTimeSessionWindows,
    EventTimeSessionWindows,
    EventTimeTrigger,
    GlobalWindows,
    PurgingTrigger,
    SlidingEventTimeWindows,
    SlidingProcessingTimeWindows,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
)
from penstock.runtime.windows.settings import WindowSettings
from penstock.testing.harness import OperatorHarness

LATE = "late"


class Trace(AggregateFunction):
    """Remembers the numbers of the elements in order of arrival, changing its accumulator in place."""

    def create_accumulator(self) -> list[int]:
        return []

    def add(self, value: Element, accumulator: list[int]) -> list[int]:
        accumulator.append(value.number)
        return accumulator

    def get_result(self, accumulator: list[int]) -> tuple[int, ...]:
        return tuple(accumulator)

    def merge(self, acc_a: list[int], acc_b: list[int]) -> list[int]:
        acc_a.extend(acc_b)
        return acc_a


class TraceWithoutMerge(Trace):
    def merge(self, acc_a: list[int], acc_b: list[int]) -> list[int]:
        raise NotImplementedError


class Describe(ProcessWindowFunction[Any, Any, Any, Any]):
    def process(self, key: Any, context: Any, elements: Any) -> Iterator[Any]:
        window = context.window()
        name = (window.start, window.end) if hasattr(window, "start") else getattr(window, "id", None)
        yield key, name, tuple(e.number if isinstance(e, Element) else e for e in elements)


class Bag(Trace):
    """The numbers of the elements in any order."""

    mergeable = True

    def get_result(self, accumulator: list[int]) -> tuple[int, ...]:
        return tuple(sorted(accumulator))


class Undisguised(EventTimeTrigger[Any]):
    """The default trigger, which the engine does not know as such: it takes the general index."""


def in_general(window: WindowSettings) -> WindowSettings:
    return replace(window, trigger=Undisguised())


def run_engine(program: Program, window: WindowSettings, function: Any) -> tuple[list[Any], list[int]]:
    harness = OperatorHarness("window", function, {"window": window}, key=lambda element: element.key)
    for step, content in program.steps:
        if step == "batch":
            harness.push_all(content, [element.timestamp for element in content])
        elif step == "watermark":
            harness.watermark(content)
        elif step == "clock":
            harness.processing_time(content)
        else:
            harness.restart(full=content)
    harness.end_of_input()
    if window.assigner.is_event_time():
        assert_nothing_is_left(harness)
    return harness.results, [element.number for element in harness.side(LATE).values]


def assert_nothing_is_left(harness: OperatorHarness) -> None:
    """All windows have ended, so contents, trigger state and timers must be gone."""
    harness.snapshot()
    operator: Any = harness.operator
    tables = operator.backend._tables
    assert {name: table.base for name, table in tables.items() if table.base} == {}
    assert operator.timers.event.earliest() is None


def check(engine: tuple[list[Any], list[int]], oracle: tuple[list[Any], list[int]]) -> None:
    assert Counter(engine[0]) == Counter(oracle[0])
    assert engine[1] == oracle[1]


def random_programs(examples: int) -> Callable[[Any], Any]:
    def decorate(test: Any) -> Any:
        quiet = settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck), database=None)
        return quiet(test)

    return decorate


lateness = st.sampled_from((0, 0, 4, 25))
shapes = st.sampled_from(
    (
        (10, 10, 0),
        (10, 10, 3),
        (7, 7, -2),
        (20, 10, 0),
        (20, 5, 2),
        (12, 8, -3),
        (7, 5, 1),
        (10, 15, 0),
        (8, 2, 0),
        (20, 5, 0, True),
        (12, 4, -3, True),
    )
)


def aligned(size: int, slide: int, offset: int, cumulative: bool = False) -> Any:
    if cumulative:
        return CumulativeEventTimeWindows(size, slide, offset)
    if size == slide:
        return TumblingEventTimeWindows(size, offset)
    return SlidingEventTimeWindows(size, slide, offset)


def default(assigner: Any, **choices: Any) -> WindowSettings:
    choices.setdefault("trigger", assigner.get_default_trigger(None))
    return WindowSettings(assigner, late_tag=LATE, **choices)


@random_programs(120)
@given(programs(), shapes, lateness)
def test_aligned_windows_of_elements(program: Program, shape: Shape, late: int) -> None:
    window = default(aligned(*shape), allowed_lateness=late)
    expected = AlignedOracle(shape, late).run(program)
    check(run_engine(program, window, Describe()), expected)
    check(run_engine(program, in_general(window), Describe()), expected)


@random_programs(200)
@given(programs(), shapes, lateness, st.sampled_from((Trace, TraceWithoutMerge, Bag)))
def test_aligned_windows_with_incremental_aggregation(
    program: Program, shape: Shape, late: int, function: type[Trace]
) -> None:
    window = default(aligned(*shape), allowed_lateness=late, aggregation=function())
    expected, expected_late = AlignedOracle(shape, late).run(program)
    if function is Bag:
        expected = [((key, w, tuple(sorted(numbers))), timestamp) for (key, w, numbers), timestamp in expected]
    for chosen in (window, in_general(window)):
        results, late_elements = run_engine(program, chosen, Describe())
        unpacked = [((key, w, trace), timestamp) for (key, w, (trace,)), timestamp in results]
        check((unpacked, late_elements), (expected, expected_late))


@random_programs(40)
@given(programs(), shapes, lateness)
def test_the_fast_operators_agree_with_the_general_one_without_window_function(
    program: Program, shape: Shape, late: int
) -> None:
    total = ReduceFunctionWrapper(lambda a, b: Element(a.key, a.number * 3 + b.number, b.timestamp))
    window = default(aligned(*shape), allowed_lateness=late, aggregation=total)
    harness = OperatorHarness("window", None, {"window": in_general(window)}, key=lambda element: element.key)
    for kind, content in program.steps:
        if kind == "batch":
            harness.push_all(content, [element.timestamp for element in content])
        elif kind == "watermark":
            harness.watermark(content)
    harness.end_of_input()
    assert Counter(run_engine(program, window, None)[0]) == Counter(harness.results)


@random_programs(60)
@given(programs(), shapes, lateness)
def test_a_purging_trigger_empties_the_window(program: Program, shape: Shape, late: int) -> None:
    assigner = aligned(*shape)
    window = default(assigner, allowed_lateness=late, trigger=PurgingTrigger.of(assigner.get_default_trigger(None)))
    oracle = AlignedOracle(shape, late, purging=True)
    check(run_engine(program, window, Describe()), oracle.run(program))


def gap_of(element: Element) -> int:
    return 4 + element.number % 3 * 5


@random_programs(120)
@given(programs(), lateness, st.booleans(), st.booleans())
def test_sessions(program: Program, late: int, dynamic: bool, incremental: bool) -> None:
    assigner: Any = DynamicEventTimeSessionWindows(gap_of) if dynamic else EventTimeSessionWindows(8)  # type: ignore[arg-type]
    window = default(assigner, allowed_lateness=late, aggregation=Trace() if incremental else None)
    results, late_elements = run_engine(program, window, Describe())
    sorted_results = [
        ((key, w, tuple(sorted(contents[0] if incremental else contents))), timestamp)
        for (key, w, contents), timestamp in results
    ]
    oracle = SessionOracle(gap_of if dynamic else lambda _: 8, late)
    check((sorted_results, late_elements), oracle.run(program))


@random_programs(60)
@given(programs(), st.integers(1, 4), st.sampled_from((None, 10)), st.booleans())
def test_count_triggers(program: Program, count: int, size: int | None, purging: bool) -> None:
    assigner: Any = GlobalWindows() if size is None else TumblingEventTimeWindows(size, 0)
    trigger: Any = PurgingTrigger.of(CountTrigger.of(count)) if purging else CountTrigger.of(count)
    window = default(assigner, trigger=trigger)
    check(run_engine(program, window, Describe()), CountOracle(count, size, purging).run(program))


@random_programs(40)
@given(programs(), st.integers(1, 3), st.integers(1, 5))
def test_count_evictor_keeps_the_last_elements(program: Program, count: int, keep: int) -> None:
    # Flink's sliding count window: fires from the first slide on
    window = default(GlobalWindows(), trigger=CountTrigger.of(count), evictor=CountEvictor.of(keep))
    check(run_engine(program, window, Describe()), CountOracle(count, None, False, keep).run(program))


@random_programs(40)
@given(programs(), st.integers(1, 4), st.integers(1, 4))
def test_count_windows(program: Program, size: int, slide: int) -> None:
    assigner: Any = CountTumblingWindowAssigner(size) if size == slide else CountSlidingWindowAssigner(size, slide)
    window = default(assigner)
    check(run_engine(program, window, Describe()), CountWindowOracle(size, slide).run(program))


@random_programs(50)
@given(programs(), st.sampled_from(((10, 10), (10, 5), (30, 10))))
def test_processing_time_windows(program: Program, shape: tuple[int, int]) -> None:
    size, slide = shape
    assigner: Any = (
        TumblingProcessingTimeWindows(size, 0) if size == slide else SlidingProcessingTimeWindows(size, slide, 0)
    )
    window = default(assigner)
    check(run_engine(program, window, Describe()), ProcessingTimeOracle(size, slide).run(program))


@random_programs(80)
@given(programs(), st.sampled_from(((10, 4), (20, 5), (12, 12), (7, 20), (60, 9))), st.booleans())
def test_continuous_event_time_trigger(program: Program, shape: tuple[int, int], purging: bool) -> None:
    size, interval = shape
    trigger: Any = ContinuousEventTimeTrigger(interval)
    window = default(TumblingEventTimeWindows(size, 0), trigger=PurgingTrigger.of(trigger) if purging else trigger)
    check(run_engine(program, window, Describe()), ContinuousOracle(size, interval, purging).run(program))


@random_programs(50)
@given(programs(), st.integers(1, 20))
def test_continuous_processing_time_trigger(program: Program, interval: int) -> None:
    window = default(GlobalWindows(), trigger=ContinuousProcessingTimeTrigger(interval))
    check(run_engine(program, window, Describe()), ContinuousClockOracle(interval).run(program))


@random_programs(50)
@given(programs(), st.integers(0, 15), st.booleans())
def test_delta_trigger(program: Program, threshold: int, purging: bool) -> None:
    trigger: Any = DeltaTrigger.of(threshold, lambda old, new: abs(new.timestamp - old.timestamp))
    window = default(GlobalWindows(), trigger=PurgingTrigger.of(trigger) if purging else trigger)
    check(run_engine(program, window, Describe()), DeltaOracle(threshold, purging).run(program))

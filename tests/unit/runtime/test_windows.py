"""Windows by example: triggers, evictors, merging, per-window state, late elements, the size of state."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any

import pytest

from penstock.common.errors import ProgramError
from penstock.common.typeinfo import Types
from penstock.datastream.functions import (
    AggregateFunction,
    ProcessAllWindowFunction,
    ProcessWindowFunction,
    ReduceFunctionWrapper,
)
from penstock.datastream.state import ValueStateDescriptor
from penstock.datastream.window import (
    ContinuousEventTimeTrigger,
    ContinuousProcessingTimeTrigger,
    CountTrigger,
    DeltaEvictor,
    DeltaTrigger,
    EventTimeSessionWindows,
    Evictor,
    GlobalWindows,
    PurgingTrigger,
    SlidingEventTimeWindows,
    TimeEvictor,
    Trigger,
    TriggerResult,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
)
from penstock.functions.mergeable import mergeable
from penstock.functions.output_tag import OutputTag
from penstock.functions.rolling import Maximum, MaximumBy, Minimum, MinimumBy, Sum
from penstock.runtime.windows.settings import WindowSettings
from penstock.testing.harness import OperatorHarness

TEN = TumblingEventTimeWindows(10, 0)


class Show(ProcessWindowFunction[Any, Any, Any, Any]):
    def process(self, key: Any, context: Any, elements: Any) -> Iterator[Any]:
        yield [element[1] for element in elements]


def windowed(assigner: Any, function: Any = None, **choices: Any) -> OperatorHarness:
    choices.setdefault("trigger", assigner.get_default_trigger(None))
    window = WindowSettings(assigner, **choices)
    return OperatorHarness("window", function, {"window": window}, key=lambda value: value[0])


def push(harness: OperatorHarness, *timestamps: int, key: str = "a") -> None:
    for timestamp in timestamps:
        harness.push((key, timestamp), timestamp)


def test_timer_fired_results_carry_the_timer_and_element_fired_ones_the_element() -> None:
    harness = windowed(TEN, Show(), allowed_lateness=10)
    push(harness, 1)
    harness.watermark(12)
    push(harness, 5)
    assert harness.results == [([1], 9), ([1, 5], 5)]


def test_continuous_trigger_takes_all_due_timers_of_a_watermark_together() -> None:
    # Observed on PyFlink: with 40 and 99 due at watermark 100 there is no firing at 60 and 80.
    hundred = TumblingEventTimeWindows(100, 0)
    harness = windowed(hundred, Show(), trigger=ContinuousEventTimeTrigger(20))
    push(harness, 1, 13, 35)
    harness.watermark(34)
    harness.restart()
    push(harness, 5, 101)
    harness.watermark(100)
    harness.end_of_input()
    assert harness.results == [
        ([1, 13, 35], 20),
        ([1, 13, 35, 5], 40),
        ([1, 13, 35, 5], 99),
        ([101], 120),
        ([101], 199),
    ]


def test_continuous_processing_time_trigger_fires_at_every_interval() -> None:
    harness = windowed(GlobalWindows(), Show(), trigger=ContinuousProcessingTimeTrigger(10))
    harness.processing_time(3)
    push(harness, 1)
    for now in (9, 11, 15, 21, 31):
        harness.processing_time(now)
        harness.restart()
    assert harness.results == [([1], 10), ([1], 20), ([1], 30)]


def test_delta_trigger_fires_when_an_element_is_far_from_the_last_fired_one() -> None:
    trigger = DeltaTrigger.of(5, lambda old, new: new[1] - old[1])
    harness = windowed(GlobalWindows(), Show(), trigger=PurgingTrigger.of(trigger))
    push(harness, 1, 4, 7, 9, 13)
    assert harness.take() == [[1, 4, 7], [9, 13]]


class OnTotal(Trigger[Any, Any]):
    """Purges at a negative element, fires at the end."""

    def on_element(self, element: Any, timestamp: int, window: Any, ctx: Any) -> TriggerResult:
        ctx.register_event_time_timer(window.max_timestamp())
        return TriggerResult.PURGE if element[1] % 7 == 0 else TriggerResult.CONTINUE

    def on_processing_time(self, time: int, window: Any, ctx: Any) -> TriggerResult:
        return TriggerResult.CONTINUE

    def on_event_time(self, time: int, window: Any, ctx: Any) -> TriggerResult:
        return TriggerResult.FIRE

    def on_merge(self, window: Any, ctx: Any) -> None: ...

    def clear(self, window: Any, ctx: Any) -> None:
        ctx.delete_event_time_timer(window.max_timestamp())


def test_purge_without_fire_forgets_what_came_before() -> None:
    harness = windowed(TEN, Show(), trigger=OnTotal())
    push(harness, 1, 2, 7, 8)
    harness.end_of_input()
    assert harness.results == [([8], 9)]


def test_a_purged_window_does_not_fire_when_it_is_empty() -> None:
    harness = windowed(TEN, Show(), trigger=OnTotal())
    push(harness, 1, 7)
    harness.end_of_input()
    assert harness.results == []


class DropFirst(Evictor[Any, Any]):
    def evict_before(self, elements: Any, size: int, window: Any, evictor_context: Any) -> None:
        del elements[0]

    def evict_after(self, elements: Any, size: int, window: Any, evictor_context: Any) -> None:
        del elements[-1]


def test_evictors_work_before_and_after_the_function_and_for_good() -> None:
    harness = windowed(GlobalWindows(), Show(), trigger=CountTrigger.of(3), evictor=DropFirst())
    push(harness, 1, 2, 3)
    harness.restart()
    push(harness, 4, 5, 6)
    assert harness.take() == [[2, 3], [4, 5, 6]]


def test_time_evictor_keeps_what_is_near_the_newest_element() -> None:
    harness = windowed(GlobalWindows(), Show(), trigger=CountTrigger.of(4), evictor=TimeEvictor(10))
    push(harness, 1, 20, 9, 12)
    assert harness.take() == [[20, 12]]


def test_delta_evictor_removes_what_is_far_from_the_last_element() -> None:
    evictor = DeltaEvictor.of(5, lambda element, last: abs(element[1] - last[1]))
    harness = windowed(GlobalWindows(), Show(), trigger=CountTrigger.of(4), evictor=evictor)
    push(harness, 1, 20, 9, 12)
    assert harness.take() == [[9, 12]]


def test_with_an_evictor_reduce_sees_what_is_left() -> None:
    total = ReduceFunctionWrapper(lambda a, b: (a[0], a[1] + b[1]))
    harness = windowed(GlobalWindows(), trigger=CountTrigger.of(3), evictor=TimeEvictor(10), aggregation=total)
    push(harness, 1, 20, 15)
    assert harness.take() == [("a", 35)]


def test_a_late_element_that_bridges_two_sessions_loses_neither() -> None:
    total = ReduceFunctionWrapper(lambda a, b: (a[0], a[1] + b[1]))
    harness = windowed(EventTimeSessionWindows(5), aggregation=total)
    push(harness, 10, 20)
    harness.restart()
    push(harness, 15)
    harness.end_of_input()
    assert harness.results == [(("a", 45), 24)]


@pytest.mark.parametrize("aggregation", [None, ReduceFunctionWrapper(lambda a, b: (a[0], a[1] + b[1]))])
def test_a_session_that_has_just_fired_is_evaluated_again_by_a_late_element(aggregation: Any) -> None:
    harness = windowed(EventTimeSessionWindows(5), Show(), aggregation=aggregation, allowed_lateness=100)
    push(harness, 10, 12)
    harness.watermark(16)  # the very last moment of the session
    push(harness, 11)
    assert [(sum(values), timestamp) for values, timestamp in harness.results] == [(22, 16), (33, 11)]
    push(harness, 14)  # the session is longer now, and fires again at its new end
    assert len(harness.results) == 2
    harness.restart()
    harness.watermark(20)
    assert [(sum(values), timestamp) for values, timestamp in harness.results[2:]] == [(47, 18)]


def test_a_count_trigger_on_sessions_merges_its_counts() -> None:
    harness = windowed(EventTimeSessionWindows(5), Show(), trigger=CountTrigger.of(3))
    push(harness, 10, 20)
    harness.restart()
    push(harness, 15)
    assert [sorted(values) for values in harness.take()] == [[10, 15, 20]]


class Firings(ProcessWindowFunction[Any, Any, Any, Any]):
    descriptor = ValueStateDescriptor("count", Types.INT())

    def process(self, key: Any, context: Any, elements: Any) -> Iterator[Any]:
        here = context.window_state().get_state(self.descriptor)
        everywhere = context.global_state().get_state(self.descriptor)
        here.update((here.value() or 0) + 1)
        everywhere.update((everywhere.value() or 0) + 1)
        yield context.window().start, here.value(), everywhere.value()
        yield OutputTag("sizes"), len(list(elements))

    def clear(self, context: Any) -> None:
        context.window_state().get_state(self.descriptor).clear()


@pytest.mark.parametrize("aggregation", [None, ReduceFunctionWrapper(lambda a, b: b)])
@pytest.mark.parametrize("assigner", [TEN, SlidingEventTimeWindows(10, 5, 0)])
def test_window_state_is_per_window_and_global_state_per_key(assigner: Any, aggregation: Any) -> None:
    harness = windowed(assigner, Firings(), aggregation=aggregation, allowed_lateness=20)
    push(harness, 1, 12)
    harness.watermark(20)
    harness.restart()
    push(harness, 3, 4)
    first = [(window, here) for window, here, _ in harness.output.values if window == 0]
    assert first == [(0, 1), (0, 2), (0, 3)]
    everywhere = [count for *_, count in harness.output.values]
    assert everywhere == list(range(1, len(everywhere) + 1))
    harness.watermark(1000)
    assert not list(harness.operator.backend.table("_window:count", ValueStateDescriptor).keys())  # type: ignore[attr-defined]
    assert len(harness.side("sizes").values) == len(harness.results)


def test_per_window_state_of_merging_windows_is_refused() -> None:
    harness = windowed(EventTimeSessionWindows(5), Firings())
    push(harness, 1)
    with pytest.raises(ProgramError, match="merging windows"):
        harness.end_of_input()


class All(ProcessAllWindowFunction[Any, Any, Any]):
    def process(self, context: Any, elements: Any) -> Iterator[Any]:
        yield context.window().start, sorted(elements)


def test_windows_without_key() -> None:
    window = WindowSettings(TEN, TEN.get_default_trigger(None))
    harness = OperatorHarness("window", All(), {"window": window}, key=lambda _: 0)
    harness.push_all([3, 1, 12], [3, 1, 12])
    harness.end_of_input()
    assert harness.results == [((0, [1, 3]), 9), ((10, [12]), 19)]


def test_the_last_millisecond_of_a_processing_time_window_belongs_to_it() -> None:
    harness = windowed(TumblingProcessingTimeWindows(10, 0), Show())
    harness.processing_time(9)
    push(harness, 1)
    assert harness.operator.next_processing_time() == 10
    harness.processing_time(9)
    push(harness, 2)
    harness.processing_time(10)
    assert harness.results == [([1, 2], 9)]


@pytest.mark.parametrize("assigner", [TEN, SlidingEventTimeWindows(10, 5, 0)])
@pytest.mark.parametrize("aggregation", [None, ReduceFunctionWrapper(lambda a, b: b)])
def test_event_time_windows_refuse_records_without_timestamps(assigner: Any, aggregation: Any) -> None:
    harness = windowed(assigner, None, aggregation=aggregation)
    with pytest.raises(ProgramError, match="assign_timestamps_and_watermarks"):
        harness.push(("a", 1))


@pytest.mark.parametrize("assigner", [TEN, SlidingEventTimeWindows(20, 5, 0), EventTimeSessionWindows(10)])
def test_built_in_aggregations(assigner: Any) -> None:
    records = [("a", 3, "x"), ("a", 1, "y"), ("a", 3, "z"), ("a", 2, "v")]
    expected = {
        Sum: ("a", 9, "x"),
        Minimum: ("a", 1, "x"),
        Maximum: ("a", 3, "x"),
        MinimumBy: ("a", 1, "y"),
        MaximumBy: ("a", 3, "x"),
    }
    row = Types.TUPLE([Types.STRING(), Types.INT(), Types.STRING()])
    for aggregation, result in expected.items():
        harness = windowed(assigner, aggregation=aggregation(1, row))
        harness.push_all(records[:3], [2, 3, 4])
        harness.restart()
        harness.push_all(records[3:], [4])
        harness.end_of_input()
        assert set(harness.output.values) == {result}


class Average(AggregateFunction):
    def create_accumulator(self) -> tuple[Any, int]:
        return 0, 0

    def add(self, value: Any, accumulator: tuple[Any, int]) -> tuple[Any, int]:
        return accumulator[0] + value, accumulator[1] + 1

    def get_result(self, accumulator: tuple[Any, int]) -> Any:
        return accumulator[0] / accumulator[1]

    def merge(self, acc_a: tuple[Any, int], acc_b: tuple[Any, int]) -> tuple[Any, int]:
        return acc_a[0] + acc_b[0], acc_a[1] + acc_b[1]


FOUR_SECONDS = SlidingEventTimeWindows(4000, 1000, 0)


@pytest.mark.parametrize(
    ("reduce", "values"),
    [
        # The first hundreds of records would let one believe that it may be applied to parts.
        (lambda a, b: (a[0], a[1] + min(b[1], 100)), [*range(300), *range(0, 3000, 10)]),
        (lambda a, b: (a[0], a[1] + 1), [7, 3, 1000, 2, 250] * 120),
        (lambda a, b: (a[0], a[1] + b[1]), [0.1, 0.2, 0.3, 1e16, -1e16] * 120),
    ],
)
def test_a_function_that_is_not_declared_mergeable_is_called_as_flink_calls_it(reduce: Any, values: list[Any]) -> None:
    records = [("a", value, position * 50) for position, value in enumerate(values)]
    harness = windowed(FOUR_SECONDS, aggregation=ReduceFunctionWrapper(lambda a, b: (*reduce(a, b), 0)))
    for start in range(0, len(records), 70):
        chunk = records[start : start + 70]
        harness.push_all(chunk, [time for _, _, time in chunk])
        harness.watermark(chunk[-1][2] - 1000)
        harness.restart()
    harness.end_of_input()
    for (_, total, *_), last in harness.results:
        inside = [(key, value) for key, value, time in records if last is not None and last - 4000 < time <= last]
        expected = inside[0]
        for record in inside[1:]:
            expected = reduce(expected, record)
        assert total == expected[1]
    assert len(harness.results) == 33


@pytest.mark.parametrize("assigner", [TumblingEventTimeWindows(1000, 0), SlidingEventTimeWindows(4000, 1000, 0)])
def test_state_grows_with_what_is_open_not_with_what_has_been_seen(assigner: Any) -> None:
    harness = windowed(assigner, aggregation=ReduceFunctionWrapper(lambda a, b: (a[0], a[1] + b[1])))
    values = [(key % 50, 1) for key in range(20_000)]
    sizes, deltas = [], []
    for second in range(50):
        harness.push_all(values, [second * 1000 + position // 20 for position in range(len(values))])
        harness.watermark(second * 1000)
        deltas.append(len(harness.snapshot()))
        harness._snapshots.clear()
        backend = harness.operator.backend  # type: ignore[attr-defined]
        tables = [table.full_delta() for table in backend._tables.values()]
        sizes.append(len(pickle.dumps(tables)) + len(harness.operator.timers.event))  # type: ignore[attr-defined]
        assert len(harness.take()) == (50 if second else 0)
    for measured in (sizes, deltas):
        assert min(measured[10:]) > 400 and max(measured[10:]) <= min(measured[10:]) * 1.1


class CountedCalls(Average):
    calls = 0
    mergeable = True

    def add(self, value: Any, accumulator: tuple[Any, int]) -> tuple[Any, int]:
        CountedCalls.calls += 1
        return super().add(value[1], accumulator)


def add_seconds(a: Any, b: Any) -> Any:
    return a[0], a[1] + b[1]


@pytest.mark.parametrize(
    ("aggregation", "shared"),
    [
        (ReduceFunctionWrapper(add_seconds), False),
        (ReduceFunctionWrapper(mergeable(lambda a, b: add_seconds(a, b))), True),
        (Average(), False),
        (mergeable(CountedCalls)(), True),
        (Sum(1, Types.TUPLE([Types.STRING(), Types.LONG()])), True),
        (Sum(1, Types.TUPLE([Types.STRING(), Types.DOUBLE()])), False),  # rounding depends on the order
        (Sum(1, Types.PICKLED_BYTE_ARRAY()), False),  # may be a sum of fractions
    ],
)
def test_slices_are_shared_only_if_that_is_known_or_declared_to_change_nothing(aggregation: Any, shared: bool) -> None:
    operator: Any = windowed(FOUR_SECONDS, aggregation=aggregation).operator
    assert operator.index.takes_slices is shared


def test_a_record_is_added_once_although_it_belongs_to_four_sliding_windows() -> None:
    harness = windowed(SlidingEventTimeWindows(4000, 1000, 0), aggregation=CountedCalls())
    function = harness.operator.settings.aggregation  # type: ignore[attr-defined]
    harness.push_all([("a", 1)] * 1000, range(1000))
    counted = type(function)
    counted.calls = 0
    harness.push_all([("a", 1)] * 10_000, range(1000, 11_000))
    assert counted.calls == 10_000
    harness.end_of_input()
    assert len(harness.results) == 14

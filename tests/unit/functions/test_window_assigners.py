"""Which windows each assigner gives an element."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from tests.unit.functions.window_contexts import MIN_LONG, AssignerContext

from penstock.common.errors import ProgramError
from penstock.common.time import Duration, Time
from penstock.datastream.window import (
    CountSlidingWindowAssigner,
    CountTrigger,
    CountTumblingWindowAssigner,
    DynamicEventTimeSessionWindows,
    DynamicProcessingTimeSessionWindows,
    EventTimeSessionWindows,
    EventTimeTrigger,
    GlobalWindow,
    GlobalWindows,
    NeverTrigger,
    ProcessingTimeSessionWindows,
    ProcessingTimeTrigger,
    SessionWindowTimeGapExtractor,
    SlidingEventTimeWindows,
    SlidingProcessingTimeWindows,
    TimeWindow,
    TumblingEventTimeWindows,
    TumblingProcessingTimeWindows,
    WindowAssigner,
)


def intervals(assigner: WindowAssigner[Any, TimeWindow], timestamp: int, now: int = 0, element: Any = None) -> Any:
    windows = assigner.assign_windows(element, timestamp, AssignerContext(now))
    return [(window.start, window.end) for window in windows]


def test_tumbling_windows_follow_the_timestamp_or_the_clock() -> None:
    size = Time.milliseconds(10)
    assert intervals(TumblingEventTimeWindows.of(size), 15, now=99) == [(10, 20)]
    assert intervals(TumblingEventTimeWindows.of(size), 20) == [(20, 30)]
    assert intervals(TumblingEventTimeWindows.of(size), -1) == [(-10, 0)]
    assert intervals(TumblingProcessingTimeWindows.of(size), 15, now=99) == [(90, 100)]


def test_an_offset_shifts_windows_in_both_directions() -> None:
    day, hour = 86_400_000, 3_600_000
    assigner = TumblingEventTimeWindows.of(Time.days(1), Time.hours(-8))
    assert intervals(assigner, 15 * hour) == [(-8 * hour, day - 8 * hour)]
    assert intervals(assigner, 16 * hour) == [(day - 8 * hour, 2 * day - 8 * hour)]
    assert intervals(TumblingEventTimeWindows.of(Time.milliseconds(10), Time.milliseconds(3)), 2) == [(-7, 3)]


def test_an_element_is_in_all_sliding_windows_that_contain_it_newest_first() -> None:
    assigner = SlidingEventTimeWindows.of(Time.milliseconds(10), Time.milliseconds(4))
    assert intervals(assigner, 9) == [(8, 18), (4, 14), (0, 10)]
    assert intervals(assigner, 10) == [(8, 18), (4, 14)]
    clock = SlidingProcessingTimeWindows.of(Time.milliseconds(4), Time.milliseconds(2), Time.milliseconds(1))
    assert intervals(clock, 0, now=6) == [(5, 9), (3, 7)]


@pytest.mark.parametrize("timestamp", range(-25, 25))
@pytest.mark.parametrize(("size", "slide", "offset"), [(10, 4, 0), (10, 5, 2), (3, 5, -1), (7, 7, 3)])
def test_sliding_windows_are_exactly_those_around_the_element(
    timestamp: int, size: int, slide: int, offset: int
) -> None:
    aligned_starts = (offset + step * slide for step in range(-50, 50))
    expected = {(start, start + size) for start in aligned_starts if start <= timestamp < start + size}
    assert set(intervals(SlidingEventTimeWindows(size, slide, offset), timestamp)) == expected


def test_sessions_start_as_long_as_their_gap() -> None:
    gap = Time.milliseconds(10)
    assert intervals(EventTimeSessionWindows.with_gap(gap), 5, now=99) == [(5, 15)]
    assert intervals(ProcessingTimeSessionWindows.with_gap(gap), 5, now=99) == [(99, 109)]


class GapInElement(SessionWindowTimeGapExtractor):
    def extract(self, element: Any) -> int:
        return int(element)


def test_dynamic_gaps_come_from_the_element() -> None:
    by_event = EventTimeSessionWindows.with_dynamic_gap(GapInElement())
    by_clock = ProcessingTimeSessionWindows.with_dynamic_gap(GapInElement())
    assert isinstance(by_event, DynamicEventTimeSessionWindows)
    assert isinstance(by_clock, DynamicProcessingTimeSessionWindows)
    assert intervals(by_event, 5, element=7) == [(5, 12)]
    assert intervals(by_clock, 5, now=50, element=7) == [(50, 57)]
    with pytest.raises(ProgramError, match="gap must be positive"):
        intervals(by_event, 5, element=0)


def numbered(assigner: WindowAssigner[Any, Any], elements: int) -> list[list[int]]:
    context = AssignerContext()
    return [[window.id for window in assigner.assign_windows(i, 0, context)] for i in range(elements)]


def test_tumbling_count_windows_number_groups_of_elements() -> None:
    assert numbered(CountTumblingWindowAssigner.of(2), 5) == [[0], [0], [1], [1], [2]]


@pytest.mark.parametrize(("size", "slide"), [(4, 2), (5, 2), (2, 2), (1, 3), (3, 5), (7, 1)])
def test_sliding_count_windows_are_exactly_those_around_the_element(size: int, slide: int) -> None:
    expected = [[id for id in reversed(range(30)) if id * slide <= number < id * slide + size] for number in range(20)]
    assert numbered(CountSlidingWindowAssigner.of(size, slide), 20) == expected


def test_global_windows_have_one_window() -> None:
    assert list(GlobalWindows.create().assign_windows(1, 2, AssignerContext())) == [GlobalWindow()]


def test_default_triggers_and_time_domains() -> None:
    second = Time.seconds(1)
    expectations: list[tuple[WindowAssigner[Any, Any], type, bool]] = [
        (TumblingEventTimeWindows.of(second), EventTimeTrigger, True),
        (SlidingEventTimeWindows.of(second, second), EventTimeTrigger, True),
        (EventTimeSessionWindows.with_gap(second), EventTimeTrigger, True),
        (TumblingProcessingTimeWindows.of(second), ProcessingTimeTrigger, False),
        (SlidingProcessingTimeWindows.of(second, second), ProcessingTimeTrigger, False),
        (ProcessingTimeSessionWindows.with_gap(second), ProcessingTimeTrigger, False),
        (CountTumblingWindowAssigner.of(1), CountTrigger, False),
        (CountSlidingWindowAssigner.of(1, 1), CountTrigger, False),
        (GlobalWindows.create(), NeverTrigger, False),
    ]
    for assigner, trigger, is_event_time in expectations:
        assert type(assigner.get_default_trigger(None)) is trigger
        assert assigner.is_event_time() is is_event_time
        copy = pickle.loads(pickle.dumps(assigner))
        assert repr(copy) == repr(assigner)


def test_text_as_in_pyflink() -> None:
    assert repr(TumblingEventTimeWindows.of(Time.seconds(5))) == "TumblingEventTimeWindows(5000, 0)"
    sliding = SlidingEventTimeWindows.of(Duration.of_seconds(5), Duration.of_seconds(1))
    assert repr(sliding) == "SlidingEventTimeWindows(5000, 1000, 0)"
    assert repr(EventTimeSessionWindows.with_gap(Time.seconds(5))) == "EventTimeSessionWindows(5000)"


def test_an_element_without_timestamp_names_the_way_out() -> None:
    assigners: list[WindowAssigner[Any, TimeWindow]] = [
        TumblingEventTimeWindows(10, 0),
        SlidingEventTimeWindows(10, 5, 0),
    ]
    for assigner in assigners:
        with pytest.raises(ProgramError, match="assign_timestamps_and_watermarks"):
            intervals(assigner, MIN_LONG)


@pytest.mark.parametrize(
    "build",
    [
        lambda: TumblingEventTimeWindows(10, 10),
        lambda: TumblingEventTimeWindows(0, 0),
        lambda: SlidingEventTimeWindows(10, 5, -5),
        lambda: SlidingEventTimeWindows(0, 5, 0),
        lambda: EventTimeSessionWindows(0),
        lambda: CountTumblingWindowAssigner(0),
        lambda: CountSlidingWindowAssigner(5, 0),
        lambda: TumblingEventTimeWindows.of(5),  # type: ignore[arg-type]
        lambda: EventTimeSessionWindows.with_dynamic_gap(7),  # type: ignore[arg-type]
    ],
)
def test_impossible_windows_are_refused(build: Any) -> None:
    with pytest.raises(ProgramError):
        build()

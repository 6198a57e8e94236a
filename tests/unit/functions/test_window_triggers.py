"""What each trigger answers, which timers it sets, and what it leaves behind."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from tests.unit.functions.window_contexts import WindowContext

from penstock.common.errors import ProgramError
from penstock.common.time import Duration, Time
from penstock.datastream.window import (
    ContinuousEventTimeTrigger,
    ContinuousProcessingTimeTrigger,
    CountTrigger,
    CountWindow,
    DeltaFunction,
    DeltaTrigger,
    EventTimeTrigger,
    GlobalWindow,
    NeverTrigger,
    ProcessingTimeTrigger,
    PurgingTrigger,
    TimeWindow,
    Trigger,
    TriggerResult,
)

WINDOW = TimeWindow(0, 100)
CONTINUE, FIRE = TriggerResult.CONTINUE, TriggerResult.FIRE


def test_event_time_trigger_waits_for_the_watermark() -> None:
    trigger, ctx = EventTimeTrigger.create(), WindowContext(watermark=50)
    assert trigger.on_element("a", 10, WINDOW, ctx) is CONTINUE
    assert ctx.event_timers == {99}
    assert trigger.on_event_time(98, WINDOW, ctx) is CONTINUE
    assert trigger.on_event_time(99, WINDOW, ctx) is FIRE
    trigger.clear(WINDOW, ctx)
    assert ctx.event_timers == set()


def test_event_time_trigger_fires_for_each_late_element() -> None:
    ctx = WindowContext(watermark=99)
    assert EventTimeTrigger.create().on_element("late", 10, WINDOW, ctx) is FIRE
    assert ctx.event_timers == set()


def test_event_time_trigger_sets_the_timer_of_a_merged_window_unless_it_is_past() -> None:
    ahead, past = WindowContext(watermark=98), WindowContext(watermark=99)
    EventTimeTrigger.create().on_merge(WINDOW, ahead)
    EventTimeTrigger.create().on_merge(WINDOW, past)
    assert (ahead.event_timers, past.event_timers) == ({99}, set())


def test_processing_time_trigger_waits_for_the_clock() -> None:
    trigger, ctx = ProcessingTimeTrigger.create(), WindowContext(now=10)
    assert trigger.on_element("a", 0, WINDOW, ctx) is CONTINUE
    assert ctx.processing_timers == {99}
    assert trigger.on_processing_time(99, WINDOW, ctx) is FIRE
    assert trigger.on_event_time(99, WINDOW, ctx) is CONTINUE
    trigger.clear(WINDOW, ctx)
    assert ctx.processing_timers == set()


def test_continuous_event_time_trigger_fires_at_multiples_of_the_interval_and_at_the_end() -> None:
    trigger, ctx = ContinuousEventTimeTrigger.of(Time.milliseconds(40)), WindowContext()
    assert trigger.on_element("a", 45, WINDOW, ctx) is CONTINUE
    assert ctx.event_timers == {80, 99}
    assert trigger.on_element("earlier", 5, WINDOW, ctx) is CONTINUE
    assert ctx.event_timers == {80, 99}, "the next firing stays as it was"
    assert trigger.on_event_time(60, WINDOW, ctx) is CONTINUE
    assert trigger.on_event_time(80, WINDOW, ctx) is FIRE
    assert ctx.states["fire-time"].get() == 99
    assert trigger.on_event_time(99, WINDOW, ctx) is FIRE


def test_continuous_event_time_trigger_keeps_the_earliest_firing_of_merged_windows() -> None:
    trigger, ctx = ContinuousEventTimeTrigger.of(Time.milliseconds(40)), WindowContext()
    ctx.merged_values = [80, 40]
    trigger.on_merge(WINDOW, ctx)
    assert ctx.event_timers == {40}
    trigger.clear(WINDOW, ctx)
    assert ctx.event_timers == set()
    assert ctx.states["fire-time"].get() is None


def test_continuous_processing_time_trigger_follows_the_clock_not_the_element() -> None:
    trigger, ctx = ContinuousProcessingTimeTrigger.of(Duration.of_millis(40)), WindowContext(now=45)
    assert trigger.on_element("a", 5, WINDOW, ctx) is CONTINUE
    assert ctx.processing_timers == {80}
    assert trigger.on_processing_time(79, WINDOW, ctx) is CONTINUE
    assert trigger.on_processing_time(80, WINDOW, ctx) is FIRE
    assert 99 in ctx.processing_timers


def test_count_trigger_starts_again_after_firing() -> None:
    trigger, ctx = CountTrigger.of(2), WindowContext()
    results = [trigger.on_element(i, 0, CountWindow(0), ctx) for i in range(4)]
    assert results == [CONTINUE, FIRE, CONTINUE, FIRE]


def test_count_trigger_adds_the_counts_of_merged_windows() -> None:
    trigger, ctx = CountTrigger.of(5), WindowContext()
    ctx.merged_values = [2, 2]
    trigger.on_merge(CountWindow(0), ctx)
    assert trigger.on_element("a", 0, CountWindow(0), ctx) is FIRE


def test_purging_trigger_purges_whenever_its_trigger_fires() -> None:
    trigger, ctx = PurgingTrigger.of(CountTrigger.of(2)), WindowContext()
    window: Any = CountWindow(0)
    assert trigger.on_element("a", 0, window, ctx) is CONTINUE
    assert trigger.on_element("b", 0, window, ctx) is TriggerResult.FIRE_AND_PURGE
    by_time = PurgingTrigger.of(EventTimeTrigger())
    assert by_time.on_event_time(99, WINDOW, ctx) is TriggerResult.FIRE_AND_PURGE
    assert PurgingTrigger.of(ProcessingTimeTrigger()).on_processing_time(1, WINDOW, ctx).is_purge()


def test_never_trigger_never_fires() -> None:
    trigger: NeverTrigger[Any] = NeverTrigger()
    window, ctx = GlobalWindow(), WindowContext()
    answers = {
        trigger.on_element(1, 0, window, ctx),
        trigger.on_event_time(0, window, ctx),
        trigger.on_processing_time(0, window, ctx),
    }
    assert answers == {CONTINUE}


def difference(old: float, new: float) -> float:
    return new - old


class Difference(DeltaFunction[float]):
    def get_delta(self, old_data_point: float, new_data_point: float) -> float:
        return new_data_point - old_data_point


@pytest.mark.parametrize("delta", [difference, Difference()])
def test_delta_trigger_measures_from_the_element_at_which_it_fired_last(delta: Any) -> None:
    trigger, ctx = DeltaTrigger.of(10, delta), WindowContext()
    results = [trigger.on_element(value, 0, WINDOW, ctx) for value in (0, 10, 11, 20, 22)]
    assert results == [CONTINUE, CONTINUE, FIRE, CONTINUE, FIRE]
    trigger.clear(WINDOW, ctx)
    assert trigger.on_element(100, 0, WINDOW, ctx) is CONTINUE


def test_which_triggers_work_with_sessions() -> None:
    merging: list[Trigger[Any, Any]] = [
        EventTimeTrigger(), ProcessingTimeTrigger(), CountTrigger(1), ContinuousEventTimeTrigger(1),
        ContinuousProcessingTimeTrigger(1), PurgingTrigger(CountTrigger(1)),
    ]  # fmt: skip
    others: list[Trigger[Any, Any]] = [
        NeverTrigger(),
        DeltaTrigger(1, difference),
        PurgingTrigger(NeverTrigger()),
    ]
    assert all(trigger.can_merge() for trigger in merging)
    assert not any(trigger.can_merge() for trigger in others)


def test_triggers_travel_to_workers() -> None:
    trigger = pickle.loads(pickle.dumps(PurgingTrigger.of(CountTrigger.of(1))))
    assert trigger.on_element("a", 0, CountWindow(0), WindowContext()) is TriggerResult.FIRE_AND_PURGE


def test_wrong_arguments_are_refused_where_they_are_given() -> None:
    with pytest.raises(ProgramError, match="positive integer"):
        CountTrigger.of(0)
    with pytest.raises(ProgramError, match="interval must be a Time"):
        ContinuousEventTimeTrigger.of(5)  # type: ignore[arg-type]
    with pytest.raises(ProgramError, match="expects a Trigger"):
        PurgingTrigger.of(CountTrigger)  # type: ignore[arg-type]
    with pytest.raises(ProgramError, match="DeltaFunction or a callable"):
        DeltaTrigger.of(1.0, 5)  # type: ignore[arg-type]

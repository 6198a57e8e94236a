"""The operator harness itself: what it feeds, what it collects, and what survives a restart."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from penstock.common.typeinfo import Types
from penstock.datastream.functions import KeyedProcessFunction, RuntimeContext
from penstock.datastream.state import ValueStateDescriptor
from penstock.functions.output_tag import OutputTag
from penstock.runtime.batch import MAX_TIMESTAMP
from penstock.testing.harness import OperatorHarness


class CountThenSayTime(KeyedProcessFunction):
    def __init__(self) -> None:
        self.calls = 0

    def open(self, runtime_context: RuntimeContext) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.INT()))

    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        self.calls += 1
        self.count.update((self.count.value() or 0) + 1)
        ctx.timer_service().register_event_time_timer(100)
        ctx.timer_service().register_processing_time_timer(50)
        yield ctx.get_current_key(), self.count.value(), self.calls
        yield OutputTag("seen"), value

    def on_timer(self, timestamp: int, ctx: Any) -> Iterator[Any]:
        yield "timer", timestamp, ctx.get_current_key()


def harness() -> OperatorHarness:
    return OperatorHarness("keyed_process", CountThenSayTime(), key=lambda value: value[0])


def test_elements_side_outputs_timers_and_the_end() -> None:
    run = harness()
    run.push_all(["apple", "bean"], [1, 2])
    run.push("avocado", 3)
    assert run.results == [(("a", 1, 1), 1), (("b", 1, 2), 2), (("a", 2, 3), 3)]
    assert run.side("seen").values == ["apple", "bean", "avocado"]
    run.take()
    run.processing_time(60)
    assert run.take() == [("timer", 50, "a"), ("timer", 50, "b")]
    run.watermark(99)
    assert run.take() == []
    run.watermark(98)
    run.end_of_input()
    assert run.take() == [("timer", 100, "a"), ("timer", 100, "b")]
    assert run.output.watermarks == [99, MAX_TIMESTAMP]
    assert run.output.ended and run.side("seen").ended


def test_a_restart_keeps_state_timers_and_attributes_in_a_new_instance() -> None:
    for full in (False, True):
        run = harness()
        run.push("apple", 1)
        before = run.operator
        run.restart(full)
        assert run.operator is not before
        run.push("avocado", 2)
        run.restart(full)
        run.watermark(100)
        assert run.output.values == [("a", 1, 1), ("a", 2, 2), ("timer", 100, "a")]


def test_what_was_not_in_a_snapshot_is_lost_by_a_restore() -> None:
    run = harness()
    run.push("apple", 1)
    run.snapshot()
    run.push("avocado", 2)
    run.restore()
    run.push("artichoke", 3)
    assert run.output.values[-1] == ("a", 2, 2)


def test_each_input_has_its_own_key_selector() -> None:
    from penstock.datastream.functions import KeyedCoProcessFunction

    class Keys(KeyedCoProcessFunction):
        def process_element1(self, value: Any, ctx: Any) -> Iterator[Any]:
            yield 1, ctx.get_current_key()

        def process_element2(self, value: Any, ctx: Any) -> Iterator[Any]:
            yield 2, ctx.get_current_key()

    run = OperatorHarness("keyed_co_process", Keys(), key=[lambda value: value[0], lambda value: value[-1]])
    run.push("ab")
    run.push("ab", input_index=1)
    assert run.results == [((1, "a"), None), ((2, "b"), None)]

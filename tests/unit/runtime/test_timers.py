"""Timers fire in time order, once each, and survive snapshots."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from penstock.datastream import KeyedProcessFunction
from penstock.runtime.state.keyed import KeyScope
from penstock.runtime.timers import TimerQueue, Timers
from penstock.testing.harness import OperatorHarness

A, B = ("a", None), ("b", None)


def test_fires_in_time_order_whatever_the_order_of_registration() -> None:
    queue = TimerQueue()
    for moment in (30, 10, 20):
        queue.add(moment, A)
    assert queue.earliest() == 10
    assert queue.take_due(20) == [(10, A), (20, A)]
    assert queue.take_due(100) == [(30, A)]
    assert queue.take_due(100) == []
    assert queue.earliest() is None


def test_same_key_and_moment_is_one_timer_other_namespaces_are_others() -> None:
    queue = TimerQueue()
    queue.add(5, A)
    queue.add(5, A)
    queue.add(5, ("a", "window"))
    assert len(queue) == 2


def test_deleted_timer_does_not_fire() -> None:
    queue = TimerQueue()
    queue.add(5, A)
    queue.add(5, B)
    queue.remove(5, A)
    queue.remove(7, A)
    assert queue.take_due(5) == [(5, B)]


def test_earliest_passes_over_moments_whose_timers_are_all_deleted() -> None:
    queue = TimerQueue()
    queue.add(5, A)
    queue.add(9, A)
    queue.remove(5, A)
    assert queue.earliest() == 9
    queue.add(5, A)
    assert queue.earliest() == 5


def test_a_timer_that_comes_and_goes_within_an_epoch_is_no_change() -> None:
    queue = TimerQueue()
    queue.add(5, A)
    queue.remove(5, A)
    assert not queue.take_delta()
    queue.add(6, A)
    assert queue.take_delta() == {(6, A): True}
    queue.remove(6, A)
    queue.add(6, A)
    assert not queue.take_delta()
    queue.take_due(6)
    assert queue.take_delta() == {(6, A): False}


class Chain(KeyedProcessFunction):
    """Its timers set and delete timers that are due in the same round."""

    def process_element(self, value: Any, ctx: KeyedProcessFunction.Context) -> Any:
        for moment in (100, 200, 300):
            ctx.timer_service().register_event_time_timer(moment)
        yield from ()

    def on_timer(self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext) -> Any:
        if timestamp == 100:
            ctx.timer_service().register_event_time_timer(150)
            ctx.timer_service().delete_event_time_timer(300)
        yield timestamp


def test_due_timers_are_taken_together_and_those_set_meanwhile_follow() -> None:
    """As PyFlink does in process mode (tests/pyflink_programs/timer_changes_while_several_are_due)."""
    harness = OperatorHarness("keyed_process", Chain(), key=lambda value: value)
    harness.push("a", timestamp=1)
    harness.watermark(1000)
    assert harness.take() == [100, 200, 300, 150]


steps = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["add", "remove"]), st.integers(0, 10), st.sampled_from([A, B, ("a", 1)])),
        st.tuples(st.just("fire"), st.integers(0, 10), st.just(A)),
        st.tuples(st.sampled_from(["epoch", "full"]), st.just(0), st.just(A)),
    ),
    max_size=60,
)


@given(steps)
def test_equals_a_set_of_timers_however_epochs_are_cut(operations: list[tuple[str, int, Any]]) -> None:
    queue, log, model = TimerQueue(), [], set()
    for what, moment, entry in operations:
        if what == "add":
            queue.add(moment, entry)
            model.add((moment, entry))
        elif what == "remove":
            queue.remove(moment, entry)
            model.discard((moment, entry))
        elif what == "fire":
            due = queue.take_due(moment)
            assert sorted(due, key=repr) == sorted((t for t in model if t[0] <= moment), key=repr)
            assert [t for t, _ in due] == sorted(t for t, _ in due)
            model = {timer for timer in model if timer[0] > moment}
        else:
            delta = queue.take_delta()
            if what == "full":
                log = [queue.full_delta()]
            else:
                log.append(delta)
            queue = TimerQueue()
            for delta in log:
                queue.apply_delta(delta)
        assert len(queue) == len(model)
        assert queue.earliest() == min((moment for moment, _ in model), default=None)


def test_both_domains_travel_in_one_delta() -> None:
    timers = Timers(KeyScope())
    timers.event.add(1, A)
    timers.processing.add(2, B)
    other = Timers(KeyScope())
    changes = timers.take_delta()
    assert changes is not None
    other.apply_delta(changes)
    assert timers.take_delta() is None
    assert (other.event.earliest(), other.processing.earliest()) == (1, 2)
    third = Timers(KeyScope())
    third.apply_delta(other.full_delta())
    assert (third.event.earliest(), third.processing.earliest()) == (1, 2)

"""The watermark of an operator from those of its channels."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from penstock.runtime.batch import MIN_TIMESTAMP
from penstock.runtime.valve import WatermarkValve


def test_minimum_over_all_channels() -> None:
    valve = WatermarkValve("ab")
    assert valve.advance("a", 10) is None
    assert valve.advance("b", 5) == 5
    assert valve.advance("b", 20) == 10
    assert valve.watermark == 10


def test_older_watermarks_change_nothing() -> None:
    valve = WatermarkValve("a")
    assert valve.advance("a", 10) == 10
    assert valve.advance("a", 10) is None
    assert valve.advance("a", 3) is None


def test_idle_channel_does_not_hold_back() -> None:
    valve = WatermarkValve("ab")
    valve.advance("a", 10)
    assert valve.set_idle("b", True) == (10, None)
    assert valve.advance("a", 11) == 11


def test_channel_that_comes_back_behind_does_not_take_time_back() -> None:
    valve = WatermarkValve("ab")
    valve.advance("a", 10)
    valve.set_idle("b", True)
    assert valve.set_idle("b", False) == (None, None)
    assert valve.watermark == 10
    assert valve.advance("a", 20) is None, "b holds back again"
    assert valve.advance("b", 15) == 15


def test_all_idle_makes_the_operator_idle_at_the_furthest() -> None:
    valve = WatermarkValve("ab")
    valve.advance("a", 10)
    valve.advance("b", 5)
    assert valve.set_idle("a", True) == (None, None)
    assert valve.set_idle("b", True) == (10, True)
    assert valve.idle
    assert valve.set_idle("a", False) == (None, False)
    assert not valve.idle


def test_idleness_said_twice_is_no_change() -> None:
    valve = WatermarkValve("ab")
    valve.set_idle("a", True)
    assert valve.set_idle("a", True) == (None, None)


def test_end_of_some_or_all_channels() -> None:
    valve = WatermarkValve("ab")
    valve.end("a")
    assert valve.ended("a") and not valve.ended()
    valve.end("b")
    assert valve.ended()


def test_end_is_the_end_of_idleness_for_nobody_else() -> None:
    valve = WatermarkValve("ab")
    valve.set_idle("b", True)
    assert valve.advance("a", 7) == 7
    valve.end("b")
    assert valve.advance("a", 8) == 8


moves = st.lists(
    st.one_of(
        st.tuples(st.just("advance"), st.sampled_from("abc"), st.integers(0, 50)),
        st.tuples(st.just("idle"), st.sampled_from("abc"), st.booleans()),
        st.tuples(st.just("restart"), st.just("a"), st.just(0)),
    ),
    max_size=40,
)


@given(moves)
def test_never_goes_back_never_passes_an_active_channel_and_survives_snapshots(
    steps: list[tuple[str, str, int]],
) -> None:
    valve = WatermarkValve("abc")
    channels = dict.fromkeys("abc", MIN_TIMESTAMP)
    idle: set[str] = set()
    highest = MIN_TIMESTAMP
    for what, channel, value in steps:
        if what == "restart":
            successor = WatermarkValve("abc")
            successor.restore(valve.snapshot())
            valve = successor
            continue
        # A watermark of an idle channel, and an idle channel that becomes idle, move nothing.
        moves_nothing = channel in idle and (what == "advance" or bool(value))
        if what == "advance":
            channels[channel] = max(channels[channel], value)
            moved = valve.advance(channel, value)
        else:
            moved, _ = valve.set_idle(channel, bool(value))
            (idle.add if value else idle.discard)(channel)
        active = [channels[name] for name in "abc" if name not in idle]
        expected = max(highest, min(active) if active else max(channels.values()))
        if not moves_nothing:
            assert valve.watermark == expected
        assert moved == (valve.watermark if valve.watermark > highest else None)
        highest = valve.watermark

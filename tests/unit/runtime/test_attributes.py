"""Plain attributes of functions are found when they change, and put into another instance."""

from __future__ import annotations

import threading
from typing import Any

from penstock.runtime.attributes import AttributeTracker


class Function:
    def __init__(self) -> None:
        self.count = 0
        self.seen: list[Any] = []
        self.settings = {"a": 1}


def opened(function: Any) -> AttributeTracker:
    tracker = AttributeTracker(function)
    tracker.mark_opened()
    return tracker


def test_nothing_changed_is_nothing() -> None:
    tracker = opened(Function())
    assert tracker.take_changes() == {}


def test_only_what_changed_since_the_last_time() -> None:
    function = Function()
    tracker = opened(function)
    function.count = 1
    function.seen.append("x")
    assert set(tracker.take_changes()) == {"count", "seen"}
    function.count = 2
    assert set(tracker.take_changes()) == {"count"}
    assert set(tracker.all_changes()) == {"count", "seen"}


def test_changes_applied_to_a_new_instance_make_it_equal() -> None:
    one, other = Function(), Function()
    tracker, successor = opened(one), opened(other)
    one.count, one.settings["b"] = 5, 2
    successor.apply(tracker.take_changes())
    assert vars(other) == vars(one)
    assert successor.take_changes() == {}, "what came with a snapshot is no change"
    third = Function()
    opened(third).apply(successor.all_changes())
    assert vars(third) == vars(one)


def test_attributes_that_appear_later() -> None:
    function = Function()
    tracker = opened(function)
    function.late = "x"  # type: ignore[attr-defined]
    other = Function()
    opened(other).apply(tracker.take_changes())
    assert other.late == "x"  # type: ignore[attr-defined]


def test_what_cannot_travel_is_left_to_open() -> None:
    function = Function()
    tracker = opened(function)
    function.lock = threading.Lock()  # type: ignore[attr-defined]
    function.callback = lambda: None  # type: ignore[attr-defined]
    assert tracker.take_changes() == {}


def test_equal_but_other_type_is_a_change() -> None:
    function = Function()
    function.count = 1
    tracker = opened(function)
    function.count = True
    assert set(tracker.take_changes()) == {"count"}


def test_functions_without_attributes() -> None:
    tracker = opened(len)
    assert tracker.take_changes() == {}
    tracker.apply({})

"""Which elements each evictor leaves in a window."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from penstock.common.errors import ProgramError
from penstock.common.time import Time
from penstock.datastream.window import CountEvictor, DeltaEvictor, Evictor, TimeEvictor, TimestampedValue


def evicted(evictor: Evictor[Any, Any], elements: Sequence[tuple[Any, int | None]]) -> tuple[list[Any], list[Any]]:
    """What is left before and after the window function."""
    window = [TimestampedValue(value, timestamp) for value, timestamp in elements]
    context: Any = None
    evictor.evict_before(window, len(window), None, context)
    before = [element.value for element in window]
    evictor.evict_after(window, len(window), None, context)
    return before, [element.value for element in window]


def test_count_evictor_keeps_the_last_elements() -> None:
    elements = [(name, None) for name in "abcd"]
    assert evicted(CountEvictor.of(2), elements) == (["c", "d"], ["c", "d"])
    assert evicted(CountEvictor.of(2, True), elements) == (list("abcd"), ["c", "d"])
    assert evicted(CountEvictor.of(9), elements)[0] == list("abcd")


def test_time_evictor_keeps_what_is_close_to_the_newest_timestamp_wherever_it_is() -> None:
    elements = [("a", 5), ("newest", 20), ("at the cutoff", 10), ("b", 11)]
    assert evicted(TimeEvictor.of(Time.milliseconds(10)), elements)[0] == ["newest", "b"]


def test_time_evictor_leaves_elements_without_timestamp_alone() -> None:
    assert evicted(TimeEvictor.of(Time.milliseconds(1)), [("a", None), ("b", None)])[0] == ["a", "b"]


def test_delta_evictor_compares_with_the_last_element() -> None:
    elements = [(value, None) for value in (1, 8, 3, 10)]
    evictor = DeltaEvictor.of(5, lambda element, last: last - element)
    assert evicted(evictor, elements)[0] == [8, 10]


def test_evictors_do_nothing_to_an_empty_window() -> None:
    for evictor in (CountEvictor.of(1), TimeEvictor.of(Time.seconds(1)), DeltaEvictor.of(1, lambda a, b: 0)):
        assert evicted(evictor, []) == ([], [])


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(ProgramError, match="max_count"):
        CountEvictor.of(0)
    with pytest.raises(ProgramError, match="DeltaFunction"):
        DeltaEvictor.of(1.0, None)  # type: ignore[arg-type]

"""Asks the assigner for the windows of elements, and only once where the answer depends on the timestamp alone."""

from __future__ import annotations

from collections.abc import Callable
from math import gcd
from typing import Any

from penstock.functions.window_assigners import (
    GlobalWindows,
    SlidingEventTimeWindows,
    TumblingEventTimeWindows,
)
from penstock.runtime.operators.window_contexts import AssignerContext
from penstock.runtime.operators.window_tokens import Token, token_of

Assigned = list[tuple[Any, Token, int]]  # window, its token, when it is cleaned up
_REMEMBERED = 1024


class AssignedWindows:
    """The windows of an element; Flink's own assigners give all timestamps of one granule the same ones."""

    def __init__(self, assigner: Any, context: AssignerContext, cleanup_time: Callable[[Any], int]) -> None:
        self._assigner = assigner
        self._context = context
        self._cleanup_time = cleanup_time
        self._granule, self._offset = _granule_of(assigner)
        self._known: dict[int, Assigned] = {}

    def windows(self, value: Any, timestamp: int) -> Assigned:
        granule = self._granule
        if granule is None:
            return self._ask(value, timestamp)
        number = (timestamp - self._offset) // granule
        assigned = self._known.get(number)
        if assigned is None:
            assigned = self._ask(value, timestamp)
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            self._known[number] = assigned
        return assigned

    def _ask(self, value: Any, timestamp: int) -> Assigned:
        windows = self._assigner.assign_windows(value, timestamp, self._context)
        return [(window, token_of(window), self._cleanup_time(window)) for window in windows]


def _granule_of(assigner: Any) -> tuple[int | None, int]:
    """How many milliseconds have the same windows, and where they start; None if it cannot be known."""
    kind = type(assigner)
    if kind is TumblingEventTimeWindows:
        return assigner._size, assigner._offset
    if kind is SlidingEventTimeWindows:
        return gcd(assigner._size, assigner._slide), assigner._offset
    if kind is GlobalWindows:
        return 1 << 64, -(1 << 63)
    return None, 0

"""What iterative conditions see: the events that one partial match has so far, and time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.runtime.cep.shared_buffer import Steps
from penstock.runtime.clock import Clock


class ConditionView:
    """Pointed at one partial match after the other; reads its events only when they are asked for."""

    __penstock_transient__ = True

    def __init__(self, names: tuple[str, ...], steps: Callable[[Any], Steps], clock: Clock) -> None:
        self._names = names
        self._steps = steps
        self._clock = clock
        self._run: Any = None
        self._timestamp = 0
        self._events: dict[str, list[Any]] | None = None

    def point_at(self, run: Any, timestamp: int) -> None:
        """None is a match that has not begun."""
        self._run, self._timestamp, self._events = run, timestamp, None

    def get_events_for_pattern(self, name: str) -> list[Any]:
        if self._events is None:
            self._events = {}
            for stage, _, value in () if self._run is None else self._steps(self._run):
                self._events.setdefault(self._names[stage], []).append(value)
        return list(self._events.get(name, ()))

    def timestamp(self) -> int:
        return self._timestamp

    def current_processing_time(self) -> int:
        return self._clock()

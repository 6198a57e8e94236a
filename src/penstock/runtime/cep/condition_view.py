"""What iterative conditions see: the events that one partial match has so far, and time."""

from __future__ import annotations

from typing import Any

from penstock.runtime.cep.shared_buffer import SharedBuffer
from penstock.runtime.clock import Clock


class ConditionView:
    """Pointed at one partial match after the other; reads its events only when they are asked for."""

    __penstock_transient__ = True

    def __init__(self, buffer: SharedBuffer, names: tuple[str, ...], clock: Clock) -> None:
        self._buffer = buffer
        self._names = names
        self._clock = clock
        self._key: Any = None
        self._node = 0
        self._timestamp = 0
        self._events: dict[str, list[Any]] | None = None

    def point_at(self, key: Any, node: int, timestamp: int) -> None:
        self._key, self._node, self._timestamp, self._events = key, node, timestamp, None

    def get_events_for_pattern(self, name: str) -> list[Any]:
        if self._events is None:
            self._events = {}
            for stage, _, value in self._buffer.steps(self._key, self._node):
                self._events.setdefault(self._names[stage], []).append(value)
        return list(self._events.get(name, ()))

    def timestamp(self) -> int:
        return self._timestamp

    def current_processing_time(self) -> int:
        return self._clock()

"""Broadcast state as the two sides of a broadcast connection see it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from penstock.common.errors import ProgramError
from penstock.functions.state_interfaces import BroadcastState, ReadOnlyBroadcastState
from penstock.runtime.state.keyed import HeapMapState


class ReadOnlyBroadcastView(ReadOnlyBroadcastState[Any, Any]):
    """What the non-broadcast side sees: it must not write, or subtasks would drift apart."""

    __penstock_transient__ = True

    def __init__(self, state: HeapMapState) -> None:
        self._state = state

    def get(self, key: Any) -> Any:
        return self._state.get(key)

    def contains(self, key: Any) -> bool:
        return self._state.contains(key)

    def items(self) -> Iterable[tuple[Any, Any]]:
        return self._state.items()

    def keys(self) -> Iterable[Any]:
        return self._state.keys()

    def values(self) -> Iterable[Any]:
        return self._state.values()

    def is_empty(self) -> bool:
        return self._state.is_empty()

    def clear(self) -> None:
        raise ProgramError("broadcast state can only be changed in process_broadcast_element()")


class WritableBroadcastState(ReadOnlyBroadcastView, BroadcastState[Any, Any]):
    def read_only(self) -> ReadOnlyBroadcastView:
        return ReadOnlyBroadcastView(self._state)

    def put(self, key: Any, value: Any) -> None:
        self._state.put(key, value)

    def put_all(self, dict_value: dict[Any, Any]) -> None:
        self._state.put_all(dict_value)

    def remove(self, key: Any) -> None:
        self._state.remove(key)

    def clear(self) -> None:
        self._state.clear()

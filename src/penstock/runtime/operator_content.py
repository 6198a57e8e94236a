"""The saved state of one operator subtask, taken apart: what keyed operators, windows and plain functions put where."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from penstock.runtime.key_layout import KeyLayout
from penstock.runtime.operators.base import FunctionOperator
from penstock.runtime.operators.broadcast import BroadcastOperator, KeyedBroadcastOperator
from penstock.runtime.operators.process import TimedOperator
from penstock.runtime.operators.registry import OPERATORS
from penstock.runtime.operators.window import WindowedOperator
from penstock.runtime.state_schema import StateSchema

Entries = dict[Any, Any]
EVENT, PROCESSING = "event", "processing"


@dataclass
class OperatorContent:
    """One subtask's share. Tables are full deltas, as the tables of the runtime write them."""

    keyed: dict[str, tuple[StateSchema, Entries]] = field(default_factory=dict)
    timers: dict[str, Entries] = field(default_factory=dict)
    without_key: dict[str, tuple[StateSchema, Entries]] = field(default_factory=dict)
    attributes: dict[str, Any] = field(default_factory=dict)

    def __bool__(self) -> bool:
        tables = [delta for _, delta in (*self.keyed.values(), *self.without_key.values())]
        return any(tables) or any(self.timers.values()) or bool(self.attributes)


def content_of(kind: str, state: Any) -> OperatorContent:
    """Empty for operators whose state only they themselves understand (watermarks, sinks)."""
    operator = OPERATORS.get(kind)
    content = OperatorContent()
    if state is None or operator is None:
        return content
    if issubclass(operator, (BroadcastOperator, KeyedBroadcastOperator)):
        state, broadcast = state
        content.without_key.update(broadcast)
    elif issubclass(operator, WindowedOperator):
        state, _ = state
    if issubclass(operator, TimedOperator):
        state, _, (event, processing) = state
        content.timers = {EVENT: event, PROCESSING: processing}
    if issubclass(operator, FunctionOperator):
        content.attributes = state[1]
        content.without_key.update(state[2] or {})
    return content


def layout_of(kind: str, table: str) -> KeyLayout:
    """Where the key is in a table of this kind of operator."""
    operator = OPERATORS[kind]
    assert issubclass(operator, TimedOperator)
    return operator.key_layout(object.__new__(operator), table)


def holds_plain_keyed_state(kind: str) -> bool:
    """Whether all state of such an operator is the user's, by key: then it can be written from outside."""
    operator = OPERATORS.get(kind)
    return (
        operator is not None
        and issubclass(operator, TimedOperator)
        and not issubclass(operator, (WindowedOperator, KeyedBroadcastOperator))
        and operator.full_delta is TimedOperator.full_delta
    )

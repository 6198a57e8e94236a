"""The saved state of one operator subtask, taken apart: what keyed operators, windows and plain functions put where.

Tables of keyed state are not in it: savepoints have them as pieces of their own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import gcd
from typing import Any

from penstock.common.errors import NotSupportedError
from penstock.runtime.batch import MIN_TIMESTAMP
from penstock.runtime.blueprint import OperatorBlueprint
from penstock.runtime.key_layout import KeyLayout
from penstock.runtime.operators.base import FunctionOperator, Operator
from penstock.runtime.operators.broadcast import BroadcastOperator, KeyedBroadcastOperator
from penstock.runtime.operators.process import TimedOperator
from penstock.runtime.operators.registry import OPERATORS
from penstock.runtime.operators.window import WindowedOperator
from penstock.runtime.operators.window_aligned import AlignedWindowOperator
from penstock.runtime.operators.window_settings import PARAMETER
from penstock.runtime.operators.window_sliding import SlidingWindowOperator
from penstock.runtime.state_schema import StateSchema

Entries = dict[Any, Any]
EVENT, PROCESSING = "event", "processing"


@dataclass
class OperatorContent:
    """One subtask's share. Tables are full deltas, as the tables of the runtime write them."""

    timers: dict[str, Entries] = field(default_factory=dict)
    without_key: dict[str, tuple[StateSchema, Entries]] = field(default_factory=dict)
    attributes: dict[str, Any] = field(default_factory=dict)

    def __bool__(self) -> bool:
        tables = [delta for _, delta in self.without_key.values()]
        return any(tables) or any(self.timers.values()) or bool(self.attributes)


def content_of(kind: str, state: Any) -> OperatorContent:
    """Empty for operators whose state only they themselves understand (watermarks, sinks)."""
    operator = OPERATORS.get(kind)
    content = OperatorContent()
    if state is None or operator is None:
        return content
    if _broadcasts(operator):
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


def state_of(kind: str, state: Any, content: OperatorContent) -> Any:
    """The state of a subtask with other timers and other state without key: the inverse of content_of().

    None stands for the state of a subtask that has none yet.
    """
    operator = OPERATORS[kind]
    if not issubclass(operator, FunctionOperator):
        raise NotSupportedError(f"an operator of the kind {kind} has no state that could be written from outside")
    if issubclass(operator, WindowedOperator):
        inner, aggregation = state or (None, {})
        return _timed(inner, content, content.without_key), aggregation
    if not _broadcasts(operator):
        return _of_function(operator, state, content, content.without_key)
    known = set(state[1]) if state else set()
    names = {name for name, (schema, _) in content.without_key.items() if name in known or schema.kind == "broadcast"}
    of_function = {name: table for name, table in content.without_key.items() if name not in names}
    inner = _of_function(operator, state[0] if state else None, content, of_function)
    return inner, {name: content.without_key[name] for name in names}


def _of_function(operator: type[Operator], state: Any, content: OperatorContent, without_key: Any) -> Any:
    if issubclass(operator, TimedOperator):
        return _timed(state, content, without_key)
    watermark = state[0] if state else MIN_TIMESTAMP
    return watermark, content.attributes, without_key or None


def _timed(state: Any, content: OperatorContent, without_key: Any) -> Any:
    watermark = state[0][0] if state else MIN_TIMESTAMP
    timers = (content.timers.get(EVENT, {}), content.timers.get(PROCESSING, {}))
    return (watermark, content.attributes, without_key or None), None, timers


def _broadcasts(operator: type[Operator]) -> bool:
    return issubclass(operator, (BroadcastOperator, KeyedBroadcastOperator))


def layout_of(kind: str, table: str) -> KeyLayout:
    """Where the key is in a table of this kind of operator."""
    operator = OPERATORS[kind]
    assert issubclass(operator, TimedOperator)
    return operator.key_layout(object.__new__(operator), table)


def has_windows(kind: str) -> bool:
    operator = OPERATORS.get(kind)
    return operator is not None and issubclass(operator, WindowedOperator)


def window_sizes(operator: OperatorBlueprint) -> dict[str, int]:
    """By table of the quick window operators: how long the windows, or parts of windows, in it are."""
    if not has_windows(operator.kind):
        return {}
    assigner = operator.params[PARAMETER].assigner
    size = getattr(assigner, "_size", None)
    if not isinstance(size, int):
        return {}
    slide = getattr(assigner, "_slide", size)
    return {AlignedWindowOperator.WINDOWS: size, SlidingWindowOperator.PANES: gcd(size, slide)}


def holds_plain_keyed_state(kind: str) -> bool:
    """Whether the tables of such an operator are by key alone: then they can be written from outside."""
    operator = OPERATORS.get(kind)
    return operator is not None and issubclass(operator, TimedOperator) and not issubclass(operator, WindowedOperator)

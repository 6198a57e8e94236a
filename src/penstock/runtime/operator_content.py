"""What kinds of operators keep in their tables, for those who look at savepoints from outside."""

from __future__ import annotations

from math import gcd

from penstock.runtime.blueprint import OperatorBlueprint
from penstock.runtime.key_layout import KeyLayout
from penstock.runtime.operators.base import FunctionOperator
from penstock.runtime.operators.process import TimedOperator
from penstock.runtime.operators.registry import OPERATORS
from penstock.runtime.operators.window import WindowedOperator
from penstock.runtime.operators.window_aligned import AlignedWindowOperator
from penstock.runtime.operators.window_settings import PARAMETER
from penstock.runtime.operators.window_sliding import SlidingWindowOperator


def holds_function(kind: str) -> bool:
    """Whether such an operator runs a function of the user, whose state can be written from outside."""
    operator = OPERATORS.get(kind)
    return operator is not None and issubclass(operator, FunctionOperator)


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

"""What kinds of operators keep in their tables, for those who look at savepoints from outside."""

from __future__ import annotations

from penstock.runtime.key_layout import KeyLayout
from penstock.runtime.operators.base import FunctionOperator
from penstock.runtime.operators.process import TimedOperator
from penstock.runtime.operators.registry import OPERATORS
from penstock.runtime.windows.operator import WindowOperator


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
    return operator is not None and issubclass(operator, WindowOperator)


def holds_plain_keyed_state(kind: str) -> bool:
    """Whether the tables of such an operator are by key alone: then they can be written from outside."""
    operator = OPERATORS.get(kind)
    return operator is not None and issubclass(operator, TimedOperator) and not issubclass(operator, WindowOperator)

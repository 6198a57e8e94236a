"""Conditions that keep the times of two rows near each other: what makes a join an interval join."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.columns.typed.nodes import Constant, Convert, InputRef, Invoke, TimeAttribute, Typed
from penstock.columns.typesystem.intervals import DayTimeIntervalType
from penstock.table.logical.conditions import all_of, conjuncts
from penstock.table.logical.nodes import JoinRelation

_MIRRORED = {
    "lessThan": "greaterThan",
    "lessThanOrEqual": "greaterThanOrEqual",
    "greaterThan": "lessThan",
    "greaterThanOrEqual": "lessThanOrEqual",
    "equals": "equals",
}


@dataclass(frozen=True)
class TimeBounds:
    """The left row's time minus the right row's is within these bounds, in milliseconds; and what else must hold."""

    left: int  # time columns, each of its own side
    right: int
    lower: int
    upper: int
    event_time: bool
    rest: Typed | None


def is_interval_join(node: JoinRelation) -> bool:
    return time_bounds(node) is not None


def time_bounds(node: JoinRelation) -> TimeBounds | None:
    """None unless time attributes of both sides are bounded on both ends, and the join is one that can use it."""
    if node.kind in ("SEMI", "ANTI"):
        return None
    width = len(node.left.fields)
    lower: int | None = None
    upper: int | None = None
    times: tuple[InputRef, InputRef] | None = None
    rest: list[Typed] = []
    for one in conjuncts(node.condition):
        found = _difference(one, width)
        if found is None or (times is not None and (found[1], found[2]) != times):
            rest.append(one)
            continue
        comparison, left, right, amount = found
        times = left, right
        if comparison in ("greaterThan", "greaterThanOrEqual", "equals"):
            least = amount + (comparison == "greaterThan")
            lower = least if lower is None else max(lower, least)
        if comparison in ("lessThan", "lessThanOrEqual", "equals"):
            most = amount - (comparison == "lessThan")
            upper = most if upper is None else min(upper, most)
    if times is None or lower is None or upper is None:
        return None
    left, right = times
    event_time = left.time is TimeAttribute.ROWTIME
    return TimeBounds(left.index, right.index - width, lower, upper, event_time, all_of(rest))


def _difference(condition: Typed, width: int) -> tuple[str, InputRef, InputRef, int] | None:
    """`left - right <comparison> amount`, if that is what a condition says about two time attributes."""
    if not isinstance(condition, Invoke) or condition.function not in _MIRRORED:
        return None
    one, other = _moment(condition.arguments[0]), _moment(condition.arguments[1])
    if one is None or other is None or one[0].time is not other[0].time:
        return None
    if one[0].index < width <= other[0].index:
        return condition.function, one[0], other[0], other[1] - one[1]
    if other[0].index < width <= one[0].index:
        return _MIRRORED[condition.function], other[0], one[0], one[1] - other[1]
    return None


def _moment(node: Typed) -> tuple[InputRef, int] | None:
    """A time attribute, and how far after it."""
    if isinstance(node, InputRef):
        return (node, 0) if node.time is not None else None
    if isinstance(node, Convert):
        return _moment(node.operand)
    if isinstance(node, Invoke) and node.function in ("plus", "minus") and len(node.arguments) == 2:
        base, span = node.arguments
        if node.function == "plus" and isinstance(base, Constant):
            base, span = span, base
        found = _moment(base)
        if isinstance(span, Convert):
            span = span.operand
        if found is None or not isinstance(span, Constant) or not isinstance(span.data_type, DayTimeIntervalType):
            return None
        amount = int(span.value)
        return found[0], found[1] + (amount if node.function == "plus" else -amount)
    return None

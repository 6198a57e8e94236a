"""References of a plan to the query around it: found, bound to a list of expressions, and replaced."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields as dataclass_fields
from dataclasses import replace
from typing import Any, TypeVar

from penstock.columns.typed.nodes import Aggregate, InputRef, OuterRef, OverCall, SortKey, Typed, walk
from penstock.table.logical.conditions import replaced
from penstock.table.logical.nodes import Correlation, Relation

Change = Callable[[Typed], Typed]
Plan = TypeVar("Plan", bound=Relation)


def bound(plan: Relation, known: Sequence[Typed] = ()) -> tuple[Relation, tuple[Typed, ...]]:
    """The plan with places of a list instead of outer columns, and the list, as the query around it reads them.

    The list begins with what is known already. What lies further out is an outer column of that query in turn.
    """
    found = list(known)

    def one(node: Typed) -> Typed:
        def placed(part: Typed) -> Typed | None:
            if not isinstance(part, OuterRef):
                return None
            seen: Typed = InputRef(part.data_type, part.index, part.name, part.time)
            if part.level > 1:
                seen = replace(part, level=part.level - 1)
            if seen not in found:
                found.append(seen)
            return replace(part, index=found.index(seen), level=1)

        return replaced(node, placed)

    return with_expressions(plan, one), tuple(found)


def refers_outside(plan: Relation) -> bool:
    """Whether anything in the plan reads a column of the query around it."""
    found: list[OuterRef] = []

    def noted(node: Typed) -> Typed:
        found.extend(part for part in walk(node) if isinstance(part, OuterRef))
        return node

    with_expressions(plan, noted)
    return bool(found)


def is_outer(node: Typed) -> bool:
    return any(isinstance(part, OuterRef) for part in walk(node))


def with_expressions(plan: Relation, change: Change) -> Relation:
    """The plan with other expressions, everywhere but in lateral sides, whose outer columns are those of their left.

    Parts in which nothing changes stay the same objects, since plans are shared by identity.
    """
    changed: dict[str, Any] = {}
    for part in dataclass_fields(plan):
        old = getattr(plan, part.name)
        if part.name in ("fields", "position", "definition"):
            continue
        if isinstance(old, Relation):
            lateral = isinstance(plan, Correlation) and part.name == "right"
            new: Any = old if lateral else with_expressions(old, change)
        else:
            new = _changed(old, change)
        if new is not old:
            changed[part.name] = new
    return replace(plan, **changed) if changed else plan


def with_own_expressions(plan: Plan, change: Change) -> Plan:
    """The same for this node alone."""
    changed = {
        part.name: new
        for part in dataclass_fields(plan)
        if part.name not in ("fields", "position", "definition")
        and not isinstance(old := getattr(plan, part.name), Relation)
        and (new := _changed(old, change)) is not old
    }
    return replace(plan, **changed) if changed else plan


def _changed(value: Any, change: Change) -> Any:
    match value:
        case OverCall():
            return _same_or(value, _changed_over(value, change))
        case Aggregate():
            return _same_or(value, _changed_aggregate(value, change))
        case Typed():
            return _same_or(value, change(value))
        case SortKey():
            return _same_or(value, replace(value, operand=change(value.operand)))
        case tuple():
            parts = tuple(_changed(one, change) for one in value)
            return value if all(new is old for new, old in zip(parts, value, strict=True)) else parts
    return value


def _changed_over(call: OverCall, change: Change) -> OverCall:
    order = tuple(replace(key, operand=change(key.operand)) for key in call.order_by)
    partition = tuple(change(one) for one in call.partition_by)
    return replace(call, call=_changed_aggregate(call.call, change), partition_by=partition, order_by=order)


def _changed_aggregate(call: Aggregate, change: Change) -> Aggregate:
    return replace(
        call,
        arguments=tuple(change(one) for one in call.arguments),
        where=None if call.where is None else change(call.where),
        order_by=tuple(replace(key, operand=change(key.operand)) for key in call.order_by),
    )


def _same_or(old: Any, new: Any) -> Any:
    return old if new == old else new

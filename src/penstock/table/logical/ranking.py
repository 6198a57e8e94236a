"""Finds Top-N in plans: conditions on ROW_NUMBER, ORDER BY with LIMIT, LIMIT; and deduplication among them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from penstock.columns.typed.nodes import Constant, Convert, InputRef, Invoke, OverCall, SortKey, Typed, columns_of
from penstock.columns.typesystem.scalars import BooleanType
from penstock.table.logical import builder
from penstock.table.logical import nodes as plan
from penstock.table.logical.conditions import all_of, conjuncts, replaced

_MIRRORED = {
    "lessThan": "greaterThan",
    "lessThanOrEqual": "greaterThanOrEqual",
    "greaterThan": "lessThan",
    "greaterThanOrEqual": "lessThanOrEqual",
    "equals": "equals",
}
_UNLIMITED = 2**62


def rank_of_filter(node: plan.Relation) -> plan.Relation | None:
    """WHERE rn <= n over ROW_NUMBER() OVER (PARTITION BY .. ORDER BY ..) AS rn."""
    if not isinstance(node, plan.Filter):
        return None
    if isinstance(node.source, plan.Project) and _ranked(node.source.source):
        projection, over = node.source, node.source.source
        condition = _through(node.condition, projection.expressions)
    elif _ranked(node.source):
        projection, over = None, node.source
        condition = node.condition
    else:
        return None
    assert isinstance(over, plan.OverAggregation)
    bounds = _Bounds(len(over.source.fields))
    rest = [part for part in conjuncts(condition) if not bounds.takes(part)]
    if bounds.end is None:
        return None
    found = _rank(over, bounds.start, bounds.end, node)
    if rest:
        found = plan.Filter(found.fields, found, _certain(rest), position=node.position)
    if projection is None:
        return builder.project(found, builder.references(found), node.names)
    return plan.Project(projection.fields, found, projection.expressions, position=node.position)


def _certain(conditions: list[Typed]) -> Typed:
    found = all_of(conditions)
    assert found is not None
    return found


def _ranked(node: plan.Relation) -> bool:
    return (
        isinstance(node, plan.OverAggregation) and len(node.calls) == 1 and node.calls[0].call.function == "row_number"
    )


def _rank(over: plan.OverAggregation, start: int, end: int, node: plan.Relation) -> plan.Relation:
    """Ranks by columns; expressions that rank become columns below, and are gone above."""
    call: OverCall = over.calls[0]
    columns = builder.references(over.source)
    computed = [*columns]
    for one in (*call.partition_by, *(key.operand for key in call.order_by)):
        if one not in computed:
            computed.append(one)
    names = [*over.source.names, *(f"$r{place}" for place in range(len(computed) - len(columns)))]
    source = builder.project(over.source, computed, names)
    places = builder.references(source)
    partition = tuple(computed.index(one) for one in call.partition_by)
    order = tuple(replace(key, operand=places[computed.index(key.operand)]) for key in call.order_by)
    fields = (*source.fields, over.fields[-1])
    rank = plan.Rank(fields, source, partition, order, start, end, True, position=node.position)
    if len(computed) == len(columns):
        return rank
    kept = builder.references(rank)
    return plan.Project(over.fields, rank, (*kept[: len(columns)], kept[-1]))


class _Bounds:
    """The ranks that conditions on the rank column leave."""

    def __init__(self, column: int) -> None:
        self._column = column
        self.start = 1
        self.end: int | None = None

    def takes(self, condition: Typed) -> bool:
        if not isinstance(condition, Invoke) or condition.function not in _MIRRORED:
            return False
        left, right = (_bare(argument) for argument in condition.arguments)
        function = condition.function
        if isinstance(left, Constant):
            left, right, function = right, left, _MIRRORED[function]
        if not (isinstance(left, InputRef) and left.index == self._column and isinstance(right, Constant)):
            return False
        number: Any = right.value
        if not isinstance(number, int):
            return False
        if function in ("lessThan", "lessThanOrEqual", "equals"):
            end = number - 1 if function == "lessThan" else number
            self.end = end if self.end is None else min(self.end, end)
        if function in ("greaterThan", "greaterThanOrEqual", "equals"):
            self.start = max(self.start, number + 1 if function == "greaterThan" else number)
        return True


def _bare(node: Typed) -> Typed:
    """Without the casts that comparisons add."""
    while isinstance(node, Convert):
        node = node.operand
    return node


def _through(node: Typed, expressions: tuple[Typed, ...]) -> Typed:
    """A condition over a projection as one over what is below it."""
    return replaced(node, lambda part: expressions[part.index] if isinstance(part, InputRef) else None)


def limit_as_rank(node: plan.Relation) -> plan.Relation | None:
    """LIMIT, with ORDER BY below it or without."""
    if not isinstance(node, plan.Limit):
        return None
    source, order = node.source, tuple[SortKey, ...]()
    if node.count == 0:
        return plan.Filter(node.fields, source, Constant(BooleanType(False), False), position=node.position)
    if isinstance(source, plan.Project) and isinstance(source.source, plan.Sort):  # ordered by what is not selected
        return source.with_inputs((replace(node, fields=source.source.fields, source=source.source),))
    end = _UNLIMITED if node.count is None else node.offset + node.count
    if isinstance(source, plan.Sort):
        order, source = source.keys, source.source
        if not all(isinstance(key.operand, InputRef) for key in order):
            return None
    return plan.Rank(node.fields, source, (), order, node.offset + 1, end, False, True, position=node.position)


def rank_without_number(node: plan.Relation) -> plan.Relation | None:
    """A rank that is always the same is a constant, and one that nobody reads is not computed."""
    if isinstance(node, plan.Rank) and node.numbered and node.start == node.end:
        return _unnumbered(node, node.start)
    if not isinstance(node, plan.Project):
        return None
    needed = set().union(*(columns_of(one) for one in node.expressions)) if node.expressions else set()
    chain: list[plan.Project | plan.Filter] = []
    below = node.source
    while isinstance(below, (plan.Project, plan.Filter)):
        chain.append(below)
        if isinstance(below, plan.Filter):
            needed = needed | columns_of(below.condition)
        else:
            needed = set().union(*(columns_of(below.expressions[place]) for place in needed)) if needed else set()
        below = below.source
    if not (isinstance(below, plan.Rank) and below.numbered and len(below.fields) - 1 not in needed):
        return None
    found: plan.Relation = _unnumbered(below, 0)
    for part in reversed(chain):
        found = part.with_inputs((found,))
    return node.with_inputs((found,))


def _unnumbered(rank: plan.Rank, number: int) -> plan.Relation:
    *columns, last = rank.fields
    plain = replace(rank, fields=tuple(columns), numbered=False)
    expressions = (*builder.references(plain), Constant(last.data_type, number))
    return plan.Project(rank.fields, plain, expressions)


def rank_as_deduplication(node: plan.Relation) -> plan.Relation | None:
    """The first row by a time attribute alone keeps one row of each key."""
    if not isinstance(node, plan.Rank) or node.numbered or node.limit or (node.start, node.end) != (1, 1):
        return None
    if len(node.order_by) != 1 or not isinstance(node.order_by[0].operand, InputRef):
        return None
    time = node.order_by[0].operand
    if time.time is None:
        return None
    last = not node.order_by[0].ascending
    return plan.Deduplicate(node.fields, node.source, node.partition_by, time.index, last, position=node.position)

"""Subqueries become joins: IN and EXISTS semi joins, their negation anti joins, single values left joins."""

from __future__ import annotations

from dataclasses import replace

from penstock.columns.typed.nodes import (
    Aggregate,
    InputRef,
    Invoke,
    OuterRef,
    SubqueryTest,
    SubqueryValue,
    Typed,
    shifted,
    walk,
)
from penstock.common.errors import NotSupportedError
from penstock.table.logical import builder
from penstock.table.logical.conditions import all_of, call, conjuncts, has_subquery, moved, replaced
from penstock.table.logical.nodes import Aggregation, Filter, Project, Relation


def join_subqueries_of_filter(node: Relation) -> Relation | None:
    if not isinstance(node, Filter) or not has_subquery(node.condition):
        return None
    source: Relation = node.source
    rest: list[Typed] = []
    for one in conjuncts(node.condition):
        test = _test(one)
        if test is None:
            rest.append(one)
        else:
            source = _joined(source, *test)
    condition = all_of(rest)
    if condition is None:
        return source
    if not has_subquery(condition):
        return builder.filtered(source, condition, node.position)
    return _with_values(node, source, [condition])


def join_subqueries_of_projection(node: Relation) -> Relation | None:
    if not isinstance(node, Project) or not any(map(has_subquery, node.expressions)):
        return None
    return _with_values(node, node.source, list(node.expressions))


def _with_values(node: Filter | Project, source: Relation, expressions: list[Typed]) -> Relation:
    """Single values become columns after those of the source."""
    width = len(source.fields)
    # By id: plans know the definitions of their tables, which cannot be hashed.
    values = {id(part): part for one in expressions for part in walk(one) if isinstance(part, SubqueryValue)}
    if any(isinstance(part, SubqueryTest) for one in expressions for part in walk(one)):
        raise NotSupportedError(
            "IN and EXISTS with a subquery can only be conditions of WHERE that are joined by AND: "
            "write the query as a UNION, or as a join."
        )
    columns: dict[int, Typed] = {}
    for value in values.values():
        place = len(source.fields)
        plan, pulled = _decorrelated(value.plan, single=True)
        below = builder.joined(source, plan, "LEFT", all_of([_over_join(one, place) for one in pulled]))
        columns[id(value)] = InputRef(value.data_type, place, below.fields[place].name)
        source = below
    nodes = [replaced(one, lambda part: columns.get(id(part))) for one in expressions]
    if isinstance(node, Project):
        return builder.project(source, nodes, node.names)
    kept = builder.filtered(source, nodes[0], node.position)
    return builder.project(kept, builder.references(kept)[:width], kept.names[:width])


def _test(condition: Typed) -> tuple[SubqueryTest, bool] | None:
    """A test that stands for itself, and whether it is negated."""
    negated = False
    while isinstance(condition, Invoke) and condition.function == "not":
        condition, negated = condition.arguments[0], not negated
    return (condition, negated) if isinstance(condition, SubqueryTest) else None


def _joined(source: Relation, test: SubqueryTest, negated: bool) -> Relation:
    width = len(source.fields)
    plan, pulled = _decorrelated(test.plan)
    conditions = [_over_join(one, width) for one in pulled]
    if test.comparison is not None:
        columns = [shifted(column, width) for column in builder.references(plan)]
        for operand, column in zip(test.operands, columns, strict=False):
            conditions.append(_membership(test, negated, operand, column))
    kind = "ANTI" if negated != test.every else "SEMI"
    return builder.joined(source, plan, kind, all_of(conditions))


def _membership(test: SubqueryTest, negated: bool, operand: Typed, column: Typed) -> Typed:
    """When a row of the subquery decides: NULL may be equal to anything, so that NOT IN does not keep a row for it."""
    assert test.comparison is not None
    same = call(test.comparison, operand, column)
    if not test.every and not negated:
        return same
    if test.every and not negated:
        return call("isNotTrue", same)
    if test.every:
        return call("isFalse", same)
    return call("isNotFalse", same) if same.data_type.is_nullable else same


def _over_join(condition: Typed, width: int) -> Typed:
    """Columns of the subquery lie after those of the query around it."""

    def placed(node: Typed) -> Typed | None:
        if isinstance(node, OuterRef):
            return InputRef(node.data_type, node.index, node.name, node.time)
        return replace(node, index=node.index + width) if isinstance(node, InputRef) else None

    return replaced(condition, placed)


# -- references to the query around -----------------------------------------------------------------------------------


def _decorrelated(plan: Relation, single: bool = False) -> tuple[Relation, list[Typed]]:
    """The subquery without references to the query around it, and the conditions that had them, over its columns.

    Columns that only the conditions need come after the others.
    """
    found, pulled = _pulled(plan)
    if _refers_outside(found):
        raise NotSupportedError(
            "A subquery can refer to the query around it only in its WHERE, not below a join, a set operation or "
            "LIMIT: write the query as a join."
        )
    if single and not (isinstance(_grouping(found), Aggregation) and (pulled or not _grouping(found).keys)):  # type: ignore[attr-defined]
        found, pulled = _single(found, pulled)
    return found, pulled


def _pulled(plan: Relation) -> tuple[Relation, list[Typed]]:
    match plan:
        case Filter():
            below, pulled = _pulled(plan.source)
            own = conjuncts(plan.condition)
            outer = [one for one in own if _outer(one)]
            kept = all_of([one for one in own if not _outer(one)])
            return (below if kept is None else builder.filtered(below, kept, plan.position)), [*pulled, *outer]
        case Project():
            below, pulled = _pulled(plan.source)
            return _carried(plan, below, pulled)
        case Aggregation() if not plan.sets or len(plan.sets) == 1:
            below, pulled = _pulled(plan.source)
            return _grouped(plan, below, pulled)
    return plan, []


def _carried(plan: Project, below: Relation, pulled: list[Typed]) -> tuple[Relation, list[Typed]]:
    """A projection also gives the columns that the conditions need."""
    expressions, names = list(plan.expressions), list(plan.names)
    places: dict[int, int] = {}
    for column in _columns(pulled):
        reference = builder.references(below)[column]
        if reference not in expressions:
            expressions.append(reference)
            names.append(below.names[column])
        places[column] = expressions.index(reference)
    return builder.project(below, expressions, names), [moved(one, places) for one in pulled]


def _grouped(plan: Aggregation, below: Relation, pulled: list[Typed]) -> tuple[Relation, list[Typed]]:
    """An aggregation also groups by the columns that equalities compare with the query around."""
    if not pulled:
        return builder.aggregated(below, plan.keys, plan.calls, plan.sets), []
    if any(call.function == "count" for call in plan.calls if isinstance(call, Aggregate)):
        raise NotSupportedError("COUNT in a subquery that refers to the query around it: write a LEFT JOIN instead.")
    if not all(isinstance(one, Invoke) and one.function == "equals" for one in pulled):
        raise NotSupportedError("An aggregating subquery can be tied to the query around it only by equalities.")
    keys = list(plan.keys)
    added = [column for column in _columns(pulled) if column not in keys]
    grouped = builder.aggregated(below, [*keys, *added], plan.calls)
    order = [*range(len(keys)), *range(len(keys) + len(added), len(grouped.fields))]
    order += range(len(keys), len(keys) + len(added))
    columns = builder.references(grouped)
    result = builder.project(grouped, [columns[place] for place in order], [grouped.names[place] for place in order])
    places = {column: place for place, column in enumerate(keys)}
    places |= {column: len(order) - len(added) + place for place, column in enumerate(added)}
    return result, [moved(one, places) for one in pulled]


def _single(plan: Relation, pulled: list[Typed]) -> tuple[Relation, list[Typed]]:
    """A subquery that might give several rows fails when it does."""
    value = builder.references(plan)[0]
    test = Aggregate(value.data_type.nullable(), "singleValue", (value,))
    keys = _columns(pulled)
    grouped = builder.aggregated(plan, keys, [test])
    columns = builder.references(grouped)
    order = [len(keys), *range(len(keys))]
    result = builder.project(grouped, [columns[place] for place in order], [grouped.names[place] for place in order])
    return result, [moved(one, {column: place + 1 for place, column in enumerate(keys)}) for one in pulled]


def _grouping(plan: Relation) -> Relation:
    """The aggregation below projections, if there is one."""
    while isinstance(plan, Project):
        plan = plan.source
    return plan


def _columns(conditions: list[Typed]) -> list[int]:
    parts = [part for one in conditions for part in walk(one)]
    return list(dict.fromkeys(part.index for part in parts if isinstance(part, InputRef)))


def _outer(node: Typed) -> bool:
    return any(isinstance(part, OuterRef) for part in walk(node))


def _refers_outside(plan: Relation) -> bool:
    expressions: list[Typed] = []
    if isinstance(plan, Filter):
        expressions = [plan.condition]
    elif isinstance(plan, Project):
        expressions = list(plan.expressions)
    return any(map(_outer, expressions)) or any(_refers_outside(source) for source in plan.inputs())

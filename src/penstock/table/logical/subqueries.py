"""Subqueries become joins: IN and EXISTS semi joins, their negation anti joins, everything else left joins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from penstock.columns.typed.nodes import (
    Aggregate,
    Constant,
    InputRef,
    Invoke,
    OuterRef,
    SubqueryTest,
    SubqueryValue,
    Typed,
    columns_of,
    shifted,
    walk,
)
from penstock.columns.typesystem.scalars import BooleanType
from penstock.table.logical import builder
from penstock.table.logical.conditions import all_of, call, conjuncts, has_subquery, moved, replaced
from penstock.table.logical.decorrelation import (
    columns_read,
    for_each_combination,
    only_equalities,
    pulled_up,
    replace_columns,
)
from penstock.table.logical.nodes import Aggregation, Correlation, Filter, JoinRelation, Project, Relation
from penstock.table.logical.outer import refers_outside
from penstock.table.logical.subquery_marks import marked
from penstock.table.sql.errors import SqlValidationError

Subquery = SubqueryTest | SubqueryValue


def join_subqueries_of_filter(node: Relation) -> Relation | None:
    if not isinstance(node, Filter) or not has_subquery(node.condition):
        return None
    source: Relation = node.source
    rest: list[Typed] = []
    for one in conjuncts(node.condition):
        test = _test(one)
        if test is None or any(map(has_subquery, test[0].children())):
            rest.append(one)
        else:
            source = _joined(source, *test)
    condition = all_of(rest)
    if condition is None:
        return source
    if not has_subquery(condition):
        return builder.filtered(source, condition, node.position)
    wide, (condition,) = _with_columns(source, [condition], truth=True)
    kept = builder.filtered(wide, condition, node.position)
    width = len(node.fields)
    return builder.project(kept, builder.references(kept)[:width], kept.names[:width])


def join_subqueries_of_projection(node: Relation) -> Relation | None:
    if not isinstance(node, Project) or not any(map(has_subquery, node.expressions)):
        return None
    source, expressions = _with_columns(node.source, node.expressions)
    return builder.project(source, expressions, node.names)


def join_subqueries_of_join(node: Relation) -> Relation | None:
    """Conditions of an inner join are tested above it; otherwise the side that they read gets a column for them."""
    if not isinstance(node, JoinRelation) or node.condition is None or not has_subquery(node.condition):
        return None
    parts = conjuncts(node.condition)
    plain = [one for one in parts if not has_subquery(one)]
    tested = [one for one in parts if has_subquery(one)]
    if node.kind == "INNER":
        joined = replace(node, condition=all_of(plain))
        return Filter(node.fields, joined, _all(tested), position=node.position)
    width = len(node.left.fields)
    sides: list[list[Typed]] = [[], []]
    for one in tested:
        places = columns_of(one)
        if any(place < width for place in places) and any(place >= width for place in places):
            raise SqlValidationError(
                f"The subquery in the condition of a {node.kind} JOIN reads columns of both sides: "
                "test it in a subquery of one of them.",
                node.position,
            )
        sides[bool(places) and min(places) >= width].append(one)
    left, ours = _with_columns(node.left, sides[0])
    right, theirs = _with_columns(node.right, [shifted(one, -width) for one in sides[1]])
    grown = len(left.fields) - width
    before = [moved(one, {at: at + grown * (at >= width) for at in range(len(node.fields) + width)}) for one in plain]
    conditions = [*before, *ours, *(shifted(one, len(left.fields)) for one in theirs)]
    made = replace(builder.joined(left, right, node.kind, all_of(conditions), node.position), state_ttl=node.state_ttl)
    columns = builder.references(made)
    kept = columns[:width]
    if node.kind not in ("SEMI", "ANTI"):
        kept = [*kept, *columns[len(left.fields) : len(left.fields) + len(node.right.fields)]]
    return builder.project(made, kept, node.names)


def lateral_query_as_join(node: Relation) -> Relation | None:
    """LATERAL (SELECT ..): joined by the columns of the left that it reads."""
    if not isinstance(node, Correlation) or not _is_query(node.right):
        return None
    if not refers_outside(node.right):
        return builder.joined(node.left, node.right, node.kind, node.condition, node.position)
    left, right = node.left, without_subqueries(node.right)
    outer = tuple(builder.references(left))
    plan, pulled = _decorrelated(left, right, outer)
    width, own = len(left.fields), len(right.fields)
    conditions = [_over_join(one, outer, width) for one in pulled]
    made = builder.joined(left, plan, node.kind, all_of([*conjuncts(node.condition), *conditions]), node.position)
    return builder.project(made, builder.references(made)[: width + own], node.names)


def _is_query(relation: Relation) -> bool:
    """Not a function, an array or a version of a table, which are lateral in their own way."""
    below = relation
    while isinstance(below, Project):
        below = below.source
    return type(below).__name__ not in ("Unnest", "TableFunctionScan", "Snapshot")


def without_subqueries(plan: Relation) -> Relation:
    """A plan whose own subqueries are joins, so that what they take from further out can be seen."""
    inputs = plan.inputs()
    if isinstance(plan, Correlation):
        changed: tuple[Relation, ...] = (without_subqueries(plan.left), plan.right)
    else:
        changed = tuple(without_subqueries(source) for source in inputs)
    if any(new is not old for new, old in zip(changed, inputs, strict=True)):
        plan = plan.with_inputs(changed)
    for rule in (join_subqueries_of_filter, join_subqueries_of_projection, join_subqueries_of_join):
        found = rule(plan)
        if found is not None:
            return without_subqueries(found)
    return plan


def _all(conditions: Sequence[Typed]) -> Typed:
    found = all_of(conditions)
    assert found is not None
    return found


def _test(condition: Typed) -> tuple[SubqueryTest, bool] | None:
    """A test that stands for itself, and whether it is negated."""
    negated = False
    while isinstance(condition, Invoke) and condition.function == "not":
        condition, negated = condition.arguments[0], not negated
    return (condition, negated) if isinstance(condition, SubqueryTest) else None


def _joined(source: Relation, test: SubqueryTest, negated: bool) -> Relation:
    """A test that all rows of the result pass: a semi join, or an anti join."""
    width = len(source.fields)
    subquery = without_subqueries(test.plan)
    plan, pulled = _decorrelated(source, subquery, test.outer)
    conditions = [_over_join(one, test.outer, width) for one in pulled]
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


# -- columns for the results of subqueries ----------------------------------------------------------------------------


def _with_columns(source: Relation, expressions: Sequence[Typed], truth: bool = False) -> tuple[Relation, list[Typed]]:
    """The source with columns after its own for what the subqueries give, and the expressions over it.

    `truth`: the expressions are conditions that hold or do not, for which unknown is as good as false.
    """
    nodes = list(expressions)
    while (found := _innermost(nodes)) is not None:
        lenient = truth and all(_below_and_or(one, found) for one in nodes)
        source, column = _with_column(source, found, lenient)
        # By identity: plans know the definitions of their tables, which cannot be compared cheaply.
        nodes = [replaced(one, lambda part, at=found, by=column: by if part is at else None) for one in nodes]  # type: ignore[misc]
    return source, nodes


def _innermost(nodes: Sequence[Typed]) -> Subquery | None:
    """A subquery whose operands have none."""
    for node in nodes:
        for part in walk(node):
            if isinstance(part, (SubqueryTest, SubqueryValue)) and not any(map(has_subquery, part.children())):
                return part
    return None


def _below_and_or(condition: Typed, wanted: Subquery) -> bool:
    """Whether only AND and OR are between a condition and a test in it."""
    if condition is wanted or all(part is not wanted for part in walk(condition)):
        return True
    if not (isinstance(condition, Invoke) and condition.function in ("and", "or")):
        return False
    return all(_below_and_or(one, wanted) for one in condition.arguments)


def _with_column(source: Relation, subquery: Subquery, lenient: bool) -> tuple[Relation, Typed]:
    value = isinstance(subquery, SubqueryValue)
    whole = without_subqueries(subquery.plan)
    plan, pulled = _decorrelated(source, whole, subquery.outer, value, equalities=True)
    place = len(source.fields)
    if isinstance(subquery, SubqueryTest):
        return marked(
            source, subquery, plan, lambda at: [_over_join(one, subquery.outer, at) for one in pulled],
            columns_read(pulled), lenient,
        )  # fmt: skip
    absent = _value_of_nothing(whole) if pulled else None
    if not _is_one_row(whole):
        plan, pulled = _single(plan, pulled)
    if absent is not None:
        there = Constant(BooleanType(False), True)
        plan = builder.project(plan, [*builder.references(plan), there], [*plan.names, "$there"])
    below = builder.joined(source, plan, "LEFT", all_of([_over_join(one, subquery.outer, place) for one in pulled]))
    found: Typed = builder.references(below)[place]
    if absent is not None:
        found = Invoke(found.data_type, "case", (call("isNull", builder.references(below)[-1]), absent, found))
    return below, replace(found, data_type=subquery.data_type)


def _value_of_nothing(plan: Relation) -> Typed | None:
    """What a query without groups gives where there are no rows, if that is not NULL anyway."""
    expressions: list[Typed] = [*builder.references(plan)[:1]]
    while isinstance(plan, Project):
        expressions = [replace_columns(one, list(plan.expressions)) for one in expressions]
        plan = plan.source
    if not isinstance(plan, Aggregation) or plan.keys or not any(one.function == "count" for one in plan.calls):
        return None
    nothing: list[Typed] = [Constant(one.data_type, 0 if one.function == "count" else None) for one in plan.calls]
    return replace_columns(expressions[0], nothing)


def _is_one_row(plan: Relation) -> bool:
    """Whether it gives a row for all rows together, and so for each combination of outer values."""
    while isinstance(plan, Project):
        plan = plan.source
    return isinstance(plan, Aggregation) and not plan.keys and not plan.sets


def _single(plan: Relation, pulled: list[Typed]) -> tuple[Relation, list[Typed]]:
    """A subquery that might give several rows fails when it does."""
    value = builder.references(plan)[0]
    test = Aggregate(value.data_type.nullable(), "singleValue", (value,))
    keys = columns_read(pulled)
    grouped = builder.aggregated(plan, keys, [test])
    columns = builder.references(grouped)
    order = [len(keys), *range(len(keys))]
    result = builder.project(grouped, [columns[place] for place in order], [grouped.names[place] for place in order])
    return result, [moved(one, {column: place + 1 for place, column in enumerate(keys)}) for one in pulled]


# -- references to the query around -----------------------------------------------------------------------------------


def _decorrelated(
    source: Relation, plan: Relation, outer: tuple[Typed, ...], value: bool = False, equalities: bool = False
) -> tuple[Relation, list[Typed]]:
    """The subquery by itself, and the conditions that tie it to the query around it."""
    if not refers_outside(plan):
        return plan, []
    found, pulled = pulled_up(plan)
    whole = not refers_outside(found) and (only_equalities(pulled) or not equalities)
    if whole and not _loses_rows_of_nothing(plan, value):
        return found, pulled
    return for_each_combination(source, plan, outer)


def _loses_rows_of_nothing(plan: Relation, value: bool) -> bool:
    """Whether a row that is there even of nothing would be missed when only groups that have rows are joined.

    For a single value a left join gives null, and the value of a count is known.
    """
    if value:
        while isinstance(plan, Project):
            plan = plan.source
        if isinstance(plan, Aggregation) and not plan.keys:
            if any(one.function in builder.NEVER_NULL - {"count"} for one in plan.calls):
                return True
            plan = plan.source
    while isinstance(plan, (Project, Filter, Aggregation)):
        if isinstance(plan, Aggregation) and not plan.keys:
            return True
        plan = plan.source
    return False


def _over_join(condition: Typed, outer: tuple[Typed, ...], width: int) -> Typed:
    """Columns of the subquery lie after those of the query around it."""

    def placed(node: Typed) -> Typed | None:
        if isinstance(node, OuterRef):
            return outer[node.index]
        return replace(node, index=node.index + width) if isinstance(node, InputRef) else None

    return replaced(condition, placed)

"""Subqueries without references to the query around them.

Conditions that compare with outer columns are pulled up to where the join can have them. Where that does not do, the
subquery is computed for every combination of outer values there is: these come as columns after its own, down to
where they are read.
"""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from penstock.columns.typed.nodes import Aggregate, Constant, InputRef, Invoke, OuterRef, SortKey, Typed, walk
from penstock.columns.typesystem.scalars import BooleanType
from penstock.common.errors import NotSupportedError
from penstock.table.logical import builder
from penstock.table.logical import nodes as plan
from penstock.table.logical.conditions import all_of, call, conjuncts, moved, replaced
from penstock.table.logical.outer import is_outer, refers_outside, with_own_expressions

_UNLIMITED = 2**62


def pulled_up(relation: plan.Relation) -> tuple[plan.Relation, list[Typed]]:
    """The subquery, and the conditions with outer columns that it had, over its columns.

    Columns that only the conditions need come after the others. Outer columns may be left where none can be pulled.
    """
    match relation:
        case plan.Filter():
            below, pulled = pulled_up(relation.source)
            own = conjuncts(relation.condition)
            outer = [one for one in own if is_outer(one)]
            kept = all_of([one for one in own if not is_outer(one)])
            return (below if kept is None else builder.filtered(below, kept, relation.position)), [*pulled, *outer]
        case plan.Project():
            below, pulled = pulled_up(relation.source)
            return _carried(relation, below, pulled)
        case plan.Aggregation() if relation.keys or not relation.sets:
            below, pulled = pulled_up(relation.source)
            return _grouped(relation, below, pulled) if pulled and not relation.sets else (relation, [])
    return relation, []


def only_equalities(pulled: list[Typed]) -> bool:
    """Whether the conditions leave rows of one combination of the subquery's columns for each outer row."""
    return all(isinstance(one, Invoke) and one.function in ("equals", "isNotDistinctFrom") for one in pulled) and all(
        _one_sided(one) for one in pulled
    )


def _one_sided(equality: Typed) -> bool:
    left, right = (
        (is_outer(side), any(isinstance(part, InputRef) for part in walk(side))) for side in equality.children()
    )
    return left in ((True, False), (False, True)) and right == (left[1], left[0])


def columns_read(conditions: list[Typed]) -> list[int]:
    parts = [part for one in conditions for part in walk(one)]
    return list(dict.fromkeys(part.index for part in parts if isinstance(part, InputRef)))


def _carried(relation: plan.Project, below: plan.Relation, pulled: list[Typed]) -> tuple[plan.Relation, list[Typed]]:
    """A projection also gives the columns that the conditions need."""
    expressions, names = list(relation.expressions), list(relation.names)
    places: dict[int, int] = {}
    for column in columns_read(pulled):
        reference = builder.references(below)[column]
        if reference not in expressions:
            expressions.append(reference)
            names.append(below.names[column])
        places[column] = expressions.index(reference)
    return builder.project(below, expressions, names), [moved(one, places) for one in pulled]


def _grouped(
    relation: plan.Aggregation, below: plan.Relation, pulled: list[Typed]
) -> tuple[plan.Relation, list[Typed]]:
    """An aggregation also groups by the columns that equalities compare with the query around."""
    if not only_equalities(pulled):
        return relation, []
    keys = list(relation.keys)
    added = [column for column in columns_read(pulled) if column not in keys]
    grouped = builder.aggregated(below, [*keys, *added], relation.calls)
    order = [*range(len(keys)), *range(len(keys) + len(added), len(grouped.fields))]
    order += range(len(keys), len(keys) + len(added))
    columns = builder.references(grouped)
    result = builder.project(grouped, [columns[place] for place in order], [grouped.names[place] for place in order])
    places = {column: place for place, column in enumerate(keys)}
    places |= {column: len(order) - len(added) + place for place, column in enumerate(added)}
    return result, [moved(one, places) for one in pulled]


def for_each_combination(
    source: plan.Relation, subquery: plan.Relation, outer: tuple[Typed, ...]
) -> tuple[plan.Relation, list[Typed]]:
    """The subquery with the outer values it was computed for, and the equalities that find those of a row."""
    values = builder.project(source, outer, [f"$outer{place}" for place in range(len(outer))])
    found = _Combinations(builder.distinct(values)).of(subquery)
    width = len(subquery.fields)
    equalities: list[Typed] = []
    for place, one in enumerate(outer):
        column = builder.references(found)[width + place]
        nullable = one.data_type.is_nullable
        reference = OuterRef(one.data_type, place, f"$outer{place}")
        equalities.append(call("isNotDistinctFrom" if nullable else "equals", reference, column))
    return found, equalities


class _Combinations:
    """Gives relations the outer values as columns after their own."""

    def __init__(self, values: plan.Relation) -> None:
        self._values = values
        self._count = len(values.fields)

    def of(self, node: plan.Relation) -> plan.Relation:
        if not refers_outside(node):
            return builder.joined(node, self._values, "INNER", None)
        match node:
            case plan.Filter():
                source = self.of(node.source)
                return builder.filtered(source, self._over(node.condition, len(node.fields)), node.position)
            case plan.Project():
                source = self.of(node.source)
                width = len(node.source.fields)
                own = [self._over(one, width) for one in node.expressions]
                return builder.project(source, [*own, *self._columns(source)], [*node.names, *self._values.names])
            case plan.Aggregation():
                return self._aggregation(node)
            case plan.JoinRelation():
                return self._join(node)
            case plan.SetRelation():
                left, right = self.of(node.left), self.of(node.right)
                return plan.SetRelation((*node.fields, *self._values.fields), node.kind, node.keep_all, left, right)
            case plan.Sort():
                return self.of(node.source)  # rows of a subquery have no order unless LIMIT asks for it
            case plan.Limit():
                return self._limit(node)
            case plan.OverAggregation() | plan.WindowAssignment():
                return self._between(node)
            case plan.Unnest() | plan.TableFunctionScan():
                lateral = plan.Correlation((*self._values.fields, *node.fields), self._values, node, "INNER")
                columns = builder.references(lateral)
                return builder.project(
                    lateral, [*columns[self._count :], *columns[: self._count]], [*node.names, *self._values.names]
                )
            case plan.Correlation():
                return self._correlation(node)
        raise NotSupportedError(
            f"A subquery cannot refer to the query around it inside of {type(node).__name__}: write a join."
        )

    def _over(self, node: Typed, width: int) -> Typed:
        """The expression with outer columns where they are after `width` others."""

        def placed(part: Typed) -> Typed | None:
            if isinstance(part, OuterRef):
                return InputRef(part.data_type, width + part.index, part.name)
            return None

        return replaced(node, placed)

    def _columns(self, relation: plan.Relation) -> list[Typed]:
        return builder.references(relation)[len(relation.fields) - self._count :]

    def _aggregation(self, node: plan.Aggregation) -> plan.Relation:
        source = self.of(node.source)
        calls = node.calls
        if not node.keys:
            source, calls = self._with_nothing(source, calls)
        start = len(source.fields) - self._count
        keys = [*node.keys, *range(start, len(source.fields))]
        here = range(len(node.keys), len(keys))
        grouped = builder.aggregated(source, keys, calls, [(*one, *here) for one in node.sets])
        columns = builder.references(grouped)
        order = [*range(len(node.keys)), *range(len(keys), len(columns)), *here]
        return builder.project(grouped, [columns[place] for place in order], [*node.names, *self._values.names])

    def _with_nothing(
        self, source: plan.Relation, calls: tuple[Aggregate, ...]
    ) -> tuple[plan.Relation, tuple[Aggregate, ...]]:
        """Without keys there is a row even of nothing: one stands for it, which no function counts."""
        width = len(source.fields) - self._count
        there = Constant(BooleanType(False), True)
        marked = builder.project(source, [*builder.references(source), there], [*source.names, "$there"])
        pairs = [
            call("isNotDistinctFrom", ours, replace(theirs, index=theirs.index + self._count))
            for ours, theirs in zip(builder.references(self._values), self._columns(source), strict=True)
            if isinstance(theirs, InputRef)
        ]
        whole = builder.joined(self._values, marked, "LEFT", all_of(pairs))
        columns = builder.references(whole)
        values, own, seen = columns[: self._count], columns[self._count : self._count + width], columns[-1]
        wanted = [call("isNotNull", seen)]
        filters: list[int] = []
        for one in calls:
            condition = wanted[0]
            if one.where is not None:
                condition = call("and", condition, replace_columns(one.where, own))
            if condition not in wanted:
                wanted.append(condition)
            filters.append(width + wanted.index(condition))
        names = [*source.names[:width], *(f"$f{place}" for place in range(len(wanted))), *self._values.names]
        below = builder.project(whole, [*own, *wanted, *values], names)
        references = builder.references(below)
        return below, tuple(replace(one, where=references[place]) for one, place in zip(calls, filters, strict=True))

    def _join(self, node: plan.JoinRelation) -> plan.Relation:
        left_width, count = len(node.left.fields), self._count
        other = refers_outside(node.right)
        if node.kind in ("RIGHT", "FULL"):
            return self._join_of_both(node)
        left = self.of(node.left)
        right = self.of(node.right) if other else node.right
        width = len(node.right.fields)
        parts = conjuncts(node.condition)
        conditions = [self._joined_condition(one, left_width) for one in parts]
        if other:
            conditions += [
                call("isNotDistinctFrom", ours, replace(theirs, index=theirs.index + left_width + count))
                for ours, theirs in zip(self._columns(left), self._columns(right), strict=True)
                if isinstance(theirs, InputRef)
            ]
        made = builder.joined(left, right, node.kind, all_of(conditions), node.position)
        columns = builder.references(made)
        own = columns[:left_width]
        if node.kind not in ("SEMI", "ANTI"):
            own = [*own, *columns[left_width + count : left_width + count + width]]
        values = columns[left_width : left_width + count]
        return builder.project(made, [*own, *values], [*node.names, *self._values.names])

    def _joined_condition(self, node: Typed, left_width: int) -> Typed:
        """Columns of the right lie after the outer values, which come with the left."""

        def placed(part: Typed) -> Typed | None:
            if isinstance(part, OuterRef):
                return InputRef(part.data_type, left_width + part.index, part.name)
            if isinstance(part, InputRef) and part.index >= left_width:
                return replace(part, index=part.index + self._count)
            return None

        return replaced(node, placed)

    def _join_of_both(self, node: plan.JoinRelation) -> plan.Relation:
        """RIGHT and FULL: the outer values come with both sides, of which one may be missing."""
        left, right = self.of(node.left), self.of(node.right)
        left_width, width = len(node.left.fields), len(node.right.fields)
        conditions = [self._joined_condition(one, left_width) for one in conjuncts(node.condition)]
        conditions += [
            call("isNotDistinctFrom", ours, replace(theirs, index=theirs.index + left_width + self._count))
            for ours, theirs in zip(self._columns(left), self._columns(right), strict=True)
            if isinstance(theirs, InputRef)
        ]
        made = builder.joined(left, right, node.kind, all_of(conditions), node.position)
        columns = builder.references(made)
        first = columns[left_width : left_width + self._count]
        second = columns[len(columns) - self._count :]
        values = [
            Invoke(field.data_type, "COALESCE", (theirs, ours))
            for field, ours, theirs in zip(self._values.fields, first, second, strict=True)
        ]
        own = [*columns[:left_width], *columns[left_width + self._count : left_width + self._count + width]]
        return builder.project(made, [*own, *values], [*node.names, *self._values.names])

    def _limit(self, node: plan.Limit) -> plan.Relation:
        """The first rows for each combination."""
        order: tuple[SortKey, ...] = ()
        below = node.source
        if isinstance(below, plan.Sort):
            order, below = below.keys, below.source
        source = self.of(below)
        width = len(below.fields)
        order = tuple(replace(key, operand=self._over(key.operand, width)) for key in order)
        names = [*source.names, *(f"$s{place}" for place in range(len(order)))]
        sorted_by = builder.project(source, [*builder.references(source), *(key.operand for key in order)], names)
        columns = builder.references(sorted_by)
        end = _UNLIMITED if node.count is None else node.offset + node.count
        rank = plan.Rank(
            sorted_by.fields,
            sorted_by,
            tuple(range(width, width + self._count)),
            tuple(replace(key, operand=columns[len(source.fields) + place]) for place, key in enumerate(order)),
            node.offset + 1,
            end,
            False,
            position=node.position,
        )
        return builder.project(rank, builder.references(rank)[: len(source.fields)], source.names)

    def _between(self, node: plan.OverAggregation | plan.WindowAssignment) -> plan.Relation:
        """Nodes that add columns after those of their source, for each partition."""
        source = self.of(node.source)
        width = len(node.source.fields)
        here = self._columns(source)
        added = node.fields[width:]
        fields = (*source.fields, *added)
        made: plan.Relation
        match node:
            case plan.OverAggregation():
                moved_calls = with_own_expressions(node, lambda one: self._over(one, width)).calls
                calls = tuple(replace(one, partition_by=(*one.partition_by, *here)) for one in moved_calls)
                made = plan.OverAggregation(fields, source, calls)
            case plan.WindowAssignment():
                made = replace(node, fields=fields, source=source)
            case _:
                assert_never(node)
        columns = builder.references(made)
        order = [*columns[:width], *columns[width + self._count :], *columns[width : width + self._count]]
        return builder.project(made, order, [*node.names, *self._values.names])

    def _correlation(self, node: plan.Correlation) -> plan.Relation:
        """The outer values come with the left, of whose columns alone the right may read."""
        left = self.of(node.left)
        width = len(node.left.fields)
        condition = None if node.condition is None else self._joined_condition(node.condition, width)
        fields = (*left.fields, *node.fields[width:])
        made = plan.Correlation(fields, left, node.right, node.kind, condition, position=node.position)
        columns = builder.references(made)
        order = [*columns[:width], *columns[width + self._count :], *columns[width : width + self._count]]
        return builder.project(made, order, [*node.names, *self._values.names])


def replace_columns(node: Typed, columns: list[Typed]) -> Typed:
    """The expression with other expressions in place of its columns."""
    return replaced(node, lambda part: columns[part.index] if isinstance(part, InputRef) else None)

"""Conditions go to where they can be tested first: below joins, or into them, where equalities become keys."""

from __future__ import annotations

from dataclasses import replace

from penstock.columns.typed.nodes import Typed, shifted
from penstock.table.logical import builder
from penstock.table.logical.conditions import all_of, conjuncts, has_subquery, only_of
from penstock.table.logical.nodes import Filter, JoinRelation, Relation


def push_filter_into_join(node: Relation) -> Relation | None:
    """A filter over a join: FROM a, b WHERE a.k = b.k is a join by k."""
    if not isinstance(node, Filter) or not isinstance(node.source, JoinRelation):
        return None
    join = node.source
    left_free, right_free = join.kind in ("INNER", "LEFT", "SEMI", "ANTI"), join.kind in ("INNER", "RIGHT")
    split = _Split(join, conjuncts(node.condition), left_free, right_free, join.kind == "INNER")
    if not split.moves:
        return None
    condition = all_of([*conjuncts(join.condition), *split.both]) if split.both else join.condition
    below: Relation = replace(join, left=split.left, right=split.right, condition=condition)
    rest = all_of(split.rest)
    return below if rest is None else builder.filtered(below, rest, node.position)


def push_join_condition_down(node: Relation) -> Relation | None:
    """Conditions of ON that look at one side only; of an outer side they must stay, its rows come in any case."""
    if not isinstance(node, JoinRelation) or node.kind == "FULL":
        return None
    left_free = node.kind in ("INNER", "RIGHT", "SEMI")
    right_free = node.kind in ("INNER", "LEFT", "SEMI", "ANTI")
    split = _Split(node, conjuncts(node.condition), left_free, right_free, False)
    if not split.moves:
        return None
    return replace(node, left=split.left, right=split.right, condition=all_of(split.rest))


class _Split:
    """Conditions by where they go; those of one side are put over its input."""

    def __init__(
        self, join: JoinRelation, conditions: list[Typed], left_free: bool, right_free: bool, into_join: bool
    ) -> None:
        width = len(join.left.fields)
        end = width + len(join.right.fields)
        to_left: list[Typed] = []
        to_right: list[Typed] = []
        self.both: list[Typed] = []
        self.rest: list[Typed] = []
        for one in conditions:
            if has_subquery(one):
                self.rest.append(one)
            elif left_free and only_of(one, 0, width):
                to_left.append(one)
            elif right_free and only_of(one, width, end):
                to_right.append(shifted(one, -width))
            elif into_join:
                self.both.append(one)
            else:
                self.rest.append(one)
        self.moves = bool(to_left or to_right or self.both)
        self.left = _filtered(join.left, to_left)
        self.right = _filtered(join.right, to_right)


def _filtered(source: Relation, conditions: list[Typed]) -> Relation:
    condition = all_of(conditions)
    return source if condition is None else builder.filtered(source, condition)

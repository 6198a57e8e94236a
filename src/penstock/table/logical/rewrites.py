"""Plans before they are carried out: named rules that replace what SQL can say by what operators can do.

A rule looks at one node, whose inputs have been rewritten, and returns another node with the same columns, or None.
"""

from __future__ import annotations

from collections.abc import Callable

from penstock.table.logical import ranking
from penstock.table.logical.grouping_sets import grouping_sets
from penstock.table.logical.join_filters import push_filter_into_join, push_join_condition_down
from penstock.table.logical.join_keys import join_by_columns
from penstock.table.logical.narrow_scans import narrow_scan
from penstock.table.logical.nodes import Relation
from penstock.table.logical.set_operations import counted_set_operation, joined_set_operation
from penstock.table.logical.subqueries import (
    join_subqueries_of_filter,
    join_subqueries_of_join,
    join_subqueries_of_projection,
    lateral_query_as_join,
)
from penstock.table.logical.temporal_joins import (
    lookup_join_by_columns,
    push_filter_into_temporal_join,
    temporal_join,
    temporal_join_by_columns,
)
from penstock.table.logical.update_kinds import with_update_kinds

Rewrite = Callable[[Relation], Relation | None]

REWRITES: tuple[Rewrite, ...] = (
    grouping_sets,
    joined_set_operation,
    counted_set_operation,
    ranking.rank_of_filter,
    ranking.limit_as_rank,
    ranking.rank_without_number,
    ranking.rank_as_deduplication,
    join_subqueries_of_filter,
    join_subqueries_of_projection,
    join_subqueries_of_join,
    temporal_join,
    push_filter_into_temporal_join,
    temporal_join_by_columns,
    lookup_join_by_columns,
    push_filter_into_join,
    push_join_condition_down,
    join_by_columns,
    narrow_scan,
)


def rewritten(
    relation: Relation,
    rules: tuple[Rewrite, ...] = REWRITES,
    materialize: str = "AUTO",
    explained: bool = False,
    duplicates: bool = False,
) -> Relation:
    """The plan as it is carried out: after all rules, and with the changelogs that its operators need."""
    return with_update_kinds(_after_rules(relation, rules), materialize, explained, duplicates)


def _after_rules(relation: Relation, rules: tuple[Rewrite, ...]) -> Relation:
    """Inputs first; what a rule returns is looked at again."""
    known: dict[int, Relation] = {}

    def visit(node: Relation) -> Relation:
        # One object may stand in several places (a view used twice), and stays one.
        if id(node) not in known:
            # Before the right is looked at, which refers to the left.
            plain = lateral_query_as_join(node) or node
            known[id(node)] = _settled(_with_inputs(plain, tuple(visit(source) for source in plain.inputs())), rules)
        return known[id(node)]

    return visit(relation)


def _with_inputs(node: Relation, inputs: tuple[Relation, ...]) -> Relation:
    changed = any(new is not old for new, old in zip(inputs, node.inputs(), strict=True))
    return node.with_inputs(inputs) if changed else node


def _settled(node: Relation, rules: tuple[Rewrite, ...]) -> Relation:
    for rule in rules:
        found = rule(node)
        if found is not None:
            return _after_rules(found, rules)
    return node

"""Batch programs: what a query leaves when its inputs have ended, without the changes on the way, in its order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.columns.typed.nodes import Aggregate
from penstock.columns.typesystem.scalars import BigIntType
from penstock.table.logical import builder
from penstock.table.logical import nodes as plan
from penstock.table.physical.table_stream import TableStream

if TYPE_CHECKING:
    from penstock.table.physical.planner import Planner

_ALL_ROWS = 2**31 - 1


def ordered_by_rank(relation: plan.Relation) -> plan.Relation:
    """ORDER BY at the end of a batch query is the Top-N of all rows; elsewhere an order has no meaning."""
    if isinstance(relation, plan.Sort):
        return plan.Limit(relation.fields, relation, 0, _ALL_ROWS)
    if isinstance(relation, (plan.Project, plan.Sink)):  # ORDER BY may name columns that are not selected
        return relation.with_inputs((ordered_by_rank(relation.source),))
    return relation


def final_rows(relation: plan.Relation, planner: Planner) -> TableStream:
    """The rows of a relation; in a batch program each as often as it is left at the end."""
    table = planner.plan(relation)
    if not planner.batch or not table.updating:
        return table
    keys = range(len(relation.fields))
    counted = builder.aggregated(relation, keys, [Aggregate(BigIntType(False), "count", ())])
    return planner.plan(plan.Replication(relation.fields, counted))

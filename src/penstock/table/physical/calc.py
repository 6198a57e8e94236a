"""Relations without state: projections and filters fused into one operator, and unions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.columns.typed.nodes import Invoke, walk
from penstock.common.errors import NotSupportedError
from penstock.datastream.stream import DataStream
from penstock.runtime.table.calc import CalcParams, Compute, Keep, Step, merged
from penstock.table.logical import nodes as plan
from penstock.table.logical.changelog import kinds
from penstock.table.logical.explain import line_of
from penstock.table.logical.upsert_keys import upsert_keys
from penstock.table.physical.table_stream import TableStream, row_type_of

if TYPE_CHECKING:
    from penstock.table.physical.planner import Planner


def calc(relation: plan.Project | plan.Filter, planner: Planner) -> TableStream:
    """All projections and filters down to the next node of another kind."""
    steps: list[Step] = []
    below: plan.Relation = relation
    while isinstance(below, (plan.Project, plan.Filter)):
        steps.insert(0, Keep(below.condition) if isinstance(below, plan.Filter) else Compute(below.expressions))
        below = below.source
    # Somebody sees each watermark, also those that decide nothing.
    planner.shows_watermarks |= any(_asks_for_watermark(step) for step in steps)
    source = planner.plan(below)
    params = CalcParams(source.row_type, merged(steps), planner.session)
    made = planner.operator(relation, "table_calc", [source], {"calc": params}, name="Calc")
    return replace(made, kinds=source.kinds)  # in a batch program fewer than the plan says


def _asks_for_watermark(step: Step) -> bool:
    nodes = step.expressions if isinstance(step, Compute) else (step.condition,)
    parts = (part for node in nodes for part in walk(node))
    return any(isinstance(part, Invoke) and part.function == "CURRENT_WATERMARK" for part in parts)


def set_operation(relation: plan.SetRelation, planner: Planner) -> TableStream:
    if relation.kind != "UNION":
        raise NotSupportedError(f"{line_of(relation)} cannot be run yet.")
    sides = [planner.plan(side) for side in relation.inputs()]
    upstreams = tuple(upstream for side in sides for upstream in side.stream._upstreams)
    union = DataStream(planner.env, upstreams, row_type_of(relation.fields))
    return TableStream(union, relation.fields, kinds(relation), planner.wants_before(relation), upsert_keys(relation))

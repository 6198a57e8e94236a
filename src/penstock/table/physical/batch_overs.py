"""OVER in batch programs: windows of any order and frame, several of them in one SELECT."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.columns.typed.nodes import Aggregate, Constant, InputRef, OverCall, Typed
from penstock.common.errors import NotSupportedError
from penstock.runtime.table.batch_over import BatchOverParams
from penstock.table.logical import builder
from penstock.table.logical import nodes as plan
from penstock.table.logical.changelog import INSERTS
from penstock.table.physical.final_rows import final_rows
from penstock.table.physical.table_stream import TableStream

if TYPE_CHECKING:
    from penstock.table.physical.planner import Planner


def batch_over(relation: plan.OverAggregation, planner: Planner) -> TableStream:
    """One operator for each partitioning, over columns alone."""
    if any(call.call.function == "nth_value" for call in relation.calls):
        raise NotSupportedError("NTH_VALUE is not there, as in Flink: use FIRST_VALUE over a frame that begins later.")
    simple = by_columns(relation)
    if simple is not relation:
        return planner.plan(simple)
    partitions = list(dict.fromkeys(call.partition_by for call in relation.calls))
    if len(partitions) > 1:
        return planner.plan(_one_after_the_other(relation, partitions))
    source = final_rows(relation.source, planner)
    keys = tuple(one.index for one in partitions[0] if isinstance(one, InputRef))
    params = BatchOverParams(source.row_type, keys, relation.calls)
    stream = planner.operator(
        relation, "table_batch_over", [source], {"over": params}, keys=[keys], name="OverAggregate"
    )
    return replace(stream, kinds=INSERTS)


def by_columns(relation: plan.OverAggregation) -> plan.Relation:
    """The same with columns for everything that calls read and that is computed; these are gone above."""
    columns = builder.references(relation.source)
    added: list[Typed] = []

    def placed(node: Typed, argument: bool = False) -> Typed:
        if isinstance(node, InputRef) or (argument and isinstance(node, Constant)):
            return node
        if node not in added:
            added.append(node)
        return InputRef(node.data_type, len(columns) + added.index(node), f"$over{added.index(node)}")

    calls = tuple(_placed_call(call, placed) for call in relation.calls)
    if not added:
        return relation
    names = [*relation.source.names, *(f"$over{place}" for place in range(len(added)))]
    source = builder.project(relation.source, [*columns, *added], names)
    width = len(columns)
    wide = plan.OverAggregation((*source.fields, *relation.fields[width:]), source, calls)
    found = builder.references(wide)
    return builder.project(wide, [*found[:width], *found[len(source.fields) :]], relation.names)


def _placed_call(call: OverCall, placed: object) -> OverCall:
    assert callable(placed)
    inner: Aggregate = replace(
        call.call,
        arguments=tuple(placed(one, True) for one in call.call.arguments),
        where=None if call.call.where is None else placed(call.call.where),
    )
    order = tuple(replace(key, operand=placed(key.operand)) for key in call.order_by)
    return replace(call, call=inner, partition_by=tuple(map(placed, call.partition_by)), order_by=order)


def _one_after_the_other(relation: plan.OverAggregation, partitions: list[tuple[Typed, ...]]) -> plan.Relation:
    """A node for each partitioning over the one before; the columns come back into their order."""
    width = len(relation.source.fields)
    found: plan.Relation = relation.source
    places: dict[int, int] = {}
    for partition in partitions:
        here = [place for place, call in enumerate(relation.calls) if call.partition_by == partition]
        for place in here:
            places[place] = len(found.fields) + here.index(place)
        fields = (*found.fields, *(relation.fields[width + place] for place in here))
        found = plan.OverAggregation(fields, found, tuple(relation.calls[place] for place in here))
    columns = builder.references(found)
    order = [*range(width), *(places[place] for place in range(len(relation.calls)))]
    return builder.project(found, [columns[place] for place in order], relation.names)

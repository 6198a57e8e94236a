"""Groupings: by columns, by grouping sets, and SELECT DISTINCT."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.columns.typed.nodes import Aggregate, InputRef
from penstock.common.errors import NotSupportedError, ProgramError
from penstock.common.option_values import parse_duration
from penstock.common.options import value_of
from penstock.runtime.table.expand import ExpandParams, ReplicationParams
from penstock.runtime.table.group_aggregate import Bundle, GroupAggregateParams
from penstock.runtime.table.row_window import RowWindowParams
from penstock.runtime.table.table_aggregate import TableAggregateParams
from penstock.table.logical import nodes as plan
from penstock.table.logical.changelog import INSERTS
from penstock.table.logical.rank_strategy import direction_of
from penstock.table.logical.window_columns import has_window, window_columns
from penstock.table.physical.table_stream import TableStream
from penstock.table.physical.windows import window_aggregate

if TYPE_CHECKING:
    from penstock.table.physical.planner import Planner


def aggregation(relation: plan.Aggregation, planner: Planner) -> TableStream:
    if has_window(window_columns(relation.source), relation.keys):
        return window_aggregate(relation, planner)
    source = planner.plan(relation.source)
    params = GroupAggregateParams(
        source.row_type,
        relation.keys,
        tuple(_only_growing(call, relation.source) for call in relation.calls) if source.updating else relation.calls,
        retracting=source.updating,
        before=planner.wants_before(relation),
        ttl=time_to_live(planner, relation.state_ttl),
        bundle=_bundle(planner),
        only_final=planner.batch,
    )
    name = "GroupAggregate"
    stream = planner.operator(
        relation, "table_group_aggregate", [source], {"aggregate": params}, keys=[relation.keys], name=name
    )
    return replace(stream, kinds=INSERTS) if planner.batch else stream


def _only_growing(call: Aggregate, source: plan.Relation) -> Aggregate:
    """As in Flink, a MAX of what updates only raise, and a MIN of what they lower, need not remember what was."""
    argument = call.arguments[0] if call.arguments else None
    if call.function not in _DIRECTIONS or call.distinct or not isinstance(argument, InputRef):
        return call
    grows = direction_of(source, argument.index) == _DIRECTIONS[call.function]
    return replace(call, options=(*call.options, ("only_growing", True))) if grows else call


_DIRECTIONS = {"max": 1, "min": -1}


def row_window_aggregation(relation: plan.RowWindowAggregation, planner: Planner) -> TableStream:
    if planner.batch:
        raise NotSupportedError("Windows that count rows take them as they come: they need a streaming program.")
    source = planner.plan(relation.source)
    params = RowWindowParams(source.row_type, relation.keys, relation.calls, relation.size, relation.slide)
    return planner.operator(
        relation,
        "table_row_window",
        [source],
        {"aggregate": params},
        keys=[relation.keys],
        name="GroupWindowAggregate",
    )


def table_aggregation(relation: plan.TableAggregation, planner: Planner) -> TableStream:
    source = planner.plan(relation.source)
    params = TableAggregateParams(
        source.row_type, relation.keys, relation.function, relation.arguments, source.updating, time_to_live(planner)
    )
    return planner.operator(
        relation,
        "table_flat_aggregate",
        [source],
        {"aggregate": params},
        keys=[relation.keys],
        name="GroupTableAggregate",
    )


def expand(relation: plan.Expand, planner: Planner) -> TableStream:
    source = planner.plan(relation.source)
    params = ExpandParams(source.row_type, relation.keys, relation.sets, relation.numbers)
    return planner.operator(relation, "table_expand", [source], {"expand": params}, name="Expand")


def replication(relation: plan.Replication, planner: Planner) -> TableStream:
    source = planner.plan(relation.source)
    params = ReplicationParams(source.row_type)
    return planner.operator(relation, "table_replication", [source], {"replication": params}, name="ReplicateRows")


def time_to_live(planner: Planner, hint: int | None = None) -> int | None:
    """Milliseconds of a hint, or of table.exec.state.ttl; None: forever."""
    if planner.batch:
        return None
    if hint is not None:
        return hint or None
    return parse_duration(planner.options.get_string("table.exec.state.ttl", "0 ms")) or None


def _bundle(planner: Planner) -> Bundle | None:
    if planner.batch or not value_of(planner.options, "table.exec.mini-batch.enabled"):
        return None
    rows = int(value_of(planner.options, "table.exec.mini-batch.size"))
    millis = int(value_of(planner.options, "table.exec.mini-batch.allow-latency"))
    if millis <= 0 or rows == 0:
        raise ProgramError("table.exec.mini-batch.enabled needs table.exec.mini-batch.allow-latency and .size above 0.")
    return Bundle(rows, millis)

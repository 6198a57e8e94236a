"""OVER windows, and ORDER BY of a stream's time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.columns.typed.nodes import Aggregate, InputRef, OverCall, SortKey, TimeAttribute, Typed
from penstock.columns.typesystem.scalars import BigIntType, BooleanType
from penstock.common.errors import NotSupportedError
from penstock.runtime.table.aggregates.series_frames import series_function
from penstock.runtime.table.over import OverParams, Shown
from penstock.runtime.table.sorted_over import SortedOverParams
from penstock.runtime.table.temporal_sort import TemporalSortParams
from penstock.table.logical import builder
from penstock.table.logical import nodes as plan
from penstock.table.physical.aggregates import time_to_live
from penstock.table.physical.batch_overs import batch_over, by_columns
from penstock.table.physical.table_stream import TableStream

if TYPE_CHECKING:
    from penstock.table.physical.planner import Planner


def over(relation: plan.OverAggregation, planner: Planner) -> TableStream:
    """All calls of one node share one window; in batch programs there may be any windows."""
    if planner.batch:
        return batch_over(relation, planner)
    first = relation.calls[0]
    if any(_window(call) != _window(first) for call in relation.calls):
        raise NotSupportedError("All OVER windows of a SELECT must be the same: use a subquery for each of the others.")
    if not first.order_by or not _is_time(first.order_by[0]):
        return _sorted_over(relation, planner)
    if not first.order_by[0].ascending:
        raise NotSupportedError("OVER must be ordered by a time attribute, ascending.")
    if len(first.order_by) > 1:
        raise NotSupportedError("OVER can be ordered by a time attribute only: leave the other columns out.")
    if first.upper.kind != "current" or not first.lower.before:
        raise NotSupportedError("An OVER window ends at the CURRENT ROW.")
    unbounded = first.lower.kind == "unbounded"
    if unbounded and any(function := series_function(call.call) for call in relation.calls):
        assert function is not None
        raise NotSupportedError(
            f"{function.name} looks at all rows of its window for each row, so that on streams it cannot be used with"
            " UNBOUNDED PRECEDING, as in Flink: say how far back the window reaches, in ROWS or in time."
        )
    source, places = _with_columns(relation)
    if source is not relation.source:
        return planner.plan(_above(relation, source, places))
    time = first.order_by[0].operand
    assert isinstance(time, InputRef)
    stream = planner.plan(source)
    keys = tuple(one.index for one in first.partition_by if isinstance(one, InputRef))
    params = OverParams(
        stream.row_type,
        keys,
        time.index,
        tuple(_aggregate(call, len(stream.fields)) for call in relation.calls),
        first.by_rows,
        None if unbounded else int(first.lower.amount or 0),
        time.time is TimeAttribute.ROWTIME,
        tuple(_NUMBERS.get(call.call.function, Shown.FRAME) for call in relation.calls),
    )
    return planner.operator(relation, "table_over", [stream], {"over": params}, keys=[keys], name="OverAggregate")


# Which row's count a numbering function shows; a frame means nothing to it.
_NUMBERS = {"row_number": Shown.ROW, "rank": Shown.FIRST_PEER, "dense_rank": Shown.ROW}


def _sorted_over(relation: plan.OverAggregation, planner: Planner) -> TableStream:
    """Ordered by columns whose values may come in any order."""
    simple = by_columns(relation)
    if simple is not relation:
        return planner.plan(simple)
    stream = planner.plan(relation.source)
    keys = tuple(one.index for one in relation.calls[0].partition_by if isinstance(one, InputRef))
    params = SortedOverParams(
        stream.row_type, keys, relation.calls, planner.wants_before(relation), time_to_live(planner)
    )
    return planner.operator(
        relation, "table_sorted_over", [stream], {"over": params}, keys=[keys], name="OverAggregate"
    )


def _window(call: OverCall) -> tuple[object, ...]:
    return call.partition_by, call.order_by, call.by_rows, call.lower, call.upper


def _is_time(key: SortKey) -> bool:
    return isinstance(key.operand, InputRef) and key.operand.time is not None


def _aggregate(call: OverCall, width: int) -> Aggregate:
    """What is counted for a row; after the columns of the input stands whether a row is the first of its time."""
    match call.call.function:
        case "row_number" | "rank":
            return Aggregate(BigIntType(False), "count", ())
        case "dense_rank":
            return Aggregate(BigIntType(False), "count", (), where=InputRef(BooleanType(False), width, "$first"))
        case "lead":
            raise NotSupportedError("LEAD is not supported on streams: it looks at rows that have not come yet.")
        case "ntile" | "percent_rank" | "cume_dist" as name:
            raise NotSupportedError(
                f"{name.upper()} over time is not supported on streams: it counts rows that have not come yet."
            )
    return call.call


def _with_columns(relation: plan.OverAggregation) -> tuple[plan.Relation, dict[Typed, int]]:
    """The source with columns for arguments and keys that are expressions."""
    columns = builder.references(relation.source)
    wanted = [
        node
        for call in relation.calls
        for node in (*call.call.arguments, *call.partition_by, *((call.call.where,) if call.call.where else ()))
    ]
    added = [node for node in dict.fromkeys(wanted) if node.children() and node not in columns]
    if not added:
        return relation.source, {}
    names = [*relation.source.names, *("$arg" for _ in added)]
    places = {node: len(columns) + place for place, node in enumerate(added)}
    return builder.project(relation.source, [*columns, *added], names), places


def _above(relation: plan.OverAggregation, source: plan.Relation, places: dict[Typed, int]) -> plan.Relation:
    """The same over the wider source, without the added columns in the result."""
    references = builder.references(source)

    def placed(node: Typed) -> Typed:
        return references[places[node]] if node in places else node

    calls = []
    for call in relation.calls:
        inner = call.call
        arguments = tuple(placed(one) for one in inner.arguments)
        where = None if inner.where is None else placed(inner.where)
        moved = Aggregate(
            inner.data_type, inner.function, arguments, inner.distinct, where, inner.order_by, inner.options
        )
        partition = tuple(placed(one) for one in call.partition_by)
        calls.append(OverCall(call.data_type, moved, partition, call.order_by, call.by_rows, call.lower, call.upper))
    width = len(relation.source.fields)
    wider = plan.OverAggregation((*source.fields, *relation.fields[width:]), source, tuple(calls))
    columns = builder.references(wider)
    kept = [*columns[:width], *columns[len(source.fields) :]]
    return builder.project(wider, kept, relation.names)


def sort(relation: plan.Sort, planner: Planner) -> TableStream:
    """ORDER BY time, and then perhaps by other columns."""
    first = relation.keys[0]
    if not _is_time(first) or not first.ascending:
        raise NotSupportedError(
            "Rows of a stream can be sorted only by a time attribute, ascending: sort by it first, or add LIMIT."
        )
    assert isinstance(first.operand, InputRef)
    stream = planner.plan(relation.source)
    params = TemporalSortParams(
        stream.row_type, first.operand.index, relation.keys[1:], first.operand.time is TimeAttribute.ROWTIME
    )
    return planner.operator(relation, "table_temporal_sort", [stream], {"sort": params}, keys=[()], name="TemporalSort")

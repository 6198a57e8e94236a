"""Joins of two tables: by keys that conditions equate, with what is left of the condition tested on pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.columns.typed.nodes import OuterRef, TimeAttribute
from penstock.common.errors import NotSupportedError
from penstock.runtime.table.interval_join import IntervalJoinParams, TimedSide
from penstock.runtime.table.join import JoinParams, SideParams
from penstock.runtime.table.lookup_join import LookupJoinParams
from penstock.runtime.table.temporal_join import TemporalJoinParams
from penstock.runtime.table.window_join import WindowedSide, WindowJoinParams
from penstock.table.logical import builder
from penstock.table.logical import nodes as plan
from penstock.table.logical.join_keys import JoinKeys, join_by_columns, join_keys
from penstock.table.logical.time_bounds import TimeBounds, time_bounds
from penstock.table.logical.window_columns import is_window_join, window_columns
from penstock.table.physical.aggregates import time_to_live
from penstock.table.physical.table_stream import TableStream, row_type_of
from penstock.table.physical.windows import window_zone

if TYPE_CHECKING:
    from penstock.table.physical.planner import Planner


def join(relation: plan.JoinRelation, planner: Planner) -> TableStream:
    """Every row of one side with every row of the other side that ever came."""
    bounds = time_bounds(relation)
    left, right = planner.plan(relation.left), planner.plan(relation.right)
    if bounds is not None and not left.updating and not right.updating:
        return _interval_join(relation, bounds, left, right, planner)
    keys = join_keys(relation)
    if is_window_join(relation) and not left.updating and not right.updating:
        return _window_join(relation, keys, left, right, planner)
    params = JoinParams(
        relation.kind,
        side_params(left, keys.left, planner),
        side_params(right, keys.right, planner),
        keys.nulls_match,
        keys.rest,
        planner.session,
    )
    return planner.operator(
        relation, "table_join", [left, right], {"join": params}, keys=[keys.left, keys.right], name="Join"
    )


def _interval_join(
    relation: plan.JoinRelation, bounds: TimeBounds, left: TableStream, right: TableStream, planner: Planner
) -> TableStream:
    """Rows whose times are near each other, so that state can be given up."""
    keys = join_keys(replace(relation, condition=bounds.rest))
    if any(keys.nulls_match):
        raise NotSupportedError("A join with bounds of time cannot compare keys by IS NOT DISTINCT FROM: use =.")
    params = IntervalJoinParams(
        relation.kind,
        TimedSide(left.row_type, keys.left, bounds.left),
        TimedSide(right.row_type, keys.right, bounds.right),
        bounds.lower,
        bounds.upper,
        keys.rest,
        bounds.event_time,
        planner.session,
    )
    return planner.operator(
        relation,
        "table_interval_join",
        [left, right],
        {"join": params},
        keys=[keys.left, keys.right],
        name="IntervalJoin",
    )


def _window_join(
    relation: plan.JoinRelation, keys: JoinKeys, left: TableStream, right: TableStream, planner: Planner
) -> TableStream:
    """Rows of the same window."""
    sides = []
    for side, stream, places in ((relation.left, left, keys.left), (relation.right, right, keys.right)):
        columns = window_columns(side)
        end = next(place for place in places if columns.get(place) == "end")
        sides.append(WindowedSide(stream.row_type, places, end))
    zone = window_zone(relation.left, planner)
    params = WindowJoinParams(relation.kind, sides[0], sides[1], keys.rest, zone, planner.session)
    return planner.operator(
        relation, "table_window_join", [left, right], {"join": params}, keys=[keys.left, keys.right], name="WindowJoin"
    )


def correlation(relation: plan.Correlation, planner: Planner) -> TableStream:
    """FOR SYSTEM_TIME AS OF: the version of a row that was valid at the time of the left row."""
    right = relation.right
    assert isinstance(right, plan.Snapshot), "other correlations are those of correlates.py"
    period = right.period
    if not isinstance(period, OuterRef) or period.time is None:
        raise NotSupportedError("FOR SYSTEM_TIME AS OF takes a time attribute of the left table.")
    if period.time is TimeAttribute.PROCTIME:
        return lookup_join(relation, right, planner)
    joined = builder.joined(relation.left, right.source, relation.kind, relation.condition, relation.position)
    assert isinstance(joined, plan.JoinRelation)
    wider = join_by_columns(joined)
    if wider is not None:
        raise NotSupportedError("A temporal join compares columns: compute the keys in a view before it.")
    keys = join_keys(joined)
    time = next((n for n, one in enumerate(right.source.fields) if one.time is TimeAttribute.ROWTIME), None)
    if not keys.left or time is None:
        raise NotSupportedError(
            "A temporal join needs an equality with the primary key of the right table, which needs a rowtime."
        )
    left_stream, right_stream = planner.plan(relation.left), planner.plan(right.source)
    params = TemporalJoinParams(
        relation.kind,
        TimedSide(left_stream.row_type, keys.left, period.index),
        TimedSide(right_stream.row_type, keys.right, time),
        keys.rest,
        True,
        planner.session,
    )
    return planner.operator(
        relation,
        "table_temporal_join",
        [left_stream, right_stream],
        {"join": params},
        keys=[keys.left, keys.right],
        name="TemporalJoin",
    )


def lookup_join(relation: plan.Correlation, right: plan.Snapshot, planner: Planner) -> TableStream:
    """Rows of a table outside, as they are when the left row comes; the table's connector says how keys are looked up.

    Its handle has `lookup(scan, columns, planner)`, which gives a LookupFunction for these columns as the key, how many
    keys may be cached, and for how many milliseconds.
    """
    scan = right.source
    look_up = getattr(scan.definition.handle, "lookup", None) if isinstance(scan, plan.Scan) else None
    if look_up is None:
        raise NotSupportedError(
            "A join with a table as of processing time needs a connector that looks up keys, as jdbc has; joins with "
            "the last version of other tables need a rowtime: FOR SYSTEM_TIME AS OF the rowtime of the left table."
        )
    joined = builder.joined(relation.left, scan, relation.kind, relation.condition, relation.position)
    assert isinstance(joined, plan.JoinRelation)
    keys = join_keys(joined)
    if not keys.left or any(keys.nulls_match):
        raise NotSupportedError("A lookup join needs an equality of a column of each side.")
    stream = planner.plan(relation.left)
    function, cached_keys, cached_ms = look_up(scan, [scan.names[place] for place in keys.right], planner)
    params = LookupJoinParams(
        relation.kind,
        stream.row_type,
        keys.left,
        row_type_of(scan.fields),
        function,
        keys.rest,
        cached_keys,
        cached_ms,
        planner.session,
    )
    return planner.operator(relation, "table_lookup_join", [stream], {"join": params}, name="LookupJoin")


def side_params(side: TableStream, keys: Sequence[int], planner: Planner) -> SideParams:
    ttl = time_to_live(planner) or 0
    if not side.updating:
        return SideParams(side.row_type, tuple(keys), None, False, ttl)
    if side.upsert_keys:
        shortest = min(side.upsert_keys, key=lambda key: (len(key), sorted(key)))
        # A row with this unique key is looked for among those of the same join key only.
        return SideParams(side.row_type, tuple(keys), tuple(dict.fromkeys((*keys, *sorted(shortest)))), True, ttl)
    return SideParams(side.row_type, tuple(keys), tuple(range(len(side.fields))), False, ttl)

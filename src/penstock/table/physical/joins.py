"""Joins of two tables: by keys that conditions equate, with what is left of the condition tested on pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.runtime.table.interval_join import IntervalJoinParams, TimedSide
from penstock.runtime.table.join import JoinParams, SideParams
from penstock.runtime.table.window_join import WindowedSide, WindowJoinParams
from penstock.table.logical import nodes as plan
from penstock.table.logical.join_keys import JoinKeys, join_keys
from penstock.table.logical.time_bounds import TimeBounds, time_bounds
from penstock.table.logical.window_columns import is_window_join, window_columns
from penstock.table.physical.aggregates import time_to_live
from penstock.table.physical.table_stream import TableStream
from penstock.table.physical.windows import needs_event_time, window_zone

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
        needs_event_time(relation, "a join")
        return _window_join(relation, keys, left, right, planner)
    params = JoinParams(
        relation.kind,
        side_params(left, keys.left, planner, relation.state_ttl[0]),
        side_params(right, keys.right, planner, relation.state_ttl[1]),
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
    params = IntervalJoinParams(
        relation.kind,
        TimedSide(left.row_type, keys.left, bounds.left, keys.with_nulls(keys.left)),
        TimedSide(right.row_type, keys.right, bounds.right, keys.with_nulls(keys.right)),
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
        sides.append(WindowedSide(stream.row_type, places, end, keys.with_nulls(places)))
    zone = window_zone(relation.left, planner)
    params = WindowJoinParams(relation.kind, sides[0], sides[1], keys.rest, zone, planner.session)
    return planner.operator(
        relation, "table_window_join", [left, right], {"join": params}, keys=[keys.left, keys.right], name="WindowJoin"
    )


def side_params(side: TableStream, keys: Sequence[int], planner: Planner, hint: int | None) -> SideParams:
    ttl = time_to_live(planner, hint) or 0
    if not side.updating:
        return SideParams(side.row_type, tuple(keys), None, False, ttl)
    if side.upsert_keys:
        shortest = min(side.upsert_keys, key=lambda key: (len(key), sorted(key)))
        # A row with this unique key is looked for among those of the same join key only.
        return SideParams(side.row_type, tuple(keys), tuple(dict.fromkeys((*keys, *sorted(shortest)))), True, ttl)
    return SideParams(side.row_type, tuple(keys), tuple(range(len(side.fields))), False, ttl)

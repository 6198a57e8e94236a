"""Joins of two tables: by keys that conditions equate, with what is left of the condition tested on pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.columns.typed.nodes import InputRef, Invoke, OuterRef, TimeAttribute, Typed, shifted
from penstock.columns.typesystem.arrow_mapping import to_arrow_type
from penstock.columns.typesystem.base import DataType
from penstock.columns.typesystem.families import is_integer
from penstock.columns.typesystem.merging import common_type
from penstock.common.errors import NotSupportedError
from penstock.common.option_values import parse_duration
from penstock.runtime.table.interval_join import IntervalJoinParams, TimedSide
from penstock.runtime.table.join import JoinParams, SideParams
from penstock.runtime.table.temporal_join import TemporalJoinParams
from penstock.runtime.table.window_join import WindowedSide, WindowJoinParams
from penstock.table.logical import builder
from penstock.table.logical import nodes as plan
from penstock.table.logical.conditions import all_of, call, conjuncts, moved, only_of
from penstock.table.logical.explain import line_of
from penstock.table.logical.time_bounds import TimeBounds, time_bounds
from penstock.table.logical.window_columns import is_window_join, window_columns
from penstock.table.physical.table_stream import TableStream
from penstock.table.physical.windows import window_zone
from penstock.table.resolution.calls import implied

if TYPE_CHECKING:
    from penstock.table.physical.planner import Planner


@dataclass(frozen=True)
class JoinKeys:
    """A condition taken apart: columns of both sides that must be equal, and what else must hold."""

    left: tuple[int, ...]
    right: tuple[int, ...]
    nulls_match: tuple[bool, ...]
    rest: Typed | None


def join(relation: plan.JoinRelation, planner: Planner) -> TableStream:
    """Every row of one side with every row of the other side that ever came."""
    with_columns = with_key_columns(relation)
    if with_columns is not None:
        return planner.plan(with_columns)
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
    keys = join_keys(builder.joined(relation.left, relation.right, relation.kind, bounds.rest))
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
    if not isinstance(right, plan.Snapshot):
        raise NotSupportedError(f"{line_of(relation)} cannot be run yet.")
    period = right.period
    if not isinstance(period, OuterRef) or period.time is None:
        raise NotSupportedError("FOR SYSTEM_TIME AS OF takes a time attribute of the left table.")
    if period.time is TimeAttribute.PROCTIME:
        return lookup_join(relation, right, planner)
    joined = builder.joined(relation.left, right.source, relation.kind, relation.condition, relation.position)
    assert isinstance(joined, plan.JoinRelation)
    wider = with_key_columns(joined)
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
    raise NotSupportedError(
        "Processing-time temporal joins need a table that can be looked up, as of the connector jdbc."
    )


def side_params(side: TableStream, keys: Sequence[int], planner: Planner) -> SideParams:
    ttl = parse_duration(planner.options.get_string("table.exec.state.ttl", "0 ms"))
    if not side.updating:
        return SideParams(side.row_type, tuple(keys), None, False, ttl)
    if side.upsert_keys:
        shortest = min(side.upsert_keys, key=lambda key: (len(key), sorted(key)))
        # A row with this unique key is looked for among those of the same join key only.
        return SideParams(side.row_type, tuple(keys), tuple(dict.fromkeys((*keys, *sorted(shortest)))), True, ttl)
    return SideParams(side.row_type, tuple(keys), tuple(range(len(side.fields))), False, ttl)


def join_keys(relation: plan.JoinRelation) -> JoinKeys:
    width = len(relation.left.fields)
    left: list[int] = []
    right: list[int] = []
    nulls: list[bool] = []
    rest: list[Typed] = []
    for one in conjuncts(relation.condition):
        pair = equated(one, width)
        if pair is None or not all(isinstance(side, InputRef) for side in pair):
            rest.append(one)
            continue
        ours, theirs = pair
        assert isinstance(ours, InputRef) and isinstance(theirs, InputRef) and isinstance(one, Invoke)
        left.append(ours.index)
        right.append(theirs.index)
        nulls.append(one.function == "isNotDistinctFrom")
    return JoinKeys(tuple(left), tuple(right), tuple(nulls), all_of(rest))


def equated(condition: Typed, width: int) -> tuple[Typed, Typed] | None:
    """Expressions of the left and of the right side, each over its own columns, that must be equal."""
    if not isinstance(condition, Invoke) or condition.function not in ("equals", "isNotDistinctFrom"):
        return None
    one, other = condition.arguments
    if only_of(other, 0, width):
        one, other = other, one
    if not only_of(one, 0, width) or not only_of(other, width, 1 << 30):
        return None
    target = _key_type(one.data_type, other.data_type)
    if target is None:
        return None
    return _as_key(one, target), _as_key(shifted(other, -width), target)


def _key_type(left: DataType, right: DataType) -> DataType | None:
    return left if _same_key(left, right) else common_type([left, right])


def _same_key(left: DataType, right: DataType) -> bool:
    """Whether equal values of two types are equal keys as they are."""
    both_whole = is_integer(left) and is_integer(right)
    return both_whole or to_arrow_type(left) == to_arrow_type(right)


def _as_key(node: Typed, target: DataType) -> Typed:
    return node if _same_key(node.data_type, target) else implied(node, target)


def with_key_columns(relation: plan.JoinRelation) -> plan.Relation | None:
    """The join with columns for keys that are expressions; None if all keys are columns already."""
    width = len(relation.left.fields)
    sides = [builder.references(relation.left), builder.references(relation.right)]
    conditions: list[tuple[str, int, int] | Typed] = []
    added = False
    for one in conjuncts(relation.condition):
        pair = equated(one, width)
        if pair is None or all(isinstance(side, InputRef) for side in pair):
            conditions.append(one)
            continue
        added = True
        places = []
        for columns, node in zip(sides, pair, strict=True):
            if node not in columns:
                columns.append(node)
            places.append(columns.index(node))
        assert isinstance(one, Invoke)
        conditions.append((one.function, places[0], places[1]))
    if not added:
        return None
    left, right = (
        builder.project(
            source, columns, [*source.names, *(f"$k{place}" for place in range(len(source.names), len(columns)))]
        )
        for source, columns in zip((relation.left, relation.right), sides, strict=True)
    )
    condition = all_of([_over_wider(one, width, left, right) for one in conditions])
    joined = builder.joined(left, right, relation.kind, condition, relation.position)
    columns = builder.references(joined)
    kept = [*columns[:width], *columns[len(left.fields) :][: len(relation.right.fields)]]
    kept = kept[: len(relation.fields)]
    return builder.project(joined, kept, relation.names)


def _over_wider(
    condition: tuple[str, int, int] | Typed, width: int, left: plan.Relation, right: plan.Relation
) -> Typed:
    wider = len(left.fields)
    if isinstance(condition, tuple):
        function, ours, theirs = condition
        return call(function, builder.references(left)[ours], shifted(builder.references(right)[theirs], wider))
    places = {place: place for place in range(width)}
    places |= {width + place: wider + place for place in range(len(right.fields))}
    return moved(condition, places)

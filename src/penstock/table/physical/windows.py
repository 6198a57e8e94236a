"""Windows: table functions by themselves, and aggregates over them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.columns.typed.nodes import Aggregate, InputRef, SortKey, TimeAttribute, Typed, columns_of
from penstock.common.errors import NotSupportedError
from penstock.runtime.table.window_aggregate import WindowAggregateParams
from penstock.runtime.table.window_assignment import AssignmentParams
from penstock.runtime.table.window_rank import WindowRankParams
from penstock.runtime.table.window_times import WindowParams, is_zoned
from penstock.table.logical import builder
from penstock.table.logical import nodes as plan
from penstock.table.logical.conditions import moved
from penstock.table.logical.window_columns import window_columns
from penstock.table.physical.table_stream import TableStream
from penstock.table.sql.errors import SqlValidationError

if TYPE_CHECKING:
    from penstock.table.physical.planner import Planner


def assignment(relation: plan.WindowAssignment, planner: Planner) -> TableStream:
    """A window function whose rows go on one by one."""
    source = planner.plan(relation.source)
    made = AssignmentParams(source.row_type, window_params(relation, planner))
    if relation.kind == "SESSION":
        if not made.window.event_time:
            raise NotSupportedError("SESSION on processing time must be followed by GROUP BY window_start, window_end.")
        keys = relation.partition_by
        params = {"windows": made, "keys": keys}
        return planner.operator(
            relation, "table_session_assignment", [source], params, keys=[keys], name="WindowTableFunction"
        )
    return planner.operator(
        relation, "table_window_assignment", [source], {"windows": made}, name="WindowTableFunction"
    )


def window_params(relation: plan.WindowAssignment, planner: Planner) -> WindowParams:
    time = relation.source.fields[relation.time_column]
    zone = planner.session.zone if is_zoned(time.data_type) else None
    event_time = time.time is not TimeAttribute.PROCTIME
    return WindowParams(
        relation.kind,
        relation.size,
        relation.slide,
        relation.offset,
        relation.time_column,
        zone=None if zone == "UTC" else zone,
        event_time=event_time,
    )


def window_zone(relation: plan.Relation, planner: Planner) -> str | None:
    """The zone by whose wall clock the windows of a relation were cut; None if times are wall clock times."""
    zoned = any(is_zoned(relation.fields[place].data_type) for place, name in _times(relation))
    return planner.session.zone if zoned and planner.session.zone != "UTC" else None


def _times(relation: plan.Relation) -> list[tuple[int, str]]:
    return [(place, name) for place, name in window_columns(relation).items() if name == "time"]


def needs_event_time(relation: plan.Relation, what: str) -> set[str]:
    """The kinds of window functions below, none of which may be on processing time."""
    found: set[str] = set()
    if not window_columns(relation):
        return found
    if isinstance(relation, plan.WindowAssignment):
        if relation.source.fields[relation.time_column].time is TimeAttribute.PROCTIME:
            raise NotSupportedError(
                f"{relation.kind} on processing time cannot be followed by {what} of its windows, as in Flink:"
                " only by GROUP BY window_start, window_end."
            )
        found = {relation.kind}
    return found.union(*(needs_event_time(source, what) for source in relation.inputs()))


class _PulledUp:
    """A relation over a window function without that function, and where its columns are then."""

    def __init__(self, relation: plan.Relation, places: dict[int, int | str], time: int, window: plan.WindowAssignment):
        self.relation = relation
        self.places = places  # old column -> new column, or a property of the window
        self.time = time
        self.window = window

    def moved(self, node: Typed) -> Typed | None:
        """The expression over the new columns; None if it looks at the window."""
        if any(isinstance(self.places[column], str) for column in columns_of(node)):
            return None
        return moved(node, {old: new for old, new in self.places.items() if isinstance(new, int)})


def _pulled_up(relation: plan.Relation) -> _PulledUp | None:
    """Assigning windows last: rows are not copied for each window, and those that a filter drops never get one."""
    match relation:
        case plan.WindowAssignment():
            width = len(relation.source.fields)
            places: dict[int, int | str] = {place: place for place in range(width)}
            places |= {width: "start", width + 1: "end", width + 2: "time"}
            return _PulledUp(relation.source, places, relation.time_column, relation)
        case plan.Filter():
            below = _pulled_up(relation.source)
            condition = None if below is None else below.moved(relation.condition)
            if below is None or condition is None:
                return None
            filtered = builder.filtered(below.relation, condition, relation.position)
            return _PulledUp(filtered, below.places, below.time, below.window)
        case plan.Project():
            below = _pulled_up(relation.source)
            return None if below is None else _projected(relation, below)
    return None


def _projected(relation: plan.Project, below: _PulledUp) -> _PulledUp | None:
    nodes: list[Typed] = []
    names: list[str] = []
    places: dict[int, int | str] = {}
    for place, one in enumerate(relation.expressions):
        if isinstance(one, InputRef) and isinstance(below.places[one.index], str):
            places[place] = below.places[one.index]
            continue
        node = below.moved(one)
        if node is None:
            return None
        places[place] = len(nodes)
        nodes.append(node)
        names.append(relation.names[place])
    time = builder.references(below.relation)[below.time]
    if time not in nodes:
        nodes.append(time)
        names.append("$time")
    return _PulledUp(builder.project(below.relation, nodes, names), places, nodes.index(time), below.window)


def _check_hop(window: plan.WindowAssignment) -> None:
    if window.kind == "HOP" and window.slide and window.size % window.slide:
        raise SqlValidationError(
            f"HOP needs a SIZE that is a multiple of SLIDE to be grouped by: {window.size} ms and {window.slide} ms.",
            window.position,
        )


def window_aggregate(relation: plan.Aggregation, planner: Planner) -> TableStream:
    """GROUP BY the window and other columns."""
    pulled = _pulled_up(relation.source)
    if pulled is not None:
        _check_hop(pulled.window)
    calls = None if pulled is None else _moved_calls(relation.calls, pulled)
    if pulled is not None and calls is not None:
        window = window_params(pulled.window, planner)
        window = WindowParams(
            window.kind, window.size, window.slide, window.offset, pulled.time, None, window.zone, window.event_time
        )
        source, places = pulled.relation, pulled.places
    else:
        columns = window_columns(relation.source)
        by_name = {columns[key]: key for key in relation.keys if key in columns}
        attached = by_name["start"], by_name["end"]
        window = WindowParams("TUMBLE", 0, attached=attached, zone=window_zone(relation.source, planner))
        source, calls = relation.source, relation.calls
        places = {place: columns.get(place, place) for place in range(len(relation.source.fields))}
        if "SESSION" in needs_event_time(relation.source, "a further window aggregate"):
            raise NotSupportedError(
                "GROUP BY the window of a SESSION must follow it directly: conditions on the window go to HAVING."
            )
    keys = [place for key in relation.keys if isinstance(place := places[key], int)]
    outputs = tuple(
        place if isinstance(place, str) else keys.index(place) for place in (places[key] for key in relation.keys)
    )
    stream = planner.plan(source)
    params = WindowAggregateParams(stream.row_type, tuple(keys), calls, window, outputs, stream.updating)
    kind = "table_session_aggregate" if window.kind == "SESSION" else "table_window_aggregate"
    return planner.operator(
        relation,
        kind,
        [stream],
        {"aggregate": params},
        keys=[keys],
        name=f"{'' if pulled else 'Attached'}WindowAggregate",
    )


def _moved_calls(calls: tuple[Aggregate, ...], pulled: _PulledUp) -> tuple[Aggregate, ...] | None:
    found = []
    for call in calls:
        arguments = [pulled.moved(one) for one in call.arguments]
        where = None if call.where is None else pulled.moved(call.where)
        if None in arguments or (where is None and call.where is not None):
            return None
        inner = tuple(one for one in arguments if one is not None)
        found.append(Aggregate(call.data_type, call.function, inner, call.distinct, where, call.order_by, call.options))
    return tuple(found)


def window_rank(
    relation: plan.Rank | plan.Deduplicate,
    partition: tuple[int, ...],
    order_by: tuple[SortKey, ...],
    ranks: tuple[int, int],
    numbered: bool,
    planner: Planner,
) -> TableStream:
    """Top-N of each window, when it is complete."""
    needs_event_time(relation.source, "Top-N")
    stream = planner.plan(relation.source)
    columns = window_columns(relation.source)
    end = next(place for place in partition if columns.get(place) == "end")
    zone = window_zone(relation.source, planner)
    latest = isinstance(relation, plan.Deduplicate) and relation.last
    params = WindowRankParams(stream.row_type, partition, end, order_by, *ranks, numbered, zone, latest)
    return planner.operator(
        relation, "table_window_rank", [stream], {"rank": params}, keys=[partition], name="WindowRank"
    )

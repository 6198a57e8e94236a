"""Makes checked relational nodes: the entry points that SQL and the Table API share."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.columns.typed.nodes import (
    Aggregate,
    InputRef,
    Invoke,
    OverCall,
    SortKey,
    TimeAttribute,
    Typed,
    time_of,
    walk,
)
from penstock.columns.typesystem import families
from penstock.columns.typesystem.base import DataType
from penstock.columns.typesystem.merging import common_type
from penstock.table.logical.nodes import (
    Aggregation,
    Field,
    Filter,
    JoinRelation,
    Limit,
    OverAggregation,
    Project,
    Relation,
    SetRelation,
    Sort,
    Values,
    unique_names,
)
from penstock.table.resolution.calls import implied
from penstock.table.sql.errors import SqlValidationError
from penstock.table.syntax.position import Position


def references(relation: Relation) -> list[Typed]:
    """All columns of a relation, as expressions over it."""
    return [InputRef(field.data_type, place, field.name, field.time) for place, field in enumerate(relation.fields)]


def project(source: Relation, expressions: Sequence[Typed], names: Sequence[str]) -> Relation:
    """Columns from expressions; functions over windows get a node of their own below."""
    over = list(dict.fromkeys(part for node in expressions for part in _over_calls(node)))
    if over:
        source, expressions = _with_windows(source, expressions, over)
    unique = unique_names(list(names))
    fields = tuple(Field(name, node.data_type, _time_of(node)) for name, node in zip(unique, expressions, strict=True))
    if tuple(expressions) == tuple(references(source)) and fields == source.fields:
        return source
    return Project(fields, source, tuple(expressions))


def is_proctime(node: Typed) -> bool:
    return isinstance(node, Invoke) and node.function == "proctime"


def _time_of(node: Typed) -> TimeAttribute | None:
    """PROCTIME() is a time attribute wherever it is selected."""
    return TimeAttribute.PROCTIME if is_proctime(node) else time_of(node)


def _over_calls(node: Typed) -> list[OverCall]:
    return [part for part in walk(node) if isinstance(part, OverCall)]


def _with_windows(
    source: Relation, expressions: Sequence[Typed], calls: list[OverCall]
) -> tuple[Relation, list[Typed]]:
    width = len(source.fields)
    names = unique_names([*source.names, *(f"w{place}$o0" for place in range(len(calls)))])[width:]
    fields = tuple(Field(name, call.data_type) for name, call in zip(names, calls, strict=True))
    windowed = OverAggregation((*source.fields, *fields), source, tuple(calls))
    places = {call: InputRef(call.data_type, width + place, names[place]) for place, call in enumerate(calls)}
    return windowed, [_replaced(node, places) for node in expressions]


def _replaced(node: Typed, places: dict[OverCall, InputRef]) -> Typed:
    if isinstance(node, OverCall):
        return places[node]
    return node.with_children(tuple(_replaced(child, places) for child in node.children()))


def filtered(source: Relation, condition: Typed, position: Position | None = None) -> Relation:
    return Filter(source.fields, source, condition, position=position)


def aggregated(
    source: Relation,
    keys: Sequence[int],
    calls: Sequence[Aggregate],
    sets: Sequence[Sequence[int]] = (),
    keep_time: bool = False,
) -> Aggregation:
    """Grouping by columns; a key that is missing in some grouping set may be null."""
    fields = []
    for place, key in enumerate(keys):
        field = source.fields[key]
        partial = any(place not in members for members in sets)
        data_type = field.data_type.nullable() if partial else field.data_type
        fields.append(Field(field.name, data_type, field.time if keep_time else None))
    # Without keys there is one row even of nothing, so that all but counts may be null.
    results = [result_type(call, bool(keys)) for call in calls]
    names = unique_names([*(f.name for f in fields), *(f"EXPR${place}" for place in range(len(calls)))])
    fields += [Field(name, kind) for name, kind in zip(names[len(keys) :], results, strict=True)]
    return Aggregation(tuple(fields), source, tuple(keys), tuple(calls), tuple(tuple(one) for one in sets))


def result_type(call: Aggregate, grouped: bool) -> DataType:
    """Which may be null where the function may see no row at all."""
    sees_nothing = call.function not in NEVER_NULL and (not grouped or call.where is not None)
    return call.data_type.nullable() if sees_nothing else call.data_type


NEVER_NULL = frozenset(
    {
        "count",
        "sum0",
        "collect",
        "JSON_OBJECTAGG",
        "JSON_ARRAYAGG",
        "approxCountDistinct",
        "grouping",
        "grouping_id",
        "group_id",
    }
)


def distinct(source: Relation) -> Relation:
    return aggregated(source, range(len(source.fields)), ())


def joined(
    left: Relation, right: Relation, kind: str, condition: Typed | None, position: Position | None = None
) -> JoinRelation:
    """The columns of both; of the side that may be missing they may be null."""
    ours = _maybe_null(left, kind in ("RIGHT", "FULL"))
    theirs = _maybe_null(right, kind in ("LEFT", "FULL"))
    fields = ours if kind in ("SEMI", "ANTI") else (*ours, *theirs)
    return JoinRelation(tuple(fields), left, right, kind, condition, position=position)


def _maybe_null(relation: Relation, missing: bool) -> list[Field]:
    if not missing:
        return list(relation.fields)
    return [Field(field.name, field.data_type.nullable(), field.time) for field in relation.fields]


def united(kind: str, keep_all: bool, left: Relation, right: Relation, position: Position | None = None) -> Relation:
    """UNION, INTERSECT, EXCEPT: both sides brought to common types."""
    if len(left.fields) != len(right.fields):
        raise SqlValidationError(
            f"{kind} needs as many columns on both sides, but there are {len(left.fields)} and {len(right.fields)}.",
            position,
        )
    fields = []
    for ours, theirs in zip(left.fields, right.fields, strict=True):
        target = common_type((ours.data_type, theirs.data_type))
        if target is None:
            raise SqlValidationError(
                f"{kind}: column {ours.name!r} is {ours.data_type.as_summary_string()} on one side and"
                f" {theirs.data_type.as_summary_string()} on the other. CAST one of them.",
                position,
            )
        time = ours.time if ours.time == theirs.time else None
        fields.append(Field(ours.name, target, time))
    sides = [_converted(side, fields) for side in (left, right)]
    relation: Relation = SetRelation(tuple(fields), kind, keep_all or kind == "UNION", *sides, position=position)
    return distinct(relation) if kind == "UNION" and not keep_all else relation


def _converted(side: Relation, fields: list[Field]) -> Relation:
    nodes = [implied(node, field.data_type) for node, field in zip(references(side), fields, strict=True)]
    return project(side, nodes, side.names)


def ordered(source: Relation, keys: Sequence[SortKey], position: Position | None = None) -> Relation:
    for key in keys:
        if not families.is_comparable(key.operand.data_type):
            raise SqlValidationError(
                f"ORDER BY cannot order {key.operand.data_type.as_summary_string()}: it has no order.", position
            )
    return Sort(source.fields, source, tuple(keys), position=position)


def limited(source: Relation, offset: int, count: int | None) -> Relation:
    return Limit(source.fields, source, offset, count)


def values(rows: Sequence[Sequence[Typed]], names: Sequence[str] = (), position: Position | None = None) -> Relation:
    """Rows of constants or expressions, column by column of a common type."""
    widths = {len(row) for row in rows}
    if len(widths) != 1:
        raise SqlValidationError(f"The rows of VALUES have different lengths: {sorted(widths)}.", position)
    width = widths.pop()
    types = []
    for place in range(width):
        target = common_type([row[place].data_type for row in rows])
        if target is None:
            shown = ", ".join(sorted({row[place].data_type.as_summary_string() for row in rows}))
            raise SqlValidationError(f"Column {place + 1} of VALUES has no common type: {shown}.", position)
        types.append(target)
    given = list(names) or [f"EXPR${place}" for place in range(width)]
    fields = tuple(Field(name, kind) for name, kind in zip(given, types, strict=True))
    typed = tuple(tuple(implied(node, kind) for node, kind in zip(row, types, strict=True)) for row in rows)
    return Values(fields, typed, position=position)


def renamed(source: Relation, names: Sequence[str], position: Position | None = None) -> Relation:
    if len(names) != len(source.fields):
        raise SqlValidationError(
            f"{len(names)} names are given for {len(source.fields)} columns ({', '.join(source.names)}).", position
        )
    return project(source, references(source), names)

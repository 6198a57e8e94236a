"""Joins with a table as it was at the time of each row: versions in state, or lookups in the table outside."""

from __future__ import annotations

from dataclasses import replace

from penstock.columns.typed.nodes import InputRef, OuterRef, TimeAttribute, Typed
from penstock.table.logical import builder
from penstock.table.logical import nodes as plan
from penstock.table.logical.conditions import all_of, call, conjuncts, has_subquery, moved, only_of
from penstock.table.logical.join_keys import equated, join_by_columns
from penstock.table.logical.upsert_keys import upsert_keys
from penstock.table.sql.errors import SqlValidationError


def temporal_join(node: plan.Relation) -> plan.Relation | None:
    """FOR SYSTEM_TIME AS OF, and temporal table functions."""
    if not isinstance(node, plan.Correlation):
        return None
    right = _without_names(node.right)
    if not isinstance(right, plan.Snapshot):
        return None
    period = right.period
    if not isinstance(period, OuterRef) or period.time is None:
        raise SqlValidationError(
            "A temporal join takes a time attribute of the left table: a column with a watermark, or PROCTIME().",
            node.position,
        )
    event_time = period.time is TimeAttribute.ROWTIME
    if not event_time and isinstance(right.source, plan.Scan) and _is_looked_up(right.source):
        return plan.LookupJoin(
            node.fields, node.left, right.source, node.kind, node.condition, right.lookup_hint, position=node.position
        )
    if right.lookup_hint is not None:
        raise SqlValidationError("LOOKUP is a hint for tables whose connector looks up keys, as jdbc does.")
    return plan.TemporalJoin(
        node.fields,
        node.left,
        right.source,
        node.kind,
        node.condition,
        period.index,
        event_time,
        right.key or _key_of(right.source, node),
        _version_time(right, node) if event_time else None,
        position=node.position,
    )


def _without_names(right: plan.Relation) -> plan.Relation:
    """Without the projection that only gives columns other names."""
    if isinstance(right, plan.Project) and [
        one.index if isinstance(one, InputRef) else None for one in right.expressions
    ] == list(range(len(right.source.fields))):
        return right.source
    return right


def _is_looked_up(scan: plan.Scan) -> bool:
    return bool(getattr(scan.definition.handle, "looks_up", False)) if scan.definition is not None else False


def _key_of(right: plan.Relation, node: plan.Relation) -> tuple[int, ...]:
    keys = upsert_keys(right)
    if not keys:
        raise SqlValidationError(
            "A temporal join needs a key of the versioned table: declare a PRIMARY KEY, or deduplicate its rows by"
            " ROW_NUMBER() in a view. (Tables of connectors that look up keys, as jdbc, need none as of PROCTIME().)",
            node.position,
        )
    return min((tuple(sorted(key)) for key in keys), key=lambda key: (len(key), key))


def _version_time(right: plan.Snapshot, node: plan.Relation) -> int:
    if right.time_column is not None:
        return right.time_column
    for place, field in enumerate(right.source.fields):
        if field.time is TimeAttribute.ROWTIME:
            return place
    raise SqlValidationError(
        "A temporal join as of a rowtime needs a rowtime of the versioned table too: declare a WATERMARK.",
        node.position,
    )


def push_filter_into_temporal_join(node: plan.Relation) -> plan.Relation | None:
    """FROM orders AS o, LATERAL TABLE(rates(o.ts)) AS r WHERE r.currency = o.currency: the equality is the key."""
    if not isinstance(node, plan.Filter) or not isinstance(node.source, (plan.TemporalJoin, plan.LookupJoin)):
        return None
    join = node.source
    if join.kind != "INNER" or has_subquery(node.condition):
        return None
    width = len(join.left.fields)
    parts = conjuncts(node.condition)
    below = all_of([one for one in parts if only_of(one, 0, width)])
    into = [one for one in parts if not only_of(one, 0, width)]
    left = join.left if below is None else builder.filtered(join.left, below, node.position)
    return replace(join, left=left, condition=all_of([*conjuncts(join.condition), *into]))


def temporal_join_by_columns(node: plan.Relation) -> plan.Relation | None:
    """A temporal join with columns for keys that are expressions."""
    if not isinstance(node, plan.TemporalJoin):
        return None
    plain = plan.JoinRelation(node.fields, node.left, node.right, node.kind, node.condition, position=node.position)
    found = join_by_columns(plain)
    if not isinstance(found, plan.Project) or not isinstance(found.source, plan.JoinRelation):
        return None
    wider = found.source
    join = replace(node, fields=wider.fields, left=wider.left, right=wider.right, condition=wider.condition)
    return replace(found, source=join)


def lookup_join_by_columns(node: plan.Relation) -> plan.Relation | None:
    """A lookup join in which expressions of the left that equal columns of the table are columns."""
    if not isinstance(node, plan.LookupJoin):
        return None
    width, columns = len(node.left.fields), builder.references(node.left)
    wider: list[Typed] = [*columns]
    conditions: list[tuple[Typed, InputRef] | Typed] = []
    for one in conjuncts(node.condition):
        pair = equated(one, width)
        if pair is None or isinstance(pair[0], InputRef) or not isinstance(pair[1], InputRef):
            conditions.append(one)
            continue
        if pair[0] not in wider:
            wider.append(pair[0])
        conditions.append((pair[0], pair[1]))
    if len(wider) == width:
        return None
    added = len(wider) - width
    left = builder.project(node.left, wider, [*node.left.names, *(f"$k{place}" for place in range(added))])
    places = {place: place if place < width else place + added for place in range(len(node.fields))}
    tested = []
    for part in conditions:
        if isinstance(part, tuple):
            key = builder.references(left)[wider.index(part[0])]
            tested.append(call("equals", key, replace(part[1], index=len(wider) + part[1].index)))
        else:
            tested.append(moved(part, places))
    fields = (*left.fields, *node.fields[width:])
    joined = replace(node, fields=fields, left=left, condition=all_of(tested))
    kept = [column for place, column in enumerate(builder.references(joined)) if not width <= place < width + added]
    return plan.Project(node.fields, joined, tuple(kept), position=node.position)

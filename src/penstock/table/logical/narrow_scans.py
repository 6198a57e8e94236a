"""Columns that nobody reads are not read: projections go into scans of connectors that find columns by name."""

from __future__ import annotations

from dataclasses import replace

from penstock.columns.typed.nodes import TimeAttribute, columns_of
from penstock.table.logical import builder
from penstock.table.logical.conditions import moved
from penstock.table.logical.nodes import Filter, Project, Relation, Scan


def narrow_scan(node: Relation) -> Relation | None:
    """A projection over a scan, with filters between them or none."""
    if not isinstance(node, Project):
        return None
    needed: set[int] = set().union(*(columns_of(one) for one in node.expressions)) if node.expressions else set()
    filters: list[Filter] = []
    below = node.source
    while isinstance(below, Filter):
        filters.append(below)
        needed |= columns_of(below.condition)
        below = below.source
    if not isinstance(below, Scan) or below.definition is None:
        return None
    keeps = getattr(below.definition.handle, "narrowed", None)
    if keeps is None:
        return None
    # Watermarks need the time, changes by key the key.
    needed |= {place for place, field in enumerate(below.fields) if field.time is TimeAttribute.ROWTIME}
    needed |= {below.names.index(name) for name in below.definition.primary_key}
    handle = keeps([below.names[place] for place in sorted(needed)], below.hints) if needed else None
    if handle is None or len(needed) == len(below.fields):
        return None
    places = {old: new for new, old in enumerate(sorted(needed))}
    fields = tuple(below.fields[place] for place in sorted(needed))
    found: Relation = replace(below, fields=fields, definition=replace(below.definition, fields=fields, handle=handle))
    for one in reversed(filters):
        found = builder.filtered(found, moved(one.condition, places), one.position)
    return replace(node, source=found, expressions=tuple(moved(one, places) for one in node.expressions))

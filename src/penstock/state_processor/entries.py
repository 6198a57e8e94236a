"""One entry of a state, between the form that people read and the form that tables have."""

from __future__ import annotations

from typing import Any

from penstock.runtime.state_schema import StateSchema


def content_of_entry(schema: StateSchema, entry: Any) -> Any:
    """The value, the list or the map of a key; values of a state with time to live have their moment beside them."""
    return entry[1] if schema.holds_lists() or schema.holds_maps() else entry


def without_moments(schema: StateSchema, content: Any) -> tuple[Any, Any]:
    """The content, and in the same shape when it expires (None for a state without time to live)."""
    if schema.ttl is None:
        return content, None
    if schema.holds_lists():
        return [value for value, _ in content], [moment + schema.ttl for _, moment in content]
    if schema.holds_maps():
        values = {key: value for key, (value, _) in content.items()}
        return values, {key: moment + schema.ttl for key, (_, moment) in content.items()}
    return content[0], content[1] + schema.ttl


def entry_of_content(schema: StateSchema, content: Any, now: int) -> Any:
    """As a table writes it; with a time to live, life is counted from `now`."""
    if schema.holds_lists():
        return True, [_stamped(schema, value, now) for value in content]
    if schema.holds_maps():
        return True, {key: _stamped(schema, value, now) for key, value in content.items()}
    return _stamped(schema, content, now)


def youngest(schema: StateSchema, content: Any) -> int | None:
    """The last moment from which the life of something in it is counted; None without time to live."""
    if schema.ttl is None:
        return None
    if schema.holds_lists():
        return max((moment for _, moment in content), default=None)
    if schema.holds_maps():
        return max((moment for _, moment in content.values()), default=None)
    moment: int = content[1]
    return moment


def _stamped(schema: StateSchema, value: Any, now: int) -> Any:
    return value if schema.ttl is None else (value, now)

"""One entry of a state, between the form that people read and the form that tables have."""

from __future__ import annotations

from typing import Any

from penstock.runtime.state_schema import StateSchema


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

"""Tables of state as rows that people read: the key, the window or place, and the value, list or map that is there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from penstock.runtime.key_layout import KeyLayout
from penstock.runtime.state_schema import StateSchema
from penstock.runtime.windows.tokens import window_of


class StateRow(NamedTuple):
    """One entry: the value, the list or the map that a key has.

    The namespace is the window of window state, the subtask of state without keys, and else None. `expires` has the
    shape of the value and says, in milliseconds since 1970, until when its parts live; None without time to live.
    """

    key: Any
    namespace: Any
    value: Any
    expires: Any = None


def rows_of_table(layout: KeyLayout, windows: bool, schema: StateSchema, entries: dict[Any, Any]) -> Iterator[StateRow]:
    """Of a piece of a table, in the form that savepoints have; `windows` says that namespaces are windows."""
    for key, entry in entries.items():
        content = content_of_entry(schema, entry)
        match layout:
            case KeyLayout.KEY:
                yield StateRow(key, None, *without_moments(schema, content))
            case KeyLayout.KEY_FIRST:
                namespace = window_of(key[1]) if windows else key[1]
                yield StateRow(key[0], namespace, *without_moments(schema, content))
            case KeyLayout.INSIDE:
                for inner_key, inner_content in content.items():
                    yield StateRow(inner_key, key, inner_content)
            case KeyLayout.SHARED:
                yield StateRow(None, key, content)


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

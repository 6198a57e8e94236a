"""Windows in savepoints from before ADR 14, in which each quick path had a kind and tables of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from penstock.runtime.state_schema import StateSchema

VERSION_2_CONTENTS = "_window_contents"
_KINDS = ("element_window", "tumbling_window", "sliding_window", "session_window")
_BY_START, _SESSIONS, _MERGE_LAW = ("_windows", "_panes"), "_sessions", "_merge_law"


def logical_kind(kind: str) -> str:
    return "window" if kind in _KINDS else kind


def logical_table(name: str) -> str | None:
    """Under which name contents are read; None for a table that nobody needs any more."""
    if name == _MERGE_LAW:
        return None
    return VERSION_2_CONTENTS if name == _SESSIONS or name in _BY_START else name


def logical_entries(
    table: str, sizes: Mapping[str, int], schema: StateSchema, entries: dict[Any, Any]
) -> tuple[StateSchema, dict[Any, Any]]:
    """Entries of a table of a quick path by (key, window)."""
    if table in _BY_START:
        size = sizes[table]
        return replace(schema, kind="value"), {
            (key, (start, start + size)): accumulator
            for start, (_, accumulators) in entries.items()
            for key, accumulator in accumulators.items()
        }
    if table == _SESSIONS:
        return schema, {
            (key, (start, end)): accumulator
            for key, held in entries.items()
            for start, end, accumulator in ([held] if type(held) is tuple else held)
        }
    return schema, entries

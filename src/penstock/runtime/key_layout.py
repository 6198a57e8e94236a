"""Where the key is in an operator's tables, so that state finds its new subtask when a job is rescaled."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any

Owns = Callable[[Any], bool]


class KeyLayout(Enum):
    """How a table is organised by key."""

    KEY = "the table's key is the key"
    KEY_FIRST = "the table's key is (key, namespace)"
    INSIDE = "each entry is a map whose keys are the keys"
    SHARED = "the table belongs to the subtask, not to keys"


def owned_entries(delta: dict[Any, Any], layout: KeyLayout, owns: Owns) -> dict[Any, Any]:
    """The part of a full delta that a new subtask takes over."""
    match layout:
        case KeyLayout.KEY:
            return {key: value for key, value in delta.items() if owns(key)}
        case KeyLayout.KEY_FIRST:
            return {key: value for key, value in delta.items() if owns(key[0])}
        case KeyLayout.INSIDE:
            kept = {
                entry: (replaces, {key: value for key, value in values.items() if owns(key)})
                for entry, (replaces, values) in delta.items()
            }
            # Several old subtasks add to one entry, so none of them may replace it.
            return {entry: (False, values) for entry, (_, values) in kept.items() if values}
        case KeyLayout.SHARED:
            return delta


def owned_timers(delta: dict[Any, bool], owns: Owns) -> dict[Any, bool]:
    return {timer: present for timer, present in delta.items() if owns(timer[1][0])}

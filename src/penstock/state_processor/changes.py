"""What is to become of the pieces of a savepoint when it is written anew."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from penstock.functions.state_descriptors import StateDescriptor
from penstock.runtime.operator_memory import OperatorSnapshot
from penstock.runtime.state_rows import content_of_entry, without_moments
from penstock.runtime.state_schema import StateSchema
from penstock.runtime.timers import TimerChanges
from penstock.state_processor.bootstrap import SparkEntries
from penstock.state_processor.entries import entry_of_content, youngest

Transform = Callable[[Any, Any], Any]
Added = SparkEntries | tuple[StateDescriptor, dict[Any, Any]]
_Table = tuple[str, StateSchema, dict[Any, Any]]
_ChangeTable = Callable[[StateSchema, dict[Any, Any]], Iterable[_Table]]


class OperatorChanges:
    """What is to become of the pieces of one operator."""

    def __init__(self) -> None:
        self.tables: dict[str, _ChangeTable] = {}
        self.added: dict[str, Added] = {}
        self.timers: dict[str, dict[Any, bool]] = {}
        self.without_key: dict[str, tuple[StateSchema, list[dict[Any, Any]]] | None] = {}

    def table(self, name: str, schema: StateSchema, entries: dict[Any, Any]) -> Iterable[_Table]:
        change = self.tables.get(name)
        return [(name, schema, entries)] if change is None else change(schema, entries)

    def snapshot(self, snapshot: OperatorSnapshot, subtask: int) -> OperatorSnapshot:
        """What becomes of what a subtask has saved besides its tables."""
        for domain, timers in self.timers.items():
            # Timers find their subtask by key when a job starts.
            snapshot.timers = snapshot.timers or TimerChanges()
            setattr(snapshot.timers, domain, timers if subtask == 0 else {})
        states = snapshot.operator_state = dict(snapshot.operator_state or {})
        for name, change in self.without_key.items():
            if change is None:
                states.pop(name, None)
            else:
                schema, shares = change
                states[name] = (schema, shares[subtask])
        return snapshot


def dropped(schema: StateSchema, entries: dict[Any, Any]) -> Iterable[_Table]:
    return ()


class Transformed:
    """Each entry of a table through a function of the user."""

    def __init__(self, name: str, schema: StateSchema, function: Transform, coerce: Any, now: int) -> None:
        self._name = name
        self._schema = schema
        self._function = function
        self._coerce = coerce or (lambda content: content)
        self._now = now

    def __call__(self, schema: StateSchema, entries: dict[Any, Any]) -> Iterable[_Table]:
        transformed = {}
        for key, entry in entries.items():
            stored = content_of_entry(schema, entry)
            content = self._function(key, without_moments(schema, stored)[0])
            if content is not None:
                since = youngest(schema, stored)
                now = self._now if since is None else since
                transformed[key] = entry_of_content(self._schema, self._coerce(content), now)
        return [(self._name, self._schema, transformed)]

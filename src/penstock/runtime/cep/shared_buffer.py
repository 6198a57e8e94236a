"""The events of partial matches, each kept once however many partial matches share it.

Every key has its own entries: events, and *nodes*. A node says which event a partial match took last, for which stage,
and which node it came from; a partial match is known by its last node. Branches share the nodes before they part.
Both count who refers to them and go when nobody does.
"""

from __future__ import annotations

from typing import Any

from penstock.runtime.state.table import MapTable

# Entries are plain tuples, as they are part of snapshots and savepoints:
#   an event  (value, timestamp, references)
#   a node    (stage, number of the event, number of the node before or 0, references)
Steps = list[tuple[int, int, Any]]  # of a match: stage, number of the event, the event


class SharedBuffer:
    """The entries of all keys; numbers are unique within a key, and grow."""

    __slots__ = ("_table",)

    def __init__(self, table: MapTable) -> None:
        self._table = table

    def add_event(self, key: Any, number: int, value: Any, timestamp: int, references: int) -> None:
        """So many nodes are about to refer to the event, which may be there already."""
        known = (self._table.get(key) or {}).get(number)
        self._table.put(key, number, (value, timestamp, references + (0 if known is None else known[2])))

    def add_node(self, key: Any, number: int, stage: int, event: int, before: int, references: int) -> None:
        """The node before it is retained by the caller, who knows about all branches."""
        self._table.put(key, number, (stage, event, before, references))

    def retain(self, key: Any, number: int, times: int) -> None:
        """So many more partial matches and nodes refer to a node; a negative number is a release."""
        if times == 0 or number == 0:
            return
        entries = self._table.get(key)
        assert entries is not None
        stage, event, before, references = entries[number]
        if references + times > 0:
            self._table.put(key, number, (stage, event, before, references + times))
        else:
            self._remove(key, entries, number)

    def release(self, key: Any, number: int) -> None:
        """One partial match less refers to a node."""
        self.retain(key, number, -1)

    def _remove(self, key: Any, entries: dict[int, Any], number: int) -> None:
        # A loop, as a match may be longer than Python's stack is deep.
        table = self._table
        while True:
            _, event, before, _ = entries[number]
            table.remove_entry(key, number)
            value, timestamp, references = entries[event]
            if references > 1:
                table.put(key, event, (value, timestamp, references - 1))
            else:
                table.remove_entry(key, event)
            if before == 0:
                return
            stage, event, earlier, references = entries[before]
            if references > 1:
                table.put(key, before, (stage, event, earlier, references - 1))
                return
            number = before

    def steps(self, key: Any, number: int) -> Steps:
        """The events of a partial match, oldest first."""
        found: Steps = []
        entries = self._table.get(key)
        while number:
            assert entries is not None
            stage, event, number, _ = entries[number]
            found.append((stage, event, entries[event][0]))
        found.reverse()
        return found

    def size(self, key: Any) -> int:
        """How many events and nodes a key has."""
        return len(self._table.get(key) or ())

    def forget(self, key: Any) -> None:
        """Everything of a key."""
        self._table.remove(key)

"""The storage behind a named state of an operator: everything by key, and the changes of the running epoch.

Three shapes: one value per key, a list per key, a map per key. Each can hand out what changed since the last
snapshot and apply such a delta to an older copy of itself; a snapshot costs what changed, not what exists.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Final, Protocol


class _Deleted:
    """Marks something that was removed; a singleton also after pickling."""

    def __reduce__(self) -> str:
        return "DELETED"


DELETED: Final = _Deleted()
ABSENT: Final = object()
ENTRIES_PER_PIECE: Final = 10_000  # so many are held twice when a table is written or converted


class Table(Protocol):
    """What a backend needs of every shape."""

    def remove(self, key: Any) -> None: ...

    def keys(self) -> Iterator[Any]: ...

    def take_delta(self) -> Any: ...

    def full_delta(self) -> Any:
        """The delta that makes an empty table equal to this one, asked for right after take_delta()."""

    def pieces(self, entries: int) -> Iterator[dict[Any, Any]]:
        """The same in deltas of so many entries, which may be applied in any order."""

    def apply_delta(self, delta: Any) -> None: ...


class ValueTable:
    """One value per key. Reading looks into the epoch's changes first, writing touches only them."""

    __slots__ = ("base", "changes")

    def __init__(self) -> None:
        self.base: dict[Any, Any] = {}
        self.changes: dict[Any, Any] = {}

    def get(self, key: Any) -> Any:
        """The value, or None."""
        value = self.changes.get(key, ABSENT)
        if value is ABSENT:
            return self.base.get(key)
        return None if value is DELETED else value

    def put(self, key: Any, value: Any) -> None:
        self.changes[key] = value

    def remove(self, key: Any) -> None:
        if key in self.base:
            self.changes[key] = DELETED
        else:
            self.changes.pop(key, None)

    def keys(self) -> Iterator[Any]:
        changes, base = self.changes, self.base
        old = [key for key in base if changes.get(key) is not DELETED]
        new = [key for key, value in changes.items() if value is not DELETED and key not in base]
        yield from old
        yield from new

    def take_delta(self) -> dict[Any, Any] | None:
        if not self.changes:
            return None
        delta, self.changes = self.changes, {}
        self.apply_delta(delta)
        return delta

    def full_delta(self) -> dict[Any, Any]:
        return self.base

    def pieces(self, entries: int) -> Iterator[dict[Any, Any]]:
        return sliced(self.base.items(), entries)

    def apply_delta(self, delta: dict[Any, Any]) -> None:
        self.base.update(delta)
        for key in [key for key, value in delta.items() if value is DELETED]:
            del self.base[key]


class ListTable:
    """A list per key, changed in place; a delta carries the appended items, or the whole list after a replacement."""

    __slots__ = ("base", "changes")

    def __init__(self) -> None:
        self.base: dict[Any, list[Any]] = {}
        self.changes: dict[Any, tuple[bool, list[Any]]] = {}  # key -> (replaces, items)

    def get(self, key: Any) -> list[Any] | None:
        return self.base.get(key)

    def extend(self, key: Any, items: Iterable[Any]) -> None:
        added = list(items)
        if not added:
            return
        self.base.setdefault(key, []).extend(added)
        change = self.changes.get(key)
        if change is None:
            self.changes[key] = (False, added)
        else:
            change[1].extend(added)

    def replace(self, key: Any, items: Iterable[Any]) -> None:
        values = list(items)
        if not values:
            self.remove(key)
            return
        self.base[key] = values
        self.changes[key] = (True, values.copy())

    def remove(self, key: Any) -> None:
        if self.base.pop(key, None) is not None:
            self.changes[key] = (True, [])

    def keys(self) -> Iterator[Any]:
        yield from list(self.base)

    def take_delta(self) -> dict[Any, tuple[bool, list[Any]]] | None:
        delta, self.changes = self.changes, {}
        return delta or None

    def full_delta(self) -> dict[Any, tuple[bool, list[Any]]]:
        return {key: (True, items) for key, items in self.base.items()}

    def pieces(self, entries: int) -> Iterator[dict[Any, Any]]:
        return sliced(((key, (True, items)) for key, items in self.base.items()), entries)

    def apply_delta(self, delta: dict[Any, tuple[bool, list[Any]]]) -> None:
        for key, (replaces, items) in delta.items():
            if not replaces:
                self.base.setdefault(key, []).extend(items)
            elif items:
                self.base[key] = list(items)
            else:
                self.base.pop(key, None)


class MapTable:
    """A map per key, changed in place; a delta carries only the entries that changed."""

    __slots__ = ("base", "changes")

    def __init__(self) -> None:
        self.base: dict[Any, dict[Any, Any]] = {}
        self.changes: dict[Any, tuple[bool, dict[Any, Any]]] = {}  # key -> (replaces, entries)

    def get(self, key: Any) -> dict[Any, Any] | None:
        return self.base.get(key)

    def writable(self, key: Any) -> tuple[dict[Any, Any], dict[Any, Any]]:
        """The entries of a key, and where a change of them must be noted, for a loop over many of them."""
        entries = self.base.get(key)
        if entries is None:
            entries = self.base[key] = {}
        return entries, self._changed(key)

    def put(self, key: Any, user_key: Any, value: Any) -> None:
        entries = self.base.get(key)
        if entries is None:
            entries = self.base[key] = {}
        entries[user_key] = value
        self._changed(key)[user_key] = value

    def remove_entry(self, key: Any, user_key: Any) -> None:
        entries = self.base.get(key)
        if entries is None or user_key not in entries:
            return
        del entries[user_key]
        if entries:
            self._changed(key)[user_key] = DELETED
        else:
            self.remove(key)

    def remove(self, key: Any) -> None:
        if self.base.pop(key, None) is not None:
            self.changes[key] = (True, {})

    def keys(self) -> Iterator[Any]:
        yield from list(self.base)

    def _changed(self, key: Any) -> dict[Any, Any]:
        change = self.changes.get(key)
        if change is None:
            change = self.changes[key] = (False, {})
        return change[1]

    def take_delta(self) -> dict[Any, tuple[bool, dict[Any, Any]]] | None:
        delta, self.changes = self.changes, {}
        return delta or None

    def full_delta(self) -> dict[Any, tuple[bool, dict[Any, Any]]]:
        return {key: (True, entries) for key, entries in self.base.items()}

    def pieces(self, entries: int) -> Iterator[dict[Any, Any]]:
        return sliced(((key, (True, items)) for key, items in self.base.items()), entries)

    def apply_delta(self, delta: dict[Any, tuple[bool, dict[Any, Any]]]) -> None:
        for key, (replaces, changed) in delta.items():
            entries = {} if replaces else self.base.get(key, {})
            for user_key, value in changed.items():
                if value is DELETED:
                    entries.pop(user_key, None)
                else:
                    entries[user_key] = value
            if entries:
                self.base[key] = entries
            else:
                self.base.pop(key, None)


def sliced(items: Iterable[tuple[Any, Any]], size: int) -> Iterator[dict[Any, Any]]:
    """Dictionaries of so many items each."""
    remaining = iter(items)
    while piece := dict(islice(remaining, size)):
        yield piece

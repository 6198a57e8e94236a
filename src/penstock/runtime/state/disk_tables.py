"""The tables of the on-disk backend: the same shapes, whose base is in a DiskStore.

Lists and maps are changed in place, in memory, and written when the epoch ends; a key's list or map is one entry.
Tables that hold keys inside of few entries (windows) keep each of those keys as an entry of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from penstock.runtime.key_layout import KeyLayout
from penstock.runtime.state.disk import DiskMap, DiskPlace, DiskStore, Groups, table_bytes
from penstock.runtime.state.table import DELETED, ListTable, MapTable, Table, ValueTable, sliced


class DiskValueTable(ValueTable):
    """One value per key on disk, the epoch's changes in memory."""

    base: DiskMap  # type: ignore[assignment]

    def __init__(self, base: DiskMap) -> None:
        super().__init__()
        self.base = base

    def keys(self) -> Iterator[Any]:
        changes = self.changes
        new = [key for key, value in changes.items() if value is not DELETED and key not in self.base]
        for key in self.base:
            if changes.get(key) is not DELETED:
                yield key
        yield from new

    def apply_delta(self, delta: dict[Any, Any]) -> None:
        base = self.base
        keys = base.news_of(delta)
        for key in keys:
            base[key] = delta[key]
        base.settle()


class _ChangedInPlace:
    """In front of a table whose entries are changed in memory: they go to the disk when the epoch ends."""

    base: Any
    changes: dict[Any, Any]

    def __init__(self, base: DiskMap) -> None:
        super().__init__()
        self.base = base

    def keys(self) -> Iterator[Any]:
        self.base.settle(self.changes)
        return iter(self.base)

    def take_delta(self) -> dict[Any, Any] | None:
        self.base.settle(self.changes)
        return super().take_delta()  # type: ignore[misc,no-any-return]

    def apply_delta(self, delta: dict[Any, Any]) -> None:
        keys = self.base.news_of(delta)
        super().apply_delta({key: delta[key] for key in keys})  # type: ignore[misc]
        self.base.settle(keys)


class DiskListTable(_ChangedInPlace, ListTable):
    """A list per key on disk."""


class DiskMapTable(_ChangedInPlace, MapTable):
    """A map per key on disk."""


class DiskGroupsTable(MapTable):
    """Few maps of many entries: keys by window."""

    base: Groups  # type: ignore[assignment]

    def __init__(self, base: Groups) -> None:
        super().__init__()
        self.base = base

    def discover(self) -> None:
        """After pages were loaded: which maps are there?"""
        self.base.discover()

    def writable(self, key: Any) -> tuple[Any, dict[Any, Any]]:
        return self.base.open(key), self._changed(key)

    def put(self, key: Any, user_key: Any, value: Any) -> None:
        entries, changed = self.writable(key)
        entries[user_key] = changed[user_key] = value

    def remove_entry(self, key: Any, user_key: Any) -> None:
        entries = self.base.get(key)
        if entries is not None and user_key in entries:
            del entries[user_key]
            self._changed(key)[user_key] = DELETED

    def take_delta(self) -> dict[Any, tuple[bool, dict[Any, Any]]] | None:
        for group in self.changes:
            if group in self.base:
                self.base[group].settle()
        return super().take_delta()

    def apply_delta(self, delta: dict[Any, tuple[bool, dict[Any, Any]]]) -> None:
        for group, (replaces, changed) in delta.items():
            if replaces:
                self.base.pop(group)
            if changed:
                entries = self.base.open(group)
                keys = entries.news_of(changed)
                for key in keys:
                    entries[key] = changed[key]
                entries.settle()

    def pieces(self, entries: int) -> Iterator[dict[Any, Any]]:
        for group, held in self.base.items():
            for piece in sliced(held.items(), entries):
                yield {group: (False, piece)}


DiskTable = DiskValueTable | DiskListTable | DiskMapTable | DiskGroupsTable
_ON_DISK: dict[type[Any], type[Any]] = {
    ValueTable: DiskValueTable,
    ListTable: DiskListTable,
    MapTable: DiskMapTable,
}


class DiskTables:
    """Makes the tables of one operator in the store of its container."""

    def __init__(self, store: DiskStore, uid: str) -> None:
        self.store = store
        self._uid = uid

    def make(self, shape: type[Table], name: str, layout: KeyLayout) -> DiskTable:
        if layout is KeyLayout.INSIDE:
            return DiskGroupsTable(Groups(self.store, self._bytes(name)))
        return _ON_DISK[shape](DiskMap(self.store, self._bytes(name)))  # type: ignore[no-any-return]

    def place(self, name: str) -> DiskPlace:
        """For a table that brings its own way of keeping entries."""
        return DiskPlace(self.store, self._bytes(name))

    def _bytes(self, name: str) -> bytes:
        return table_bytes(f"{self._uid}\0{name}")

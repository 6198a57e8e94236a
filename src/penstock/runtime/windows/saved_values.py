"""Tables of one value per key that have another form in savepoints than in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from penstock.runtime.key_layout import KeyLayout
from penstock.runtime.state.disk_tables import DiskTables, DiskValueTable
from penstock.runtime.state.table import ValueTable

Convert = Callable[[dict[Any, Any]], dict[Any, Any]]


class _Converted:
    convert: Convert

    def pieces(self, entries: int) -> Iterator[dict[Any, Any]]:
        return map(self.convert, super().pieces(entries))  # type: ignore[misc]


class _InMemory(_Converted, ValueTable):
    pass


class _OnDisk(_Converted, DiskValueTable):
    pass


def saved_as(name: str, convert: Convert) -> Callable[[DiskTables | None], ValueTable]:
    """Makes the table; `convert` brings pieces of it into the form of savepoints."""

    def make(disk: DiskTables | None) -> ValueTable:
        plain: Any = None if disk is None else disk.make(ValueTable, name, KeyLayout.KEY)
        table: _InMemory | _OnDisk = _InMemory() if plain is None else _OnDisk(plain.base)
        table.convert = convert
        return table

    return make

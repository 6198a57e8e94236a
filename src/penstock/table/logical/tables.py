"""What a plan asks about tables: the seam to catalogs, which know where tables come from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from penstock.table.logical.nodes import Fields, Relation
from penstock.table.syntax.queries import Query


@dataclass(frozen=True)
class TableDefinition:
    """A table: its columns in order, keys, and the options of its connector.

    Changelog kinds are a subset of "IUD": what its source produces.
    """

    fields: Fields
    primary_key: tuple[str, ...] = ()
    partition_keys: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict, hash=False)  # plans are hashed, dictionaries cannot be
    changelog: str = "I"
    handle: Any = field(default=None, hash=False)
    upserts: bool = False  # reading gives updates without the row as it was before, found by the primary key
    sink_accepts: str = "IUD"  # kinds that writing takes
    sink_before: bool = True  # writing needs the row as it was before; otherwise it finds rows by the primary key
    written: Fields | None = None  # the columns that INSERT fills, when these are not all

    @property
    def sink_fields(self) -> Fields:
        return self.fields if self.written is None else self.written


@dataclass(frozen=True)
class ViewDefinition:
    """A view: a query in the catalog, with names for its columns if it has any; or the plan of a Table.

    The names of the query are those that were known where the view was made: `tables`, if it is given.
    """

    query: Query | None
    columns: tuple[str, ...] = ()
    tables: TableLookup | None = None
    relation: Relation | None = None


class TableLookup(Protocol):
    """Where names of tables lead."""

    def find(self, path: tuple[str, ...]) -> TableDefinition | ViewDefinition | None:
        """The table of a path of one to three names; None if there is none."""
        ...

    def known_names(self) -> list[str]:
        """For messages that offer the nearest name."""
        ...


class MemoryTables:
    """Tables by their last name: for tests, and for programs without a catalog."""

    def __init__(self, tables: Mapping[str, TableDefinition | ViewDefinition]) -> None:
        self._tables = dict(tables)

    def find(self, path: tuple[str, ...]) -> TableDefinition | ViewDefinition | None:
        return self._tables.get(path[-1])

    def known_names(self) -> list[str]:
        return sorted(self._tables)

"""All catalogs of a session: which names lead where, temporary objects before those of the catalogs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from penstock.columns.functions.registry import builtin
from penstock.common.errors import ProgramError
from penstock.table.catalog.base import Catalog
from penstock.table.catalog.errors import CatalogError
from penstock.table.catalog.object_names import ObjectPath
from penstock.table.catalog.objects import CatalogBaseTable, CatalogFunction, CatalogModel
from penstock.table.connectors.base import ConnectorTable
from penstock.table.connectors.registry import CONNECTORS, connector_of
from penstock.table.logical.nodes import Fields
from penstock.table.logical.resolved_table import resolve_table
from penstock.table.logical.tables import TableDefinition, TableLookup, ViewDefinition
from penstock.table.physical.connector_tables import ConnectorHandle
from penstock.table.sql.dialect import parse_query
from penstock.table.sql.errors import suggestion

FullName = tuple[str, str, str]


class CatalogManager:
    """Knows all tables by their full names; a shorter name is completed with the current catalog and database."""

    def __init__(self, catalog_name: str, database_name: str) -> None:
        self.catalogs: dict[str, Catalog] = {catalog_name: Catalog(default_database=database_name)}
        self.catalog_options: dict[str, tuple[dict[str, str], str | None]] = {}
        self.current_catalog = catalog_name
        self.current_database = database_name
        self.temporary: dict[FullName, CatalogBaseTable] = {}
        self.functions: dict[str, CatalogFunction] = {}  # temporary system functions, by lower name
        self.temporary_functions: dict[FullName, CatalogFunction] = {}
        self.temporary_models: dict[FullName, CatalogModel] = {}
        self._noted: set[FullName] | None = None

    # -- names -------------------------------------------------------------------------------------------------

    def full_name(self, path: tuple[str, ...]) -> FullName:
        if not 1 <= len(path) <= 3:
            raise ProgramError(f"{'.'.join(path)!r} is no name: write catalog.database.object, or the end of it.")
        return (self.current_catalog, self.current_database)[: 3 - len(path)] + tuple(path)  # type: ignore[return-value]

    def catalog(self, name: str) -> Catalog:
        if name not in self.catalogs:
            raise CatalogError(f"There is no catalog {name!r}.{suggestion(name, self.catalogs)}")
        return self.catalogs[name]

    def use_catalog(self, name: str) -> None:
        self.current_database = self.catalog(name).get_default_database()
        self.current_catalog = name

    def use_database(self, path: tuple[str, ...]) -> None:
        catalog_name, database = (self.current_catalog, *path)[-2:]
        catalog = self.catalog(catalog_name)
        if not catalog.database_exists(database):
            hint = suggestion(database, catalog.list_databases())
            raise CatalogError(f"There is no database {database!r} in the catalog {catalog_name!r}.{hint}")
        self.current_catalog, self.current_database = catalog_name, database

    # -- functions ---------------------------------------------------------------------------------------------

    def find_function(self, path: tuple[str, ...]) -> Any:
        """The Python function of a name: of the session, or of a catalog if no built-in function is called so."""
        if len(path) == 1:
            if path[0].lower() in self.functions:
                return self.functions[path[0].lower()]._python()
            if builtin(path[0]) is not None:
                return None
        if len(path) > 3:
            return None
        name = self.full_name(path)
        if name in self.temporary_functions:
            return self.temporary_functions[name]._python()
        catalog, place = self.catalogs.get(name[0]), ObjectPath(name[1], name[2])
        if catalog is None or not catalog.function_exists(place):
            return None
        return catalog.get_function(place)._python()

    # -- tables ------------------------------------------------------------------------------------------------

    def table(self, name: FullName) -> CatalogBaseTable | None:
        if name in self.temporary:
            return self.temporary[name]
        catalog = self.catalogs.get(name[0])
        path = ObjectPath(name[1], name[2])
        return catalog.get_table(path) if catalog is not None and catalog.table_exists(path) else None

    def required(self, name: FullName, what: str = "table or view") -> CatalogBaseTable:
        found = self.table(name)
        if found is None:
            hint = suggestion(name[2], self.known_names())
            raise ProgramError(f"There is no {what} {'.'.join(name)}.{hint}")
        return found

    def create(self, name: FullName, table: CatalogBaseTable, temporary: bool, ignore: bool) -> None:
        if temporary:
            if name not in self.temporary:
                self.temporary[name] = table
            elif not ignore:
                raise ProgramError(f"There is a temporary table or view {'.'.join(name)} already.")
        else:
            self.catalog(name[0]).create_table(ObjectPath(name[1], name[2]), table, ignore)

    def replace(self, name: FullName, table: CatalogBaseTable) -> None:
        if name in self.temporary:
            self.temporary[name] = table
        else:
            self.catalog(name[0]).alter_table(ObjectPath(name[1], name[2]), table, False)

    def drop(self, name: FullName, view: bool, temporary: bool, ignore: bool) -> bool:
        """Whether there was one."""
        what = "view" if view else "table"
        found = self.temporary.get(name) if temporary else self.table(name)
        if found is None or (found._view is not None) != view:
            if ignore:
                return False
            kind = f"temporary {what}" if temporary else what
            raise ProgramError(f"There is no {kind} {'.'.join(name)}.{suggestion(name[2], self.known_names())}")
        if temporary:
            del self.temporary[name]
            return True
        if name in self.temporary:
            raise ProgramError(f"A temporary {what} {'.'.join(name)} is in the way: drop it first (DROP TEMPORARY).")
        self.catalog(name[0]).drop_table(ObjectPath(name[1], name[2]), False)
        return True

    def list_tables(self, catalog_name: str, database: str, views: bool | None = None) -> list[str]:
        """Tables and views, temporary ones among them; only views, or only tables."""
        catalog = self.catalog(catalog_name)
        found = {name for name in catalog.list_tables(database) if self._is(catalog, database, name, views)}
        for (own, inside, name), table in self.temporary.items():
            if (own, inside) == (catalog_name, database) and views in (None, table._view is not None):
                found.add(name)
        return sorted(found)

    def _is(self, catalog: Catalog, database: str, name: str, views: bool | None) -> bool:
        return views is None or (catalog.get_table(ObjectPath(database, name))._view is not None) == views

    # -- what plans ask ----------------------------------------------------------------------------------------

    def find(self, path: tuple[str, ...]) -> TableDefinition | ViewDefinition | None:
        name = self.full_name(path)
        table = self.table(name)
        if table is None:
            return None
        if self._noted is not None:
            self._noted.add(name)
        return self.definition(name, table)

    @contextmanager
    def noting(self) -> Iterator[set[FullName]]:
        """The tables and views that are found inside, also those that views name."""
        self._noted = noted = set[FullName]()
        try:
            yield noted
        finally:
            self._noted = None

    def known_names(self) -> list[str]:
        return self.list_tables(self.current_catalog, self.current_database)

    def definition(self, name: FullName, table: CatalogBaseTable) -> TableDefinition | ViewDefinition:
        view = table._view
        if view is not None:
            query = view.query if view.query is not None or view.relation is not None else parse_query(view.text)
            place = view.place or (name[0], name[1])
            return ViewDefinition(query, view.columns, _Pinned(self, place), view.relation)
        body = table._body
        resolved = resolve_table(body)
        options = dict(body.options)
        handle = table._handle or ConnectorHandle(name, resolved, options, body.partitioned_by)
        found = TableDefinition(
            resolved.fields, resolved.primary_key, body.partitioned_by, options, handle=handle, written=resolved.written
        )
        if table._handle is not None:
            return replace(found, changelog=str(getattr(handle, "changelog", "I")))
        return _with_changes(found, name, resolved.stored)


def _with_changes(found: TableDefinition, name: FullName, fields: Fields) -> TableDefinition:
    """With what reading gives and writing needs; a table that cannot be read says so when it is planned."""
    if found.options.get("connector") not in CONNECTORS:
        return found
    connector = connector_of(name, found.options)
    table = ConnectorTable(name, fields, found.options, found.primary_key)
    return replace(
        found,
        changelog=connector.changelog(table),
        upserts=connector.upserts(table),
        sink_accepts=connector.accepts(table),
        sink_before=not connector.by_key(table),
    )


class _Pinned:
    """The catalogs as they are seen from one database: names in a view mean what they meant when it was made."""

    def __init__(self, manager: CatalogManager, place: tuple[str, str]) -> None:
        self._manager = manager
        self._place = place

    def find(self, path: tuple[str, ...]) -> TableDefinition | ViewDefinition | None:
        return self._manager.find(self._place[: 3 - len(path)] + path if len(path) < 3 else path)

    def known_names(self) -> list[str]:
        return self._manager.list_tables(*self._place)

    def find_function(self, path: tuple[str, ...]) -> Any:
        return self._manager.find_function(path)


_: type[TableLookup] = _Pinned

"""A catalog that outlives the program: a directory with one SQL file for each database, table and view."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import quote, unquote

from penstock.common.errors import ProgramError
from penstock.table.catalog.base import Catalog
from penstock.table.catalog.ddl_text import create_statement
from penstock.table.catalog.object_names import ObjectPath
from penstock.table.catalog.objects import CatalogBaseTable, CatalogDatabase, CatalogView
from penstock.table.sql import statements as st
from penstock.table.sql.dialect import parse_statement

_SUFFIX = ".sql"


class FileCatalog(Catalog):
    """Made by ``CREATE CATALOG c WITH ('type' = 'file', 'path' = '/shared/catalog')``.

    The files are what ``SHOW CREATE TABLE`` shows: they can be read, compared and kept in version control. Several
    programs may use one directory: each looks at it whenever a name is asked for.
    """

    keeps_everything = False

    def __init__(self, path: str, default_database: str = "default_database", name: str = "") -> None:
        super().__init__(default_database=default_database)
        self._root = Path(path)
        self._name = name
        (self._root / quote(default_database, safe="")).mkdir(parents=True, exist_ok=True)

    # Databases

    def list_databases(self) -> list[str]:
        return sorted(unquote(entry.name) for entry in self._root.iterdir() if entry.is_dir())

    def get_database(self, database_name: str) -> CatalogDatabase:
        if not self.database_exists(database_name):
            return super().get_database(database_name)
        return self._databases.get(database_name, CatalogDatabase())

    def create_database(self, name: str, database: CatalogDatabase, ignore_if_exists: bool) -> None:
        if self.database_exists(name):
            self._databases.setdefault(name, database)
        super().create_database(name, database, ignore_if_exists)
        self._directory(name).mkdir(parents=True, exist_ok=True)

    def drop_database(self, name: str, ignore_if_exists: bool, cascade: bool = False) -> None:
        if self.database_exists(name):
            self._databases.setdefault(name, CatalogDatabase())
        super().drop_database(name, ignore_if_exists, cascade)
        if self._directory(name).exists():
            self._directory(name).rmdir()

    # Tables and views

    def list_tables(self, database_name: str) -> list[str]:
        super().list_tables(database_name)  # says if there is no such database
        return sorted(unquote(entry.stem) for entry in self._directory(database_name).glob(f"*{_SUFFIX}"))

    def get_table(self, table_path: ObjectPath) -> CatalogBaseTable:
        if not self.table_exists(table_path):
            return super().get_table(table_path)
        return _table_of(parse_statement(self._file(table_path).read_text("utf-8")), self._file(table_path))

    def table_exists(self, table_path: ObjectPath) -> bool:
        return self._file(table_path).exists()

    def create_table(self, table_path: ObjectPath, table: CatalogBaseTable, ignore_if_exists: bool) -> None:
        if self.table_exists(table_path):
            self._tables[table_path] = table
        super().create_table(table_path, table, ignore_if_exists)
        self._write(table_path, table)

    def alter_table(self, table_path: ObjectPath, new_table: CatalogBaseTable, ignore_if_not_exists: bool) -> None:
        if self.table_exists(table_path):
            self._write(table_path, new_table)
        elif not ignore_if_not_exists:
            self.get_table(table_path)

    def drop_table(self, table_path: ObjectPath, ignore_if_not_exists: bool) -> None:
        self._tables.pop(table_path, None)
        if self.table_exists(table_path):
            self._file(table_path).unlink()
        elif not ignore_if_not_exists:
            self.get_table(table_path)

    def rename_table(self, table_path: ObjectPath, new_table_name: str, ignore_if_not_exists: bool) -> None:
        if not self.table_exists(table_path):
            return super().rename_table(table_path, new_table_name, ignore_if_not_exists)
        table = self.get_table(table_path)
        self.create_table(ObjectPath(table_path.get_database_name(), new_table_name), table, False)
        self.drop_table(table_path, False)
        return None

    def _directory(self, database: str) -> Path:
        return self._root / quote(database, safe="")

    def _file(self, path: ObjectPath) -> Path:
        return self._directory(path.get_database_name()) / (quote(path.get_object_name(), safe="") + _SUFFIX)

    def _write(self, path: ObjectPath, table: CatalogBaseTable) -> None:
        if table._handle is not None or (table._view is not None and table._view.query is None):
            raise ProgramError(f"{path} exists only in this program: create it as TEMPORARY.")
        file = self._file(path)
        part = file.with_suffix(f".{os.getpid()}")
        names = (self._name, path.get_database_name(), path.get_object_name())
        part.write_text(create_statement(names if self._name else names[1:], table) + "\n", "utf-8")
        part.replace(file)
        self._tables.pop(path, None)


def _table_of(statement: st.Statement, file: Path) -> CatalogBaseTable:
    match statement:
        case st.CreateTable():
            return CatalogBaseTable(body=statement.body)
        case st.CreateView():
            place = (statement.path[0], statement.path[1]) if len(statement.path) == 3 else None
            view = CatalogView(statement.query_text, statement.query, statement.columns, place)
            return CatalogBaseTable(body=st.TableBody(comment=statement.comment), view=view)
    raise ProgramError(f"{file} holds no table or view of a catalog.")

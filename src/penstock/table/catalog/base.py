"""Catalog: databases with their tables and functions. The class itself keeps them in memory."""

from __future__ import annotations

from typing import Any, TypeVar

from penstock.table.catalog.errors import missing, not_empty, there_already
from penstock.table.catalog.object_names import ObjectPath
from penstock.table.catalog.objects import (
    CatalogBaseTable,
    CatalogColumnStatistics,
    CatalogDatabase,
    CatalogFunction,
    CatalogModel,
    CatalogPartition,
    CatalogPartitionSpec,
    CatalogTableStatistics,
    Procedure,
)

_Thing = TypeVar("_Thing")


class Catalog:
    """A catalog in memory. Subclass it for one of your own: register it with ``register_catalog(name, catalog)``.

    A subclass that finds its tables elsewhere overrides ``list_databases``, ``list_tables``, ``get_table`` and
    ``table_exists``; one that keeps what it is told overrides :meth:`changed` too.
    """

    keeps_everything = True  # also models and partitions; catalogs that outlive the program keep only some things

    def __init__(self, j_catalog: Any = None, *, default_database: str = "default_database") -> None:
        self._default_database = default_database
        self._databases: dict[str, CatalogDatabase] = {default_database: CatalogDatabase()}
        self._tables: dict[ObjectPath, CatalogBaseTable] = {}
        self._functions: dict[ObjectPath, CatalogFunction] = {}
        self._models: dict[ObjectPath, CatalogModel] = {}
        self._partitions: dict[ObjectPath, dict[CatalogPartitionSpec, CatalogPartition]] = {}
        self._statistics: dict[Any, Any] = {}

    def changed(self) -> None:
        """Something was created, changed or dropped."""

    def get_default_database(self) -> str:
        return self._default_database

    # Databases

    def list_databases(self) -> list[str]:
        return list(self._databases)

    def get_database(self, database_name: str) -> CatalogDatabase:
        return self._required(self._databases, database_name, "database")

    def database_exists(self, database_name: str) -> bool:
        return database_name in self.list_databases()

    def create_database(self, name: str, database: CatalogDatabase, ignore_if_exists: bool) -> None:
        self._put(self._databases, name, database, ignore_if_exists, "database")

    def drop_database(self, name: str, ignore_if_exists: bool, cascade: bool = False) -> None:
        inside = self.list_tables(name) if self.database_exists(name) else []
        if inside and not cascade:
            raise not_empty(name, inside)
        for table in inside:
            self.drop_table(ObjectPath(name, table), True)
        self._remove(self._databases, name, ignore_if_exists, "database")

    def alter_database(self, name: str, new_database: CatalogDatabase, ignore_if_not_exists: bool) -> None:
        self._replace(self._databases, name, new_database, ignore_if_not_exists, "database")

    # Tables and views

    def list_tables(self, database_name: str) -> list[str]:
        """Tables and views."""
        return self._names(self._tables, database_name)

    def list_views(self, database_name: str) -> list[str]:
        paths = [ObjectPath(database_name, name) for name in self.list_tables(database_name)]
        return [path.get_object_name() for path in paths if self.get_table(path)._view is not None]

    def list_materialized_tables(self, database_name: str) -> list[str]:
        return []

    def get_table(self, table_path: ObjectPath) -> CatalogBaseTable:
        return self._required(self._tables, table_path, "table or view")

    def table_exists(self, table_path: ObjectPath) -> bool:
        return table_path in self._tables

    def drop_table(self, table_path: ObjectPath, ignore_if_not_exists: bool) -> None:
        self._partitions.pop(table_path, None)
        self._remove(self._tables, table_path, ignore_if_not_exists, "table or view")

    def rename_table(self, table_path: ObjectPath, new_table_name: str, ignore_if_not_exists: bool) -> None:
        target = ObjectPath(table_path.get_database_name(), new_table_name)
        if self.table_exists(target):
            raise there_already("table or view", target)
        if self.table_exists(table_path):
            self._tables[target] = self._tables.pop(table_path)
            self.changed()
        elif not ignore_if_not_exists:
            self.get_table(table_path)

    def create_table(self, table_path: ObjectPath, table: CatalogBaseTable, ignore_if_exists: bool) -> None:
        if not self.database_exists(table_path.get_database_name()):
            raise missing("database", table_path.get_database_name())
        self._put(self._tables, table_path, table, ignore_if_exists, "table or view")

    def alter_table(self, table_path: ObjectPath, new_table: CatalogBaseTable, ignore_if_not_exists: bool) -> None:
        self._replace(self._tables, table_path, new_table, ignore_if_not_exists, "table or view")

    # Partitions

    def list_partitions(
        self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec | None = None
    ) -> list[CatalogPartitionSpec]:
        wanted = {} if partition_spec is None else partition_spec.get_partition_spec()
        known = self._partitions.get(table_path, {})
        return [spec for spec in known if wanted.items() <= spec.get_partition_spec().items()]

    def get_partition(self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec) -> CatalogPartition:
        return self._required(self._partitions.get(table_path, {}), partition_spec, "partition")

    def partition_exists(self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec) -> bool:
        return partition_spec in self._partitions.get(table_path, {})

    def create_partition(
        self,
        table_path: ObjectPath,
        partition_spec: CatalogPartitionSpec,
        partition: CatalogPartition,
        ignore_if_exists: bool,
    ) -> None:
        known = self._partitions.setdefault(table_path, {})
        self._put(known, partition_spec, partition, ignore_if_exists, "partition")

    def drop_partition(
        self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec, ignore_if_not_exists: bool
    ) -> None:
        self._remove(self._partitions.get(table_path, {}), partition_spec, ignore_if_not_exists, "partition")

    def alter_partition(
        self,
        table_path: ObjectPath,
        partition_spec: CatalogPartitionSpec,
        new_partition: CatalogPartition,
        ignore_if_not_exists: bool,
    ) -> None:
        known = self._partitions.get(table_path, {})
        self._replace(known, partition_spec, new_partition, ignore_if_not_exists, "partition")

    # Functions and procedures

    def list_functions(self, database_name: str) -> list[str]:
        return self._names(self._functions, database_name)

    def list_procedures(self, database_name: str) -> list[str]:
        return []

    def get_function(self, function_path: ObjectPath) -> CatalogFunction:
        return self._required(self._functions, function_path, "function")

    def get_procedure(self, procedure_path: ObjectPath) -> Procedure:
        raise missing("procedure", procedure_path)

    def function_exists(self, function_path: ObjectPath) -> bool:
        return function_path in self._functions

    def create_function(self, function_path: ObjectPath, function: CatalogFunction, ignore_if_exists: bool) -> None:
        self._put(self._functions, function_path, function, ignore_if_exists, "function")

    def alter_function(
        self, function_path: ObjectPath, new_function: CatalogFunction, ignore_if_not_exists: bool
    ) -> None:
        self._replace(self._functions, function_path, new_function, ignore_if_not_exists, "function")

    def drop_function(self, function_path: ObjectPath, ignore_if_not_exists: bool) -> None:
        self._remove(self._functions, function_path, ignore_if_not_exists, "function")

    # Models

    def list_models(self, database_name: str) -> list[str]:
        return self._names(self._models, database_name)

    def get_model(self, model_path: ObjectPath) -> CatalogModel:
        return self._required(self._models, model_path, "model")

    def model_exists(self, model_path: ObjectPath) -> bool:
        return model_path in self._models

    def drop_model(self, model_path: ObjectPath, ignore_if_not_exists: bool) -> None:
        self._remove(self._models, model_path, ignore_if_not_exists, "model")

    def rename_model(self, model_path: ObjectPath, new_model_name: str, ignore_if_not_exists: bool) -> None:
        if self.model_exists(model_path):
            target = ObjectPath(model_path.get_database_name(), new_model_name)
            self._put(self._models, target, self._models.pop(model_path), False, "model")
        elif not ignore_if_not_exists:
            self.get_model(model_path)

    def create_model(self, model_path: ObjectPath, model: CatalogModel, ignore_if_exists: bool) -> None:
        if not self.database_exists(model_path.get_database_name()):
            raise missing("database", model_path.get_database_name())
        self._put(self._models, model_path, model, ignore_if_exists, "model")

    def alter_model(self, model_path: ObjectPath, new_model: CatalogModel, ignore_if_not_exists: bool) -> None:
        self._replace(self._models, model_path, new_model, ignore_if_not_exists, "model")

    # Statistics, which plans do not use

    def get_table_statistics(self, table_path: ObjectPath) -> CatalogTableStatistics:
        found: CatalogTableStatistics = self._statistics.get(("table", table_path), CatalogTableStatistics())
        return found

    def get_table_column_statistics(self, table_path: ObjectPath) -> CatalogColumnStatistics:
        found: CatalogColumnStatistics = self._statistics.get(("columns", table_path), CatalogColumnStatistics())
        return found

    def get_partition_statistics(
        self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec
    ) -> CatalogTableStatistics:
        key = ("table", table_path, partition_spec)
        found: CatalogTableStatistics = self._statistics.get(key, CatalogTableStatistics())
        return found

    def bulk_get_partition_statistics(
        self, table_path: ObjectPath, partition_specs: list[CatalogPartitionSpec]
    ) -> list[CatalogTableStatistics]:
        return [self.get_partition_statistics(table_path, spec) for spec in partition_specs]

    def get_partition_column_statistics(
        self, table_path: ObjectPath, partition_spec: CatalogPartitionSpec
    ) -> CatalogColumnStatistics:
        key = ("columns", table_path, partition_spec)
        found: CatalogColumnStatistics = self._statistics.get(key, CatalogColumnStatistics())
        return found

    def bulk_get_partition_column_statistics(
        self, table_path: ObjectPath, partition_specs: list[CatalogPartitionSpec]
    ) -> list[CatalogColumnStatistics]:
        return [self.get_partition_column_statistics(table_path, spec) for spec in partition_specs]

    def alter_table_statistics(
        self, table_path: ObjectPath, table_statistics: CatalogTableStatistics, ignore_if_not_exists: bool
    ) -> None:
        self._statistics["table", table_path] = table_statistics

    def alter_table_column_statistics(
        self, table_path: ObjectPath, column_statistics: CatalogColumnStatistics, ignore_if_not_exists: bool
    ) -> None:
        self._statistics["columns", table_path] = column_statistics

    def alter_partition_statistics(
        self,
        table_path: ObjectPath,
        partition_spec: CatalogPartitionSpec,
        partition_statistics: CatalogTableStatistics,
        ignore_if_not_exists: bool,
    ) -> None:
        self._statistics["table", table_path, partition_spec] = partition_statistics

    def alter_partition_column_statistics(
        self,
        table_path: ObjectPath,
        partition_spec: CatalogPartitionSpec,
        column_statistics: CatalogColumnStatistics,
        ignore_if_not_exists: bool,
    ) -> None:
        self._statistics["columns", table_path, partition_spec] = column_statistics

    # How things are kept

    def _names(self, things: dict[ObjectPath, Any], database_name: str) -> list[str]:
        if not self.database_exists(database_name):
            raise missing("database", database_name)
        return sorted(path.get_object_name() for path in things if path.get_database_name() == database_name)

    def _required(self, things: dict[Any, _Thing], key: Any, what: str) -> _Thing:
        if key not in things:
            raise missing(what, key)
        return things[key]

    def _put(self, things: dict[Any, _Thing], key: Any, thing: _Thing, ignore: bool, what: str) -> None:
        if key not in things:
            things[key] = thing
            self.changed()
        elif not ignore:
            raise there_already(what, key)

    def _replace(self, things: dict[Any, _Thing], key: Any, thing: _Thing, ignore: bool, what: str) -> None:
        if key in things:
            things[key] = thing
            self.changed()
        elif not ignore:
            raise missing(what, key)

    def _remove(self, things: dict[Any, Any], key: Any, ignore: bool, what: str) -> None:
        if key in things:
            del things[key]
            self.changed()
        elif not ignore:
            raise missing(what, key)

"""A catalog of Iceberg tables, of whatever kind pyiceberg reaches: SQL databases, REST, Hive's metastore, Glue."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from penstock.columns.typesystem.arrow_mapping import from_arrow_type, to_arrow_type
from penstock.common.errors import NotSupportedError, ProgramError
from penstock.connectors.iceberg.table import IcebergLocation
from penstock.connectors.reaching import package
from penstock.table.catalog.base import Catalog
from penstock.table.catalog.errors import missing, not_empty, there_already
from penstock.table.catalog.object_names import ObjectPath
from penstock.table.catalog.objects import CatalogBaseTable, CatalogDatabase
from penstock.table.sql import statements as st

KINDS = ("sql", "rest", "hive", "glue", "dynamodb")
_OWN = ("type", "catalog-type", "default-database")


class IcebergCatalog(Catalog):
    """Made by ``CREATE CATALOG c WITH ('type' = 'iceberg', 'catalog-type' = 'rest', 'uri' = .., 'warehouse' = ..)``.

    All further options are properties of pyiceberg's catalog. Its tables are those of the connector `iceberg`; how they
    are partitioned and what else they have is the catalog's to know.
    """

    keeps_everything = False

    def __init__(self, name: str, options: dict[str, str]) -> None:
        kind = options.get("catalog-type")
        if kind not in KINDS:
            given = "is missing" if kind is None else f"is {kind!r}"
            raise ProgramError(f"'catalog-type' of the catalog {name!r} {given}: it can be {', '.join(KINDS)}.")
        super().__init__(default_database=options.get("default-database", "default"))
        self._name = name
        self._properties = {"type": kind, **{key: value for key, value in options.items() if key not in _OWN}}
        self._exceptions = package("pyiceberg.exceptions", "iceberg")
        self._opened: Any = None

    @property
    def _catalog(self) -> Any:
        if self._opened is None:
            self._opened = IcebergLocation("", self._properties, self._name).open_catalog()
            self._opened.create_namespace_if_not_exists(self._default_database)
        return self._opened

    # Databases

    def list_databases(self) -> list[str]:
        return sorted(".".join(parts) for parts in self._catalog.list_namespaces())

    def get_database(self, database_name: str) -> CatalogDatabase:
        try:
            properties = dict(self._catalog.load_namespace_properties(database_name))
        except self._exceptions.NoSuchNamespaceError:
            raise missing("database", database_name) from None
        return CatalogDatabase(properties=properties, comment=properties.pop("comment", None))

    def create_database(self, name: str, database: CatalogDatabase, ignore_if_exists: bool) -> None:
        properties = database.get_properties()
        if database.get_comment():
            properties["comment"] = str(database.get_comment())
        try:
            self._catalog.create_namespace(name, properties)
        except self._exceptions.NamespaceAlreadyExistsError:
            if not ignore_if_exists:
                raise there_already("database", name) from None

    def drop_database(self, name: str, ignore_if_exists: bool, cascade: bool = False) -> None:
        if not self.database_exists(name):
            if not ignore_if_exists:
                self.get_database(name)
            return
        inside = self.list_tables(name)
        if inside and not cascade:
            raise not_empty(name, inside)
        for table in inside:
            self.drop_table(ObjectPath(name, table), True)
        self._catalog.drop_namespace(name)

    def alter_database(self, name: str, new_database: CatalogDatabase, ignore_if_not_exists: bool) -> None:
        if not self.database_exists(name) and ignore_if_not_exists:
            return
        before, after = self.get_database(name).get_properties(), new_database.get_properties()
        gone = {key for key in before if key not in after}
        self._catalog.update_namespace_properties(name, gone, after)

    # Tables

    def list_tables(self, database_name: str) -> list[str]:
        try:
            return sorted(identifier[-1] for identifier in self._catalog.list_tables(database_name))
        except self._exceptions.NoSuchNamespaceError:
            raise missing("database", database_name) from None

    def table_exists(self, table_path: ObjectPath) -> bool:
        found: bool = self._catalog.table_exists(_identifier(table_path))
        return found

    def get_table(self, table_path: ObjectPath) -> CatalogBaseTable:
        table = self._load(table_path)
        schema = table.schema()
        arrow = package("pyiceberg.io.pyarrow", "iceberg").schema_to_pyarrow(schema, include_field_ids=False)
        columns = tuple(
            st.Column(field.name, from_arrow_type(field.type, field.nullable), described.doc)
            for field, described in zip(arrow, schema.fields, strict=True)
        )
        key = [schema.find_column_name(number) for number in schema.identifier_field_ids]
        ordered = tuple(column.name for column in columns if column.name in key)
        body = st.TableBody(
            columns,
            primary_key=st.PrimaryKey(ordered) if ordered else None,
            comment=table.properties.get("comment"),
            options=self._options(table_path),
        )
        return CatalogBaseTable(body=body)

    def _options(self, path: ObjectPath) -> st.Options:
        own = {
            "connector": "iceberg",
            "catalog-name": self._name,
            "catalog-database": path.get_database_name(),
            "catalog-table": path.get_object_name(),
        }
        return tuple({**own, **{f"catalog.{key}": value for key, value in self._properties.items()}}.items())

    def _load(self, path: ObjectPath) -> Any:
        try:
            return self._catalog.load_table(_identifier(path))
        except self._exceptions.NoSuchTableError:
            raise missing("table", path) from None

    def create_table(self, table_path: ObjectPath, table: CatalogBaseTable, ignore_if_exists: bool) -> None:
        if self.table_exists(table_path):
            if not ignore_if_exists:
                raise there_already("table", table_path)
            return
        body = table._body
        self._check(table_path, table)
        key = () if body.primary_key is None else body.primary_key.columns
        fields = [
            pa.field(one.name, to_arrow_type(one.data_type), one.data_type.is_nullable and one.name not in key)
            for one in body.columns
            if isinstance(one, st.Column)
        ]
        properties = {} if body.comment is None else {"comment": body.comment}
        with self._catalog.create_table_transaction(
            _identifier(table_path), pa.schema(fields), properties=properties
        ) as made:
            if key:
                with made.update_schema() as schema:
                    schema.set_identifier_fields(*key)
            if body.partitioned_by:
                with made.update_spec() as spec:
                    for column in body.partitioned_by:
                        spec.add_identity(column)

    def _check(self, path: ObjectPath, table: CatalogBaseTable) -> None:
        body = table._body
        if table._view is not None or table._handle is not None:
            raise ProgramError(f"{path}: a catalog of Iceberg keeps tables alone. Create it as TEMPORARY.")
        other = [one.name for one in body.columns if not isinstance(one, st.Column)]
        if other or body.watermark is not None:
            raise ProgramError(
                f"{path}: an Iceberg table has plain columns alone. Declare {', '.join(other) or 'the watermark'} in a"
                " TEMPORARY table of the connector iceberg, or in a view."
            )
        options = dict(body.options)
        if options.pop("connector", "iceberg") != "iceberg" or options:
            raise ProgramError(f"{path}: a table of an Iceberg catalog takes no options; the catalog has them.")

    def alter_table(self, table_path: ObjectPath, new_table: CatalogBaseTable, ignore_if_not_exists: bool) -> None:
        if ignore_if_not_exists and not self.table_exists(table_path):
            return
        before, after = self.get_table(table_path)._body, new_table._body
        if (before.options, before.primary_key, before.watermark) != (
            after.options, after.primary_key, after.watermark
        ):  # fmt: skip
            raise NotSupportedError(f"{table_path}: only columns of Iceberg tables are altered here.")
        old = {one.name: one for one in before.columns if isinstance(one, st.Column)}
        new = {one.name: one for one in after.columns if isinstance(one, st.Column)}
        added, gone = [name for name in new if name not in old], [name for name in old if name not in new]
        renamed = [len(added), len(gone)] == [1, 1] and list(new).index(added[0]) == list(old).index(gone[0])
        if added and gone and not renamed:
            raise NotSupportedError(f"{table_path}: add and drop columns in statements of their own.")
        with self._load(table_path).update_schema() as schema:
            if renamed:
                schema.rename_column(gone[0], added[0])
                return
            for name in gone:
                schema.delete_column(name)
            for name in added:
                if not new[name].data_type.is_nullable:
                    raise ProgramError(f"{table_path}: a new column may be null, since there are rows without it.")
                schema.add_column(name, _iceberg_type(new[name]), new[name].comment)
            for name in new:
                if name in old and new[name].data_type != old[name].data_type:
                    schema.update_column(name, _iceberg_type(new[name]), required=not new[name].data_type.is_nullable)

    def drop_table(self, table_path: ObjectPath, ignore_if_not_exists: bool) -> None:
        if ignore_if_not_exists and not self.table_exists(table_path):
            return
        self._load(table_path)
        self._catalog.drop_table(_identifier(table_path))

    def rename_table(self, table_path: ObjectPath, new_table_name: str, ignore_if_not_exists: bool) -> None:
        if ignore_if_not_exists and not self.table_exists(table_path):
            return
        self._load(table_path)
        target = ObjectPath(table_path.get_database_name(), new_table_name)
        if self.table_exists(target):
            raise there_already("table", target)
        self._catalog.rename_table(_identifier(table_path), _identifier(target))


def _identifier(path: ObjectPath) -> tuple[str, ...]:
    return (*path.get_database_name().split("."), path.get_object_name())


def _iceberg_type(column: st.Column) -> Any:
    schema = pa.schema([pa.field(column.name, to_arrow_type(column.data_type))])
    assign = package("pyiceberg.catalog", "iceberg").Catalog._convert_schema_if_needed
    return assign(schema).fields[0].field_type

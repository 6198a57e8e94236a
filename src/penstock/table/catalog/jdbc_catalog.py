"""The tables of a PostgreSQL server as a catalog: found when they are asked for, never made or changed from here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from penstock.columns.typesystem import scalars
from penstock.columns.typesystem.base import DataType
from penstock.common.errors import NotSupportedError
from penstock.connectors.jdbc.address import POSTGRESQL, parse_url
from penstock.connectors.jdbc.session import Session
from penstock.table.catalog.base import Catalog
from penstock.table.catalog.errors import missing
from penstock.table.catalog.object_names import ObjectPath
from penstock.table.catalog.objects import CatalogBaseTable, CatalogDatabase
from penstock.table.sql import statements as st

_TEMPLATES = ("template0", "template1")
_NO_SCHEMAS = ("pg_toast", "pg_temp_1", "pg_toast_temp_1", "pg_catalog", "information_schema")
_DEFAULT_SCHEMA = "public"
_PLAIN: dict[str, type[DataType]] = {
    "bool": scalars.BooleanType,
    "int2": scalars.SmallIntType,
    "int4": scalars.IntType,
    "int8": scalars.BigIntType,
    "float4": scalars.FloatType,
    "float8": scalars.DoubleType,
    "date": scalars.DateType,
}
_TIMES = {"timestamp": scalars.TimestampType, "timestamptz": scalars.LocalZonedTimestampType, "time": scalars.TimeType}
_COLUMNS = """
    SELECT a.attname, t.typname, a.atttypmod, a.attnotnull FROM pg_attribute a
    JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_type t ON t.oid = a.atttypid
    WHERE n.nspname = %s AND c.relname = %s AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
"""
_KEY = """
    SELECT a.attname, o.conname FROM pg_constraint o
    JOIN pg_class c ON c.oid = o.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = ANY (o.conkey)
    WHERE o.contype = 'p' AND n.nspname = %s AND c.relname = %s ORDER BY array_position(o.conkey, a.attnum)
"""


class JdbcCatalog(Catalog):
    """``CREATE CATALOG c WITH ('type' = 'jdbc', 'default-database' = .., 'username' = .., 'password' = ..,
    'base-url' = 'jdbc:postgresql://host:5432')``: databases of the server, and their tables as `schema.table`, or as
    `table` where the schema is public.
    """

    keeps_everything = False

    def __init__(self, catalog_name: str, default_database: str, username: str, pwd: str, base_url: str) -> None:
        super().__init__(default_database=default_database)
        self._name = catalog_name
        self._user, self._password = username, pwd
        self._base_url = base_url if base_url.endswith("/") else f"{base_url}/"
        address = parse_url(self._url(default_database))
        if address.kind != POSTGRESQL:
            raise NotSupportedError(f"The catalog {catalog_name!r} of type 'jdbc' is for jdbc:postgresql: addresses.")

    def _url(self, database: str) -> str:
        return f"{self._base_url}{database}"

    def _asked(self, database: str, question: str, *values: str) -> list[Sequence[Any]]:
        session = Session(parse_url(self._url(database), self._user, self._password))

        def rows(cursor: Any) -> list[Sequence[Any]]:
            cursor.execute(question, values)
            return list(cursor.fetchall())

        try:
            return session.run(rows)
        finally:
            session.close()

    # Databases

    def list_databases(self) -> list[str]:
        rows = self._asked(self._default_database, "SELECT datname FROM pg_database ORDER BY datname")
        return [name for (name,) in rows if name not in _TEMPLATES]

    def get_database(self, database_name: str) -> CatalogDatabase:
        if not self.database_exists(database_name):
            raise missing("database", database_name)
        return CatalogDatabase()

    # Tables

    def list_tables(self, database_name: str) -> list[str]:
        self.get_database(database_name)
        rows = self._asked(
            database_name,
            "SELECT table_schema, table_name FROM information_schema.tables WHERE table_type = 'BASE TABLE'"
            " ORDER BY table_schema, table_name",
        )
        return [f"{schema}.{table}" for schema, table in rows if schema not in _NO_SCHEMAS]

    def list_views(self, database_name: str) -> list[str]:
        return []

    def table_exists(self, table_path: ObjectPath) -> bool:
        database = table_path.get_database_name()
        return self.database_exists(database) and ".".join(_schema_and_name(table_path)) in self.list_tables(database)

    def get_table(self, table_path: ObjectPath) -> CatalogBaseTable:
        if not self.table_exists(table_path):
            raise missing("table", table_path)
        database, (schema, name) = table_path.get_database_name(), _schema_and_name(table_path)
        columns = tuple(
            st.Column(column, _type(kind, modifier, not required, f"{table_path}.{column}"))
            for column, kind, modifier, required in self._asked(database, _COLUMNS, schema, name)
        )
        key = self._asked(database, _KEY, schema, name)
        options = {
            "connector": "jdbc",
            "url": self._url(database),
            "table-name": f"{schema}.{name}",
            "username": self._user,
            "password": self._password,
        }
        primary = st.PrimaryKey(tuple(column for column, _ in key), key[0][1]) if key else None
        return CatalogBaseTable(body=st.TableBody(columns, primary_key=primary, options=tuple(options.items())))

    # What the database's own tools do

    def create_database(self, name: str, database: CatalogDatabase, ignore_if_exists: bool) -> None:
        self._refuse("CREATE DATABASE")

    def drop_database(self, name: str, ignore_if_exists: bool, cascade: bool = False) -> None:
        self._refuse("DROP DATABASE")

    def alter_database(self, name: str, new_database: CatalogDatabase, ignore_if_not_exists: bool) -> None:
        self._refuse("ALTER DATABASE")

    def create_table(self, table_path: ObjectPath, table: CatalogBaseTable, ignore_if_exists: bool) -> None:
        self._refuse("CREATE TABLE")

    def alter_table(self, table_path: ObjectPath, new_table: CatalogBaseTable, ignore_if_not_exists: bool) -> None:
        self._refuse("ALTER TABLE")

    def drop_table(self, table_path: ObjectPath, ignore_if_not_exists: bool) -> None:
        self._refuse("DROP TABLE")

    def rename_table(self, table_path: ObjectPath, new_table_name: str, ignore_if_not_exists: bool) -> None:
        self._refuse("ALTER TABLE .. RENAME")

    def _refuse(self, what: str) -> NoReturn:
        raise NotSupportedError(
            f"{what} in the catalog {self._name!r}: as in Flink, it only shows what the database has."
        )


def _schema_and_name(path: ObjectPath) -> tuple[str, str]:
    schema, dot, name = path.get_object_name().partition(".")
    return (schema, name) if dot else (_DEFAULT_SCHEMA, schema)


def _type(kind: str, modifier: int, nullable: bool, column: str) -> DataType:
    """Flink's types for those of PostgreSQL; a modifier of -1 says that none is given."""
    if kind in _PLAIN:
        return _PLAIN[kind](nullable)
    match kind:
        case "numeric" if modifier >= 0:
            return scalars.DecimalType((modifier - 4) >> 16 & 0xFFFF, (modifier - 4) & 0x7FF, nullable)
        case "numeric":
            return scalars.DecimalType(38, 18, nullable)
        case "varchar" | "bpchar" if modifier >= 0:
            made: DataType = (scalars.VarCharType if kind == "varchar" else scalars.CharType)(modifier - 4, nullable)
            return made
        case "varchar" | "text":
            return scalars.VarCharType(scalars.MAX_LENGTH, nullable)
        case "bytea":
            return scalars.VarBinaryType(scalars.MAX_LENGTH, nullable)
    if kind in _TIMES:
        return _TIMES[kind](6 if modifier < 0 else modifier, nullable)
    raise NotSupportedError(
        f"The column {column} is {kind}, for which there is no SQL type: declare the table without it."
    )

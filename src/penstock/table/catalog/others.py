"""Catalogs of PyFlink that need what is not here."""

from __future__ import annotations

from penstock.common.errors import NotSupportedError
from penstock.table.catalog.base import Catalog


class HiveCatalog(Catalog):
    """Refused: there is no client of the Hive metastore."""

    def __init__(
        self,
        catalog_name: str,
        default_database: str | None = None,
        hive_conf_dir: str | None = None,
        hadoop_conf_dir: str | None = None,
        hive_version: str | None = None,
    ) -> None:
        raise NotSupportedError(
            "HiveCatalog needs Flink's Hive connector, which is Java. Use CREATE CATALOG .. WITH ('type' = 'file',"
            " 'path' = ..), whose tables outlive the program, or a subclass of Catalog."
        )


class JdbcCatalog(Catalog):
    """Refused: tables of a database are declared one by one."""

    def __init__(self, catalog_name: str, default_database: str, username: str, pwd: str, base_url: str) -> None:
        raise NotSupportedError(
            "JdbcCatalog needs Flink's JDBC connector, which is Java. Declare the tables with CREATE TABLE, or write a"
            " subclass of Catalog whose get_table() asks the database."
        )

"""A catalog of PyFlink that needs what is not here."""

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
            " 'path' = ..), whose tables outlive the program, 'type' = 'iceberg' with 'catalog-type' = 'hive' for"
            " Iceberg tables of a metastore, or a subclass of Catalog."
        )

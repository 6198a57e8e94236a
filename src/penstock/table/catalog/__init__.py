"""Catalogs: where tables, views and functions are known by name."""

from penstock.table.catalog.base import Catalog
from penstock.table.catalog.columns import Column, ComputedColumn, MetadataColumn, PhysicalColumn
from penstock.table.catalog.errors import CatalogError
from penstock.table.catalog.file_catalog import FileCatalog
from penstock.table.catalog.iceberg_catalog import IcebergCatalog
from penstock.table.catalog.jdbc_catalog import JdbcCatalog
from penstock.table.catalog.object_names import ObjectIdentifier, ObjectPath
from penstock.table.catalog.objects import (
    CatalogBaseTable,
    CatalogColumnStatistics,
    CatalogDatabase,
    CatalogDescriptor,
    CatalogFunction,
    CatalogModel,
    CatalogPartition,
    CatalogPartitionSpec,
    CatalogTableStatistics,
    Procedure,
)
from penstock.table.catalog.others import HiveCatalog
from penstock.table.catalog.resolved_schema import Constraint, ResolvedSchema, UniqueConstraint, WatermarkSpec

__all__ = [
    "Catalog",
    "CatalogBaseTable",
    "CatalogColumnStatistics",
    "CatalogDatabase",
    "CatalogDescriptor",
    "CatalogError",
    "CatalogFunction",
    "CatalogModel",
    "CatalogPartition",
    "CatalogPartitionSpec",
    "CatalogTableStatistics",
    "Column",
    "ComputedColumn",
    "Constraint",
    "FileCatalog",
    "HiveCatalog",
    "IcebergCatalog",
    "JdbcCatalog",
    "MetadataColumn",
    "ObjectIdentifier",
    "ObjectPath",
    "PhysicalColumn",
    "Procedure",
    "ResolvedSchema",
    "UniqueConstraint",
    "WatermarkSpec",
]

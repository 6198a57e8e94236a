"""Tables of Iceberg catalogs: read as of a snapshot or for ever, appended to, or kept by primary key; exactly once."""

from __future__ import annotations

from penstock.common.errors import ProgramError
from penstock.connectors.iceberg.sink import IcebergSink
from penstock.connectors.iceberg.source import IcebergSource
from penstock.table.connectors.base import ConnectorTable, TableConnector, TableSink, TableSource
from penstock.table.connectors.jdbc import row_type_of


class IcebergConnector(TableConnector):
    """`catalog-*` names catalog, database and table; the catalog's own options are `catalog.TYPE` and so on."""

    name = "iceberg"
    options = ("catalog-name", "catalog-database", "catalog-table", "snapshot-id", "streaming", "sink.parallelism")
    prefixes = ("catalog.",)  # of pyiceberg: catalog.type, catalog.uri, catalog.warehouse

    def accepts(self, table: ConnectorTable) -> str:
        return "IUD" if table.primary_key else "I"

    def by_key(self, table: ConnectorTable) -> bool:
        return bool(table.primary_key)

    def source(self, table: ConnectorTable) -> TableSource:
        continuous = table.boolean("streaming", False)
        if continuous and table.bounded:
            raise ProgramError(f"'streaming' = 'true' of {table.name} never ends: leave it out in batch mode.")
        snapshot = table.number("snapshot-id", 0) or None
        row_type = row_type_of(table)
        source = IcebergSource(
            _name(table), row_type, table.prefixed("catalog."), snapshot, continuous, _catalog(table)
        )
        return TableSource(source, table.name, stream_type=row_type)

    def sink(self, table: ConnectorTable) -> TableSink:
        if table.partition_keys:
            raise ProgramError(f"PARTITIONED BY: the Iceberg table of {table.name} itself says how it is partitioned.")
        row_type = row_type_of(table)
        key = list(table.primary_key)
        sink = IcebergSink(_name(table), row_type, table.prefixed("catalog."), key, _catalog(table))
        return TableSink(sink, table.name, table.number("sink.parallelism", 0) or None, row_type)


def _name(table: ConnectorTable) -> str:
    return f"{table.text('catalog-database', 'default')}.{table.text('catalog-table', table.path[-1])}"


def _catalog(table: ConnectorTable) -> str:
    return table.text("catalog-name", "default")

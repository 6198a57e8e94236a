"""Tables of Delta Lake: read as of a version or for ever, appended to, or kept by primary key; exactly once."""

from __future__ import annotations

from penstock.common.errors import ProgramError
from penstock.connectors.delta.sink import DeltaSink
from penstock.connectors.delta.source import DeltaSource
from penstock.table.connectors.base import ConnectorTable, TableConnector, TableSink, TableSource
from penstock.table.connectors.jdbc import row_type_of


class DeltaConnector(TableConnector):
    """`table-path` is where the table is; `mode` = streaming goes on with the rows that later versions append."""

    name = "delta"
    options = ("table-path", "versionAsOf", "mode", "sink.parallelism")
    prefixes = ("storage.",)  # options of the store: storage.AWS_REGION

    def accepts(self, table: ConnectorTable) -> str:
        return "IUD" if table.primary_key else "I"

    def by_key(self, table: ConnectorTable) -> bool:
        return bool(table.primary_key)

    def source(self, table: ConnectorTable) -> TableSource:
        continuous = table.chosen("mode", ("batch", "streaming"), "batch") == "streaming"
        if continuous and table.bounded:
            raise ProgramError(f"'mode' = 'streaming' of {table.name} never ends: leave it out in batch mode.")
        version = table.number("versionAsOf", -1) if "versionAsOf" in table.options else None
        row_type = row_type_of(table)
        source = DeltaSource(
            table.text("table-path"), row_type, version, continuous, table.prefixed("storage.") or None
        )
        return TableSource(source, table.name, stream_type=row_type)

    def sink(self, table: ConnectorTable) -> TableSink:
        row_type = row_type_of(table)
        options = table.prefixed("storage.") or None
        sink = DeltaSink(
            table.text("table-path"), row_type, list(table.primary_key), list(table.partition_keys), options
        )
        return TableSink(sink, table.name, table.number("sink.parallelism", 0) or None, row_type)

"""Tables of PostgreSQL with all their changes, from the log of the server."""

from __future__ import annotations

from penstock.connectors.jdbc.options import JdbcConnectionOptions
from penstock.connectors.postgres_cdc.source import PostgresCdcSource
from penstock.table.connectors.base import ConnectorTable, TableConnector, TableSource
from penstock.table.connectors.jdbc import row_type_of


class PostgresCdcConnector(TableConnector):
    """With Flink CDC's names; `changelog-mode` = upsert needs a primary key and no REPLICA IDENTITY FULL."""

    name = "postgres-cdc"
    options = (
        "hostname", "port", "username", "password", "database-name", "schema-name", "table-name", "slot.name",
        "decoding.plugin.name", "publication.name", "changelog-mode",
    )  # fmt: skip

    def changelog(self, table: ConnectorTable) -> str:
        return "IUD"

    def upserts(self, table: ConnectorTable) -> bool:
        return table.options.get("changelog-mode") == "upsert"

    def check(self, table: ConnectorTable) -> None:
        super().check(table)
        table.chosen("decoding.plugin.name", ("pgoutput",), "pgoutput")

    def source(self, table: ConnectorTable) -> TableSource:
        connection = (
            JdbcConnectionOptions.JdbcConnectionOptionsBuilder()
            .with_url(
                f"jdbc:postgresql://{table.text('hostname')}:{table.number('port', 5432)}/{table.text('database-name')}"
            )
            .with_user_name(table.text("username"))
            .with_password(table.text("password"))
            .build()
        )
        row_type = row_type_of(table)
        source = PostgresCdcSource(
            connection,
            f"{table.text('schema-name', 'public')}.{table.text('table-name')}",
            row_type,
            table.text("slot.name"),
            table.options.get("publication.name"),
            table.chosen("changelog-mode", ("all", "upsert"), "all"),
            list(table.primary_key) or None,
        )
        return TableSource(source, table.name, stream_type=row_type)

"""Tables of databases: read once, looked up by key, written by key or by appending."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.columns.typesystem.scalars import TimestampType
from penstock.common.errors import ProgramError
from penstock.common.typeinfo import RowTypeInfo, Types
from penstock.connectors.base import DeliveryGuarantee
from penstock.connectors.jdbc.lookup import JdbcLookupFunction
from penstock.connectors.jdbc.options import JdbcConnectionOptions, JdbcExecutionOptions
from penstock.connectors.jdbc.sink import JdbcTableSink
from penstock.connectors.jdbc.source import JdbcSource
from penstock.table.connectors.base import (
    ConnectorTable,
    TableConnector,
    TableRowsByKey,
    TableSink,
    TableSource,
)
from penstock.table.connectors.lookup_options import FULL_CACHE_OPTIONS, LOOKUP_OPTIONS, cache_of
from penstock.table.session.stream_types import type_info_of

_BATCHES = ("sink.buffer-flush.max-rows", "sink.buffer-flush.interval")


class JdbcConnector(TableConnector):
    """With a PRIMARY KEY rows are written by it, so that writing them again changes nothing."""

    name = "jdbc"
    looks_up = True
    options = (
        "url", "table-name", "username", "password", "driver", "scan.partition.column", "scan.partition.num",
        "scan.partition.lower-bound", "scan.partition.upper-bound", "sink.buffer-flush.max-rows",
        "sink.buffer-flush.interval", "sink.max-retries", "sink.parallelism", "sink.delivery-guarantee",
        *LOOKUP_OPTIONS, *FULL_CACHE_OPTIONS,
    )  # fmt: skip

    def reads_some_columns(self, options: Mapping[str, str]) -> bool:
        return "scan.partition.column" not in options  # the parts are made of that column, whoever reads it

    def accepts(self, table: ConnectorTable) -> str:
        return "IUD" if table.primary_key else "I"

    def by_key(self, table: ConnectorTable) -> bool:
        return bool(table.primary_key)

    def source(self, table: ConnectorTable) -> TableSource:
        column = table.options.get("scan.partition.column")
        source = JdbcSource(
            connection_of(table),
            row_type_of(table),
            query=_query(table),
            partition_column=column,
            partitions=table.number("scan.partition.num", 1) if column else 1,
            lower=_bound(table, "scan.partition.lower-bound"),
            upper=_bound(table, "scan.partition.upper-bound"),
        )
        return TableSource(source, table.name, stream_type=row_type_of(table))

    def lookup(self, table: ConnectorTable, key: list[str]) -> TableRowsByKey:
        function = JdbcLookupFunction(
            connection_of(table),
            table.text("table-name"),
            row_type_of(table),
            key,
            table.number("lookup.max-retries", 3),
        )
        return TableRowsByKey(function, cache_of(table, reads_all=True))

    def sink(self, table: ConnectorTable) -> TableSink:
        chosen = table.chosen("sink.delivery-guarantee", ("at-least-once", "exactly-once"), "at-least-once")
        execution = JdbcExecutionOptions.builder()
        execution.with_max_retries(table.number("sink.max-retries", 3))
        # Exactly once has no batches: the sink warns who asks for them.
        if chosen == "at-least-once" or any(key in table.options for key in _BATCHES):
            execution.with_batch_size(table.number(_BATCHES[0], 100))
            execution.with_batch_interval_ms(table.millis(_BATCHES[1], 1_000) or 0)
        sink = JdbcTableSink(
            connection_of(table),
            table.text("table-name"),
            [field.name for field in table.fields],
            list(table.primary_key),
            DeliveryGuarantee[chosen.upper().replace("-", "_")],
            execution.build(),
        )
        return TableSink(sink, table.name, table.number("sink.parallelism", 0) or None, written_type_of(table))


def connection_of(table: ConnectorTable) -> JdbcConnectionOptions:
    builder = JdbcConnectionOptions.JdbcConnectionOptionsBuilder().with_url(table.text("url"))
    if "username" in table.options:
        builder.with_user_name(table.text("username"))
    if "driver" in table.options:
        builder.with_driver_name(table.text("driver"))
    if "password" in table.options:
        builder.with_password(table.text("password"))
    return builder.build()


def row_type_of(table: ConnectorTable) -> RowTypeInfo:
    names, types = [field.name for field in table.fields], [type_info_of(field.data_type) for field in table.fields]
    return RowTypeInfo(types, names)


def written_type_of(table: ConnectorTable) -> RowTypeInfo:
    """Timestamps of streams have milliseconds: finer ones are told to be anything, and so stay what they are."""
    finer = [isinstance(field.data_type, TimestampType) and field.data_type.precision > 3 for field in table.fields]
    declared = row_type_of(table)
    types = zip(declared.get_field_types(), finer, strict=True)
    return RowTypeInfo(
        [Types.PICKLED_BYTE_ARRAY() if is_finer else each for each, is_finer in types], declared.get_field_names()
    )


def _query(table: ConnectorTable) -> str:
    from penstock.connectors.jdbc.session import Session

    dialect = Session(connection_of(table).address).dialect
    columns = ", ".join(dialect.quoted(field.name) for field in table.fields)
    return f"SELECT {columns} FROM {dialect.table_name(table.text('table-name'))}"


def _bound(table: ConnectorTable, key: str) -> int | None:
    if key not in table.options:
        return None
    try:
        return int(table.text(key))
    except ValueError:
        raise ProgramError(f"'{key}' of {table.name} must be a whole number.") from None

"""Tables of files: csv, json and raw lines, Parquet; partitions are directories."""

from __future__ import annotations

from penstock.common.errors import NotSupportedError, ProgramError
from penstock.common.option_values import bytes_of
from penstock.connectors.files.location import file_location
from penstock.connectors.files.reading import Files
from penstock.connectors.files.rolling_policies import DefaultRollingPolicy, OnCheckpointRollingPolicy
from penstock.formats.file_formats import FileFormat
from penstock.table.connectors.base import ConnectorTable, TableConnector, TableSink, TableSource
from penstock.table.connectors.table_file_sink import TableFileSink
from penstock.table.connectors.table_files import CsvTableFile, LinesTableFile, ParquetTableFile
from penstock.table.formats.csv import CsvDecoder, dialect_of
from penstock.table.formats.registry import format_of
from penstock.table.logical.nodes import Fields

_MINUTE = 60_000
_DEFAULT_PARTITION = "__DEFAULT_PARTITION__"


class FilesystemConnector(TableConnector):
    """`path` is a file or directory, `format` csv, json, raw, parquet or a format of changes."""

    name = "filesystem"
    options = (
        "path", "format", "source.monitor-interval", "partition.default-name", "sink.parallelism", "scan.parallelism",
        "sink.rolling-policy.file-size", "sink.rolling-policy.rollover-interval", "sink.rolling-policy.check-interval",
        "sink.rolling-policy.inactivity-interval",
    )  # fmt: skip
    prefixes = ("csv.", "json.", "raw.", "debezium-json.", "canal-json.", "maxwell-json.", "parquet.")
    metadata_keys = ("file.path", "file.name", "file.size", "file.modification-time")

    def changelog(self, table: ConnectorTable) -> str:
        return "I" if table.options.get("format") in (None, "parquet") else format_of(table)[0].changelog

    def accepts(self, table: ConnectorTable) -> str:
        return self.changelog(table)

    def source(self, table: ConnectorTable) -> TableSource:
        interval = table.millis("source.monitor-interval")
        if interval is not None and table.bounded:
            raise ProgramError(
                f"'source.monitor-interval' of {table.name} makes it endless: leave it out in batch mode."
            )
        path = file_location(table.text("path"), f"The table {table.name}")
        planner = Files(_file_format(table), [path], interval)
        return TableSource(
            planner,
            table.name,
            parallelism=table.number("scan.parallelism", 0) or None,
        )

    def sink(self, table: ConnectorTable) -> TableSink:
        stored = _in_files(table)
        parquet = table.text("format") == "parquet"
        _refuse_avro(table)
        encoder = None
        if not parquet:
            found, options = format_of(table)
            encoder = found.encoder_of(stored, options)
        sink = TableFileSink(
            file_location(table.text("path"), f"The table {table.name}"),
            table.row_type,
            _keys(table),
            table.options.get("partition.default-name", _DEFAULT_PARTITION),
            encoder,
            OnCheckpointRollingPolicy() if parquet else _rolling(table),
            table.millis("sink.rolling-policy.check-interval", _MINUTE) or _MINUTE,
        )
        return TableSink(sink, table.name, parallelism=table.number("sink.parallelism", 0) or None)


def _refuse_avro(table: ConnectorTable) -> None:
    if table.text("format") == "avro":
        raise NotSupportedError(f"Avro files of {table.name} are not there: use parquet; avro is for messages.")


def _rolling(table: ConnectorTable) -> DefaultRollingPolicy:
    size = bytes_of(table.options.get("sink.rolling-policy.file-size", "128 mb"))
    rollover = table.millis("sink.rolling-policy.rollover-interval", 30 * _MINUTE)
    inactive = table.millis("sink.rolling-policy.inactivity-interval", 30 * _MINUTE)
    return DefaultRollingPolicy(None, size, rollover or 0, inactive or 0)


def _keys(table: ConnectorTable) -> tuple[int, ...]:
    names = [field.name for field in table.fields]
    missing = [key for key in table.partition_keys if key not in names]
    if missing:
        raise ProgramError(f"PARTITIONED BY: the table {table.name} has no column {missing[0]!r}.")
    return tuple(names.index(key) for key in table.partition_keys)


def _in_files(table: ConnectorTable) -> Fields:
    """The columns that files hold: partition columns are in their paths."""
    return tuple(field for field in table.physical if field.name not in table.partition_keys)


def _file_format(table: ConnectorTable) -> FileFormat:
    stored, name = _in_files(table), table.text("format")
    _refuse_avro(table)
    default = table.options.get("partition.default-name", _DEFAULT_PARTITION)
    if name == "parquet":
        return ParquetTableFile(table, stored, default)
    found, options = format_of(table)
    decoder = found.decoder_of(stored, options)
    if isinstance(decoder, CsvDecoder):
        return CsvTableFile(table, decoder, dialect_of(options), default)
    return LinesTableFile(table, decoder, default)

"""Tables of files: csv, json and raw lines, Parquet, ORC, Avro; partitions are directories."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from penstock.common.errors import NotSupportedError, ProgramError
from penstock.common.option_values import bytes_of
from penstock.connectors.files.bucket_assigners import BucketAssigner
from penstock.connectors.files.location import file_location
from penstock.connectors.files.reading import Files
from penstock.connectors.files.rolling_policies import DefaultRollingPolicy, OnCheckpointRollingPolicy
from penstock.connectors.files.writer import FileSettings
from penstock.formats.file_formats import FileFormat
from penstock.table.connectors.avro_table_files import AvroFactory, AvroTableFile
from penstock.table.connectors.base import ConnectorTable, TableConnector, TableSink, TableSource
from penstock.table.connectors.columnar_files import OrcFactory, OrcTableFile, ParquetFactory, ParquetTableFile
from penstock.table.connectors.overwriting_files import Overwritten
from penstock.table.connectors.partition_commit import PARTITION_OPTIONS, partition_commit_of
from penstock.table.connectors.table_file_sink import TableFileSink
from penstock.table.connectors.table_file_writer import KEPT, FileLayout
from penstock.table.connectors.table_files import CsvTableFile, LinesTableFile
from penstock.table.formats.csv import CsvDecoder, dialect_of
from penstock.table.formats.registry import BINARY, FORMATS, format_of
from penstock.table.logical.nodes import Fields

_MINUTE = 60_000
_DEFAULT_PARTITION = "__DEFAULT_PARTITION__"
# Formats whose files are not lines: how they are read, and how they are written.
BULK: dict[str, tuple[Any, Any]] = {
    "avro": (AvroTableFile, AvroFactory),
    "orc": (OrcTableFile, OrcFactory),
    "parquet": (ParquetTableFile, ParquetFactory),
}


class FilesystemConnector(TableConnector):
    """`path` is a file or directory, `format` csv, json, raw, parquet, orc, avro or one of changes."""

    name = "filesystem"
    options = (
        "path", "format", "source.monitor-interval", "partition.default-name", "sink.parallelism", "scan.parallelism",
        "sink.rolling-policy.file-size", "sink.rolling-policy.rollover-interval", "sink.rolling-policy.check-interval",
        "sink.rolling-policy.inactivity-interval", *PARTITION_OPTIONS,
    )  # fmt: skip
    prefixes = (*(f"{name}." for name in FORMATS if name not in BINARY), "parquet.", "orc.")
    overwrites = True
    metadata_keys = ("file.path", "file.name", "file.size", "file.modification-time")

    def changelog(self, table: ConnectorTable) -> str:
        if table.options.get("format") in BINARY:
            raise NotSupportedError(
                f"The format '{table.options['format']}' of {table.name} is one of messages, as those of Kafka are:"
                " files of Avro are 'avro'."
            )
        return "I" if table.options.get("format") in (None, *BULK) else format_of(table)[0].changelog

    def reads_some_columns(self, options: Mapping[str, str]) -> bool:
        return options.get("format") in (*BULK, "json", "csv")

    def accepts(self, table: ConnectorTable) -> str:
        return self.changelog(table)

    def source(self, table: ConnectorTable) -> TableSource:
        interval = table.millis("source.monitor-interval")
        if interval is not None and table.bounded:
            raise ProgramError(
                f"'source.monitor-interval' of {table.name} makes it endless: leave it out in batch mode."
            )
        path = file_location(table.text("path"), f"The table {table.name}")
        # A table with partitions begins without any, as in Flink.
        planner = Files(_file_format(table), [path], interval, may_be_missing=bool(table.partition_keys))
        return TableSource(
            planner,
            table.name,
            parallelism=table.number("scan.parallelism", 0) or None,
        )

    def sink(self, table: ConnectorTable) -> TableSink:
        path = file_location(table.text("path"), f"The table {table.name}")
        layout = FileLayout(table.row_type, _keys(table), _default_partition(table))
        name = table.text("format")
        encoder = factory = None
        if name in BULK:
            options = {key: value for key, value in table.options.items() if key.startswith(f"{name}.")}
            factory = BULK[name][1](table.row_type, layout.stored, options)
        else:
            found, given = format_of(table)
            encoder = found.encoder_of(_in_files(table), given)
        settings = FileSettings(
            path,
            BucketAssigner.base_path_bucket_assigner(),
            OnCheckpointRollingPolicy() if factory is not None else _rolling(table),
            table.millis("sink.rolling-policy.check-interval", _MINUTE) or _MINUTE,
            "part",
            f".{name}" if factory is not None else "",
            encoder,
            factory,
        )
        overwritten = Overwritten(_replaced_directory(table, path)) if table.overwrite else None
        sink = TableFileSink(settings, layout, overwritten, partition_commit_of(table))
        return TableSink(sink, table.name, parallelism=table.number("sink.parallelism", 0) or None)


def _replaced_directory(table: ConnectorTable, path: str) -> str | None:
    """What INSERT OVERWRITE replaces whatever rows come: the table, or the partition that the statement names."""
    if not table.bounded:
        raise NotSupportedError(
            f"INSERT OVERWRITE {table.name} needs an end: run it in batch mode (EnvironmentSettings.in_batch_mode())."
        )
    static = dict(table.static_partition)
    if any(key not in static for key in table.partition_keys):
        return None
    return os.path.join(path, *(f"{key}={quote(str(static[key]), safe=KEPT)}" for key in table.partition_keys))


def _default_partition(table: ConnectorTable) -> str:
    return table.options.get("partition.default-name", _DEFAULT_PARTITION)


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
    """The columns that files hold, of those that are asked for: partition columns are in their paths."""
    return _without_partitions(table, table.physical)


def _without_partitions(table: ConnectorTable, fields: Fields) -> Fields:
    return tuple(field for field in fields if field.name not in table.partition_keys)


def _file_format(table: ConnectorTable) -> FileFormat:
    stored, name, default = _in_files(table), table.text("format"), _default_partition(table)
    if name in BULK:
        made: FileFormat = BULK[name][0](table, stored, default)
        return made
    found, options = format_of(table)
    decoder = found.decoder_of(stored, options)
    if isinstance(decoder, CsvDecoder):
        every = stored if table.declared is None else _without_partitions(table, table.declared)
        return CsvTableFile(table, decoder, every, dialect_of(options), default)
    return LinesTableFile(table, decoder, default)

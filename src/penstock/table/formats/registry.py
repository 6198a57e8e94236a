"""Every format of messages by its name."""

from __future__ import annotations

from penstock.common.errors import NotSupportedError, ProgramError
from penstock.table.connectors.base import ConnectorTable
from penstock.table.formats import avro, avro_confluent, change_json, csv, json, protobuf, raw
from penstock.table.formats.base import FormatOptions, TableFormat
from penstock.table.sql.errors import suggestion

FORMATS: dict[str, TableFormat] = {
    "avro": avro.FORMAT,
    "avro-confluent": avro_confluent.AVRO_CONFLUENT,
    "csv": csv.FORMAT,
    "json": json.FORMAT,
    "protobuf": protobuf.FORMAT,
    "raw": raw.FORMAT,
    "debezium-json": change_json.DEBEZIUM,
    "debezium-avro-confluent": avro_confluent.DEBEZIUM_AVRO_CONFLUENT,
    "ogg-json": change_json.OGG,
    "canal-json": change_json.CANAL,
    "maxwell-json": change_json.MAXWELL,
}
_FILES = ("orc", "parquet")
# Of which no line of a file can be made.
BINARY = ("avro-confluent", "debezium-avro-confluent", "protobuf")


def format_of(table: ConnectorTable, key: str = "format") -> tuple[TableFormat, FormatOptions]:
    """The format that an option names, with its own options: `json.ignore-parse-errors`, or `key.json. ..`."""
    name = table.text(key)
    if name not in FORMATS:
        if name in _FILES:
            raise NotSupportedError(f"The format '{name}' of {table.name} is one of files: use {', '.join(FORMATS)}.")
        raise ProgramError(f"'{key}' of {table.name} is '{name}', which is not known.{suggestion(name, FORMATS)}")
    prefix = f"{name}." if key == "format" else f"{key.removesuffix('.format')}.{name}."
    values = table.prefixed(prefix)
    if key == "value.format" and not values:
        values = table.prefixed(f"{name}.")
    if name.endswith("-confluent") and "topic" in table.options:  # as Flink's Kafka connectors name them
        part = "key" if key == "key.format" else "value"
        values = {"subject": f"{table.options['topic']}-{part}", **values}
    return FORMATS[name], FormatOptions(name, table.name, values, table.session.zone)

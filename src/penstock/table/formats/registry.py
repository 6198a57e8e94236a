"""Every format of messages by its name."""

from __future__ import annotations

from penstock.common.errors import NotSupportedError, ProgramError
from penstock.table.connectors.base import ConnectorTable
from penstock.table.formats import avro, change_json, csv, json, raw
from penstock.table.formats.base import FormatOptions, TableFormat
from penstock.table.sql.errors import suggestion

FORMATS: dict[str, TableFormat] = {
    "avro": avro.FORMAT,
    "csv": csv.FORMAT,
    "json": json.FORMAT,
    "raw": raw.FORMAT,
    "debezium-json": change_json.DEBEZIUM,
    "canal-json": change_json.CANAL,
    "maxwell-json": change_json.MAXWELL,
}
_LATER = ("avro-confluent", "debezium-avro-confluent", "ogg-json", "protobuf", "orc")


def format_of(table: ConnectorTable, key: str = "format") -> tuple[TableFormat, FormatOptions]:
    """The format that an option names, with its own options: `json.ignore-parse-errors`, or `key.json. ..`."""
    name = table.text(key)
    if name not in FORMATS:
        if name in _LATER:
            raise NotSupportedError(f"The format '{name}' of {table.name} is not there yet: use {', '.join(FORMATS)}.")
        raise ProgramError(f"'{key}' of {table.name} is '{name}', which is not known.{suggestion(name, FORMATS)}")
    prefix = f"{name}." if key == "format" else f"{key.removesuffix('.format')}.{name}."
    values = table.prefixed(prefix)
    if key == "value.format" and not values:
        values = table.prefixed(f"{name}.")
    return FORMATS[name], FormatOptions(name, table.name, values, table.session.zone)

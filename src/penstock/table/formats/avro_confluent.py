"""Avro messages with the number of their schema in a registry before them: rows, and changes as Debezium tells them."""

from __future__ import annotations

import datetime
import io
import json
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from penstock.columns.kernels.datum import from_plain
from penstock.columns.kernels.time_columns import unit
from penstock.columns.kernels.time_zone import PER_SECOND
from penstock.columns.typesystem import families
from penstock.columns.typesystem.base import DataType
from penstock.columns.typesystem.nested import ArrayType, MapType, MultisetType, RowType
from penstock.common.errors import JobExecutionError, ProgramError
from penstock.formats.avro_schema import fastavro
from penstock.runtime.batch import Kinds
from penstock.table.formats.avro import records_of, schema_of
from penstock.table.formats.base import Decoded, Decoder, Encoder, FormatOptions, TableFormat, every_message
from penstock.table.formats.change_json import debezium_changes
from penstock.table.formats.schema_registry import OPTIONS, SchemaRegistry, subject_of
from penstock.table.logical.nodes import Fields

_HEAD = struct.Struct(">bI")  # nothing, and the number of the schema
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_MICRO = datetime.timedelta(microseconds=1)


class _Messages:
    """Records out of messages, by the schema that each was written with."""

    def __init__(self, options: FormatOptions) -> None:
        options.checked(OPTIONS)
        self._registry = SchemaRegistry(options)
        self._parsed: dict[int, Any] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_parsed": {}}

    def record(self, message: bytes) -> dict[str, Any]:
        if len(message) < _HEAD.size or message[0] != 0:
            raise JobExecutionError(f"A message does not begin with the number of its schema: {message[:20]!r}")
        _, number = _HEAD.unpack_from(message)
        if number not in self._parsed:
            self._parsed[number] = fastavro().parse_schema(self._registry.schema(number))
        try:
            found = fastavro().schemaless_reader(io.BytesIO(message[_HEAD.size :]), self._parsed[number], None)
        except (ValueError, EOFError, IndexError, KeyError, TypeError) as error:
            raise JobExecutionError(f"A message is no Avro record of its schema {number}: {error}") from error
        if not isinstance(found, dict):
            raise JobExecutionError(f"The schema {number} of a message is no record.")
        return found


def _columns(records: Sequence[dict[str, Any]], fields: Fields) -> list[pa.Array]:
    """By name; a field that the writer did not know is null."""
    return [
        from_plain([_plain(record.get(field.name), field.data_type) for record in records], field.data_type)
        for field in fields
    ]


def _plain(value: Any, kind: DataType) -> Any:
    """A value of Avro's reader as columns take it: moments are ticks of the type's unit."""
    if value is None:
        return None
    if isinstance(kind, MultisetType):
        return value
    if isinstance(kind, ArrayType):
        return [_plain(item, kind.element_type) for item in value]
    if isinstance(kind, MapType):
        return {key: _plain(item, kind.value_type) for key, item in value.items()}
    if isinstance(kind, RowType):
        return tuple(_plain(value.get(field.name), field.data_type) for field in kind)
    if families.is_text(kind):
        return str(value)
    if isinstance(value, datetime.datetime):
        aware = value if value.tzinfo is not None else value.replace(tzinfo=datetime.UTC)
        return (aware - _EPOCH) // _MICRO * PER_SECOND[unit(kind)] // 1_000_000
    if isinstance(value, datetime.date):
        return (value - _EPOCH.date()).days
    if isinstance(value, datetime.time):
        of_day = datetime.timedelta(
            hours=value.hour, minutes=value.minute, seconds=value.second, microseconds=value.microsecond
        )
        return of_day // _MICRO * PER_SECOND[unit(kind)] // 1_000_000
    if families.is_timestamp(kind):
        return int(value) * PER_SECOND[unit(kind)] // 1_000
    return value


class ConfluentDecoder(Decoder):
    """One row in each message."""

    def __init__(self, fields: Fields, options: FormatOptions) -> None:
        super().__init__(fields)
        self._messages = _Messages(options)

    def decode(self, messages: Sequence[bytes]) -> Decoded:
        records = [self._messages.record(message) for message in messages]
        return Decoded(_columns(records, self.fields), every_message(len(messages)))


class DebeziumConfluentDecoder(Decoder):
    """One change in each message: an update gives the row before and the row after it."""

    def __init__(self, fields: Fields, options: FormatOptions) -> None:
        super().__init__(fields)
        self._messages, self._options = _Messages(options), options

    def decode(self, messages: Sequence[bytes]) -> Decoded:
        changes = []
        for place, message in enumerate(messages):
            if not message:
                continue  # a tombstone, which says nothing that the deletion before it has not said
            record = self._messages.record(message)
            try:
                changes += [(place, *change) for change in debezium_changes(record)]
            except (KeyError, TypeError, ValueError) as error:
                raise JobExecutionError(f"A {self._options.name} message cannot be read: {error}") from error
        kinds = np.array([kind for _, kind, _ in changes], np.int8)
        places = np.array([place for place, _, _ in changes], np.int64)
        return Decoded(_columns([row for _, _, row in changes], self.fields), places, kinds if kinds.any() else None)


class ConfluentEncoder(Encoder):
    """Registers the schema of the columns (or the one of the option) when the first row is written."""

    def __init__(self, fields: Fields, options: FormatOptions) -> None:
        super().__init__(fields)
        options.checked(OPTIONS)
        self._registry, self._subject = SchemaRegistry(options), subject_of(options)
        self._schema = self._written_schema(_given(options))
        self._parsed: Any = None
        self._head = b""

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_parsed": None}

    def _written_schema(self, given: Any) -> Any:
        return given or _row_schema(self.fields)

    def _records(self, columns: Sequence[pa.Array], kinds: Kinds | None) -> list[dict[str, Any]]:
        return list(records_of(columns, self.fields))

    def encode(self, columns: Sequence[pa.Array], kinds: Kinds | None, rows: int) -> list[bytes]:
        package = fastavro()
        if self._parsed is None:
            self._head = _HEAD.pack(0, self._registry.registered(self._subject, self._schema))
            self._parsed = package.parse_schema(self._schema)
        messages = []
        for record in self._records(columns, kinds):
            stream = io.BytesIO(self._head)
            stream.seek(0, io.SEEK_END)
            package.schemaless_writer(stream, self._parsed, record)
            messages.append(stream.getvalue())
        return messages


class DebeziumConfluentEncoder(ConfluentEncoder):
    """Each row becomes an insertion or a deletion, as Flink writes them."""

    def _written_schema(self, given: Any) -> Any:
        row = _row_schema(self.fields)
        before = {"name": "before", "type": ["null", row], "default": None}
        after = {"name": "after", "type": ["null", f"{row['namespace']}.{row['name']}"], "default": None}
        operation = {"name": "op", "type": ["null", "string"], "default": None}
        return given or {"type": "record", "name": "change", "fields": [before, after, operation]}

    def _records(self, columns: Sequence[pa.Array], kinds: Kinds | None) -> list[dict[str, Any]]:
        rows = super()._records(columns, kinds)
        gone = [False] * len(rows) if kinds is None else ((kinds == 1) | (kinds == 3)).tolist()
        return [
            {"before": row, "after": None, "op": "d"} if removed else {"before": None, "after": row, "op": "c"}
            for row, removed in zip(rows, gone, strict=True)
        ]


def _row_schema(fields: Fields) -> dict[str, Any]:
    return {**schema_of(fields, logical=True), "namespace": "org.apache.flink.avro.generated"}


def _given(options: FormatOptions) -> Any:
    text = options.text("schema")
    try:
        return None if text is None else json.loads(text)
    except ValueError as error:
        raise ProgramError(f"'{options.name}.schema' of {options.table} is no Avro schema: {error}") from None


AVRO_CONFLUENT = TableFormat(ConfluentDecoder, ConfluentEncoder)
DEBEZIUM_AVRO_CONFLUENT = TableFormat(DebeziumConfluentDecoder, DebeziumConfluentEncoder, "IUD")

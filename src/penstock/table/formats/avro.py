"""Avro messages: the bytes of a record of the schema that follows from the columns, as Flink derives it.

A message does not hold its schema, and logical types change no byte: moments are written as the whole numbers they are.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from penstock.columns.kernels.datum import from_plain, plain_values
from penstock.columns.typesystem import families, scalars
from penstock.columns.typesystem.base import DataType
from penstock.columns.typesystem.nested import ArrayType, MapType, MultisetType, RowType
from penstock.common.errors import JobExecutionError, NotSupportedError
from penstock.formats.avro_schema import fastavro
from penstock.runtime.batch import Kinds
from penstock.table.formats.base import Decoded, Decoder, Encoder, FormatOptions, TableFormat, every_message
from penstock.table.logical.nodes import Fields

_PLAIN: dict[type[DataType], str] = {
    scalars.BooleanType: "boolean",
    scalars.TinyIntType: "int",
    scalars.SmallIntType: "int",
    scalars.IntType: "int",
    scalars.BigIntType: "long",
    scalars.FloatType: "float",
    scalars.DoubleType: "double",
    scalars.CharType: "string",
    scalars.VarCharType: "string",
    scalars.BinaryType: "bytes",
    scalars.VarBinaryType: "bytes",
}


def schema_of(fields: Fields, logical: bool = False) -> dict[str, Any]:
    """With logical types, the schema of a file also says what the numbers of moments mean."""
    return _Schemas(logical).record("record", [(field.name, field.data_type) for field in fields])


class _Schemas:
    def __init__(self, logical: bool) -> None:
        self._logical = logical

    def record(self, name: str, fields: list[tuple[str, DataType]]) -> dict[str, Any]:
        inner: list[dict[str, Any]] = []
        for field, kind in fields:
            described = {"name": field, "type": self._schema(kind, f"{name}_{field}")}
            inner.append({**described, "default": None} if kind.is_nullable else described)
        return {"type": "record", "name": name, "fields": inner}

    def _schema(self, kind: DataType, name: str) -> Any:
        found = self._bare(kind, name)
        return ["null", found] if kind.is_nullable else found

    def _moment(self, plain: str, logical: str) -> Any:
        return {"type": plain, "logicalType": logical} if self._logical else plain

    def _bare(self, kind: DataType, name: str) -> Any:
        if isinstance(kind, scalars.DateType):
            return self._moment("int", "date")
        if type(kind) in _PLAIN:
            return _PLAIN[type(kind)]
        if isinstance(kind, scalars.DecimalType):
            return {"type": "bytes", "logicalType": "decimal", "precision": kind.precision, "scale": kind.scale}
        if isinstance(kind, scalars.TimeType) and kind.precision <= 3:
            return self._moment("int", "time-millis")
        if families.is_timestamp(kind) and getattr(kind, "precision", 9) <= 3:
            return self._moment("long", "timestamp-millis")  # as Flink's default, also without a zone
        if isinstance(kind, MultisetType):
            return {"type": "map", "values": "int"}
        if isinstance(kind, ArrayType):
            return {"type": "array", "items": self._schema(kind.element_type, f"{name}_item")}
        if isinstance(kind, MapType) and families.is_text(kind.key_type):
            return {"type": "map", "values": self._schema(kind.value_type, f"{name}_value")}
        if isinstance(kind, RowType):
            return self.record(name, [(field.name, field.data_type) for field in kind])
        raise NotSupportedError(
            f"Avro has no form for {kind.as_summary_string()}: moments have at most milliseconds, keys of maps are"
            " texts."
        )


def records_of(columns: Sequence[pa.Array], fields: Fields) -> Iterator[dict[str, Any]]:
    """Rows as Avro's writer takes them."""
    cells = []
    for column, field in zip(columns, fields, strict=True):
        plain = plain_values(column, field.data_type)
        cells.append([_scaled(value, field.data_type, True) for value in plain])
    names = [field.name for field in fields]
    return (dict(zip(names, row, strict=True)) for row in zip(*cells, strict=True))


def _scaled(value: Any, kind: DataType, to_avro: bool) -> Any:
    """Avro counts milliseconds also where a type has no fraction, and its rows are dictionaries."""
    if value is None:
        return None
    if isinstance(kind, MultisetType):
        return value
    if isinstance(kind, ArrayType):
        return [_scaled(item, kind.element_type, to_avro) for item in value]
    if isinstance(kind, MapType):
        return {key: _scaled(item, kind.value_type, to_avro) for key, item in value.items()}
    if isinstance(kind, RowType):
        if to_avro:
            return {f.name: _scaled(item, f.data_type, True) for f, item in zip(kind, value, strict=True)}
        return tuple(_scaled(value[f.name], f.data_type, False) for f in kind)
    seconds = families.is_moment(kind) and getattr(kind, "precision", None) == 0
    if not seconds:
        return value
    return value * 1000 if to_avro else value // 1000


class AvroDecoder(Decoder):
    """One record in each message."""

    def __init__(self, fields: Fields, options: FormatOptions) -> None:
        super().__init__(fields)
        options.checked(("timestamp_mapping.legacy", "encoding"))
        options.chosen("encoding", ("binary",), "binary")
        self._schema = schema_of(fields)
        self._parsed: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_parsed": None}

    def decode(self, messages: Sequence[bytes]) -> Decoded:
        package = fastavro()
        if self._parsed is None:
            self._parsed = package.parse_schema(self._schema)
        try:
            records = [package.schemaless_reader(io.BytesIO(message), self._parsed, None) for message in messages]
        except (ValueError, EOFError, IndexError, KeyError, TypeError) as error:
            raise JobExecutionError(f"A message is no Avro record of the table's columns: {error}") from error
        columns = [
            from_plain([_scaled(record[f.name], f.data_type, False) for record in records], f.data_type)
            for f in self.fields
        ]
        return Decoded(columns, every_message(len(messages)))


class AvroEncoder(Encoder):
    """One record for each row."""

    def __init__(self, fields: Fields, options: FormatOptions) -> None:
        super().__init__(fields)
        options.checked(("timestamp_mapping.legacy", "encoding"))
        options.chosen("encoding", ("binary",), "binary")
        self._schema = schema_of(fields)
        self._parsed: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_parsed": None}

    def encode(self, columns: Sequence[pa.Array], kinds: Kinds | None, rows: int) -> list[bytes]:
        package = fastavro()
        if self._parsed is None:
            self._parsed = package.parse_schema(self._schema)
        messages = []
        for record in records_of(columns, self.fields):
            stream = io.BytesIO()
            package.schemaless_writer(stream, self._parsed, record)
            messages.append(stream.getvalue())
        return messages


FORMAT = TableFormat(AvroDecoder, AvroEncoder)

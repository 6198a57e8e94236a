"""Rows as single Avro messages: the bytes of a record, without a file around it."""

from __future__ import annotations

import io
from typing import Any

from penstock.common.errors import NotSupportedError
from penstock.common.serialization import DeserializationSchema, SerializationSchema
from penstock.common.typeinfo import TypeInformation
from penstock.common.types import Row
from penstock.formats.avro_rows import record_of_row, row_of_record
from penstock.formats.avro_schema import AvroSchema, fastavro, row_type_of_avro

__all__ = ["AvroRowDeserializationSchema", "AvroRowSerializationSchema"]


class _AvroMessages:
    def __init__(self, record_class: str | None, avro_schema_string: str | None) -> None:
        if record_class is not None:
            raise NotSupportedError(
                f"{type(self).__name__}: {record_class!r} is a Java class; give avro_schema_string instead."
            )
        if avro_schema_string is None:
            raise TypeError("record_class or avro_schema_string should be specified.")
        self._schema = AvroSchema.parse_string(avro_schema_string)
        self._row_type = row_type_of_avro(self._schema)
        self._ready: tuple[Any, Any, Any] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_ready": None}

    def _tools(self) -> tuple[Any, Any, Any]:
        if self._ready is None:
            self._ready = self._schema.parsed(), row_of_record(self._row_type), record_of_row(self._row_type)
        return self._ready


class AvroRowDeserializationSchema(_AvroMessages, DeserializationSchema):
    """Reads messages as rows with the types of the schema."""

    def __init__(self, record_class: str | None = None, avro_schema_string: str | None = None) -> None:
        DeserializationSchema.__init__(self)
        _AvroMessages.__init__(self, record_class, avro_schema_string)

    def deserialize(self, message: bytes) -> Row:
        schema, row, _ = self._tools()
        try:
            read: Row = row(fastavro().schemaless_reader(io.BytesIO(message), schema, None))
        except (ValueError, EOFError, IndexError, KeyError, TypeError) as error:
            raise ValueError(f"Failed to deserialize Avro {message!r:.200}: {error}.") from error
        return read

    def get_produced_type(self) -> TypeInformation:
        return self._row_type


class AvroRowSerializationSchema(_AvroMessages, SerializationSchema):
    """Writes rows as messages."""

    def __init__(self, record_class: str | None = None, avro_schema_string: str | None = None) -> None:
        SerializationSchema.__init__(self)
        _AvroMessages.__init__(self, record_class, avro_schema_string)

    def serialize(self, element: Any) -> bytes:
        schema, _, record = self._tools()
        message = io.BytesIO()
        try:
            fastavro().schemaless_writer(message, schema, record(element))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise ValueError(f"Could not serialize {element!r:.200} as Avro of {self._schema}: {error}") from error
        return message.getvalue()

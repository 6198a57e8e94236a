"""Avro messages that name their schema: a zero byte, the schema's number in a registry, the bytes of the record."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

from penstock.common.serialization import DeserializationSchema, SerializationSchema
from penstock.common.typeinfo import RowTypeInfo, TypeInformation
from penstock.formats.avro_rows import record_of_row, row_of_record
from penstock.formats.avro_schema import AvroSchema, GenericRecordAvroTypeInfo, fastavro, row_type_of_avro
from penstock.formats.schema_registry import SchemaRegistry

__all__ = ["ConfluentRegistryAvroDeserializationSchema", "ConfluentRegistryAvroSerializationSchema"]

_MAGIC = 0
_HEADER = 5


class _RegistryAvro:
    def __init__(self, schema: AvroSchema | str, url: str, rows: bool) -> None:
        self._schema = schema if isinstance(schema, AvroSchema) else AvroSchema.parse_string(schema)
        self._registry = SchemaRegistry(url)
        self._text = str(self._schema)
        generic = GenericRecordAvroTypeInfo(self._schema)
        self._type: TypeInformation = row_type_of_avro(self._schema) if rows else generic
        self._convert = self._converter() if rows else _same
        self._parsed: dict[str, Any] = {}  # by its text

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_parsed": {}, "_convert": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._convert = self._converter() if isinstance(self._type, RowTypeInfo) else _same

    def _converter(self) -> Callable[[Any], Any]:
        raise NotImplementedError

    def _as_parsed(self, text: str) -> Any:
        if text not in self._parsed:
            self._parsed[text] = AvroSchema.parse_string(text).parsed()
        return self._parsed[text]


class ConfluentRegistryAvroDeserializationSchema(_RegistryAvro, DeserializationSchema):
    """Reads messages by the schema that each of them names, and gives them the form of this one (beyond PyFlink).

    Example::

        orders = ConfluentRegistryAvroDeserializationSchema.for_rows(schema, "http://registry:8081")
        builder.set_value_only_deserializer(orders)
    """

    def __init__(self, schema: AvroSchema | str, url: str, *, rows: bool = False) -> None:
        DeserializationSchema.__init__(self)
        _RegistryAvro.__init__(self, schema, url, rows)

    @staticmethod
    def for_generic(schema: AvroSchema | str, url: str) -> ConfluentRegistryAvroDeserializationSchema:
        """Records as dictionaries."""
        return ConfluentRegistryAvroDeserializationSchema(schema, url)

    @staticmethod
    def for_rows(schema: AvroSchema | str, url: str) -> ConfluentRegistryAvroDeserializationSchema:
        """Records as rows with the types of the schema."""
        return ConfluentRegistryAvroDeserializationSchema(schema, url, rows=True)

    def deserialize(self, message: bytes) -> Any:
        if len(message) < _HEADER or message[0] != _MAGIC:
            raise ValueError(
                f"This is no message of a schema registry, which begins with a zero byte and the number of its schema:"
                f" {message!r:.200}"
            )
        writer = self._as_parsed(self._registry.schema(int.from_bytes(message[1:_HEADER], "big")))
        reader = self._as_parsed(self._text)
        try:
            record = fastavro().schemaless_reader(io.BytesIO(message[_HEADER:]), writer, reader)
        except (ValueError, EOFError, IndexError, KeyError, TypeError, fastavro().read.SchemaResolutionError) as error:
            raise ValueError(f"Failed to deserialize Avro {message!r:.200}: {error}.") from error
        return self._convert(record)

    def _deserialize_all(self, messages: list[bytes]) -> list[Any]:
        return list(map(self.deserialize, messages))

    def _converter(self) -> Callable[[Any], Any]:
        return row_of_record(self._type) or _same

    def get_produced_type(self) -> TypeInformation:
        return self._type


class ConfluentRegistryAvroSerializationSchema(_RegistryAvro, SerializationSchema):
    """Writes messages that name their schema, which is registered under a subject (beyond PyFlink)."""

    def __init__(self, subject: str, schema: AvroSchema | str, url: str, *, rows: bool = False) -> None:
        SerializationSchema.__init__(self)
        _RegistryAvro.__init__(self, schema, url, rows)
        self._subject = subject

    @staticmethod
    def for_generic(subject: str, schema: AvroSchema | str, url: str) -> ConfluentRegistryAvroSerializationSchema:
        """Records are dictionaries."""
        return ConfluentRegistryAvroSerializationSchema(subject, schema, url)

    @staticmethod
    def for_rows(subject: str, schema: AvroSchema | str, url: str) -> ConfluentRegistryAvroSerializationSchema:
        """Records are rows, tuples or dictionaries with the fields of the schema."""
        return ConfluentRegistryAvroSerializationSchema(subject, schema, url, rows=True)

    def serialize(self, element: Any) -> bytes:
        number = self._registry.number(self._subject, self._text)
        message = io.BytesIO()
        message.write(bytes([_MAGIC]) + number.to_bytes(_HEADER - 1, "big"))
        try:
            fastavro().schemaless_writer(message, self._as_parsed(self._text), self._convert(element))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise ValueError(f"Could not serialize {element!r:.200} as Avro of {self._schema}: {error}") from error
        return message.getvalue()

    def _converter(self) -> Callable[[Any], Any]:
        return record_of_row(self._type) or _same


def _same(value: Any) -> Any:
    return value

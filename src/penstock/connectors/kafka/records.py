"""From Kafka's messages to records."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from penstock.common.errors import ProgramError
from penstock.common.serialization import DeserializationSchema
from penstock.common.typeinfo import TypeInformation, Types
from penstock.common.utils import refuse_java_object
from penstock.formats.decoding import Decoded, decode

__all__ = ["KafkaRecord", "KafkaRecordDeserializationSchema"]


class KafkaRecord(NamedTuple):
    """A message with all that Kafka knows about it."""

    topic: str
    partition: int
    offset: int
    timestamp: int  # epoch milliseconds, -1 if it has none
    key: bytes | None
    value: bytes | None
    headers: list[tuple[str, bytes | None]]


class KafkaRecordDeserializationSchema(DeserializationSchema):
    """Turns messages into records. Subclass it to see more than the value::

        class KeyAndValue(KafkaRecordDeserializationSchema):
            def deserialize_record(self, record):
                return record.key.decode(), record.value.decode()

            def get_produced_type(self):
                return Types.TUPLE([Types.STRING(), Types.STRING()])

    A record for which it returns None is left out.
    """

    def __init__(self, j_deserialization_schema: Any = None) -> None:
        refuse_java_object(
            type(self).__name__,
            "j_deserialization_schema",
            j_deserialization_schema,
            "Use value_only(schema) or records(), or write a subclass in Python.",
        )

    @staticmethod
    def value_only(deserialization_schema: DeserializationSchema) -> KafkaRecordDeserializationSchema:
        """Only the value, read by a schema. A message without value (a tombstone) is no record."""
        return _ValueOnly(deserialization_schema)

    @staticmethod
    def records() -> KafkaRecordDeserializationSchema:
        """The messages as :class:`KafkaRecord`, with key, headers, timestamp, partition and offset (beyond PyFlink)."""
        return KafkaRecordDeserializationSchema()

    def deserialize_record(self, record: KafkaRecord) -> Any:
        return record

    def deserialize(self, message: Any) -> Any:
        return self.deserialize_record(message)

    def get_produced_type(self) -> TypeInformation:
        return Types.PICKLED_BYTE_ARRAY()

    def _parts(self, messages: list[Any]) -> list[Any]:
        """What is read of the client's messages, which are not kept until they are decoded."""
        return [_record_of(message) for message in messages]

    def _decode(self, parts: list[Any]) -> Decoded:
        return decode(self, parts)

    def _bytes(self, part: Any) -> bytes:
        """The value of a message that could not be decoded."""
        return part.value or b""


class _ValueOnly(KafkaRecordDeserializationSchema):
    def __init__(self, schema: DeserializationSchema) -> None:
        super().__init__()
        if not isinstance(schema, DeserializationSchema):
            raise ProgramError(
                f"value_only() takes a DeserializationSchema such as SimpleStringSchema(), got {schema!r}"
            )
        self._schema = schema
        self._value: Callable[[Any], Any] | None = None

    def get_produced_type(self) -> TypeInformation:
        return self._schema.get_produced_type()

    def deserialize_record(self, record: KafkaRecord) -> Any:
        return None if record.value is None else self._schema.deserialize(record.value)

    def _parts(self, messages: list[Any]) -> list[Any]:
        return list(map(type(messages[0]).value, messages))

    def _decode(self, parts: list[Any]) -> Decoded:
        return decode(self._schema, parts)

    def _bytes(self, part: Any) -> bytes:
        return part or b""


def _record_of(message: Any) -> KafkaRecord:
    return KafkaRecord(
        message.topic(),
        message.partition(),
        message.offset(),
        message.timestamp()[1],
        message.key(),
        message.value(),
        message.headers() or [],
    )

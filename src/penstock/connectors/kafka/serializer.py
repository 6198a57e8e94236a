"""From records to Kafka's messages."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

from penstock.common.errors import ProgramError
from penstock.common.serialization import SerializationSchema
from penstock.common.utils import refuse_java_object
from penstock.functions.sink import Records

__all__ = ["KafkaRecordSerializationSchema", "KafkaRecordSerializationSchemaBuilder", "KafkaTopicSelector"]

Headers = list[tuple[str, bytes | None]]


class KafkaTopicSelector(ABC):
    """Chooses the topic of each record."""

    @abstractmethod
    def apply(self, data: Any) -> str: ...


class Messages(NamedTuple):
    """Records as bytes, by columns; None stands for a column that is the same everywhere: no key, no headers, ..."""

    topics: str | list[str]
    values: list[bytes]
    keys: list[bytes] | None
    timestamps: list[int] | None  # epoch milliseconds, 0 for the moment of sending
    partitions: list[int] | None  # -1: by the hash of the key, or any
    headers: list[Headers] | None

    @property
    def all_topics(self) -> set[str]:
        return {self.topics} if isinstance(self.topics, str) else set(self.topics)

    def size(self) -> int:
        return sum(map(len, self.values)) + sum(map(len, self.keys or ()))


Partitioner = Callable[[Any, bytes | None, bytes, str], int]


class KafkaRecordSerializationSchema(SerializationSchema):
    """Says topic, key and value of each record; made by its :meth:`builder`."""

    def __init__(
        self,
        j_serialization_schema: Any = None,
        topic_selector: KafkaTopicSelector | None = None,
        *,
        topic: str | None = None,
        key: SerializationSchema | None = None,
        value: SerializationSchema | None = None,
        partitioner: Partitioner | None = None,
        headers: Callable[[Any], Headers] | None = None,
    ) -> None:
        refuse_java_object(
            "KafkaRecordSerializationSchema",
            "j_serialization_schema",
            j_serialization_schema,
            "Use KafkaRecordSerializationSchema.builder().",
        )
        if value is None:
            raise ProgramError("Make a KafkaRecordSerializationSchema with its builder().")
        self._topic = topic
        self._select = None if topic_selector is None else topic_selector.apply
        self._key = key
        self._value = value
        self._partitioner = partitioner
        self._headers = headers
        self.writes_timestamps = True

    @staticmethod
    def builder() -> KafkaRecordSerializationSchemaBuilder:
        return KafkaRecordSerializationSchemaBuilder()

    def messages(self, records: Records) -> Messages:
        elements = records.values
        topics = self._topic if self._select is None else list(map(self._select, elements))
        assert topics is not None
        values = self._value._serialize_all(elements)
        keys = None if self._key is None else self._key._serialize_all(elements)
        return Messages(
            topics,
            values,
            keys,
            self._timestamps(records),
            None if self._partitioner is None else self._partitions(elements, keys, values, topics),
            None if self._headers is None else list(map(self._headers, elements)),
        )

    def _timestamps(self, records: Records) -> list[int] | None:
        """Those of the records; Kafka has no negative ones."""
        timestamps = records.timestamps if self.writes_timestamps else None
        if timestamps is None or min(timestamps, default=1) > 0:
            return timestamps
        return [max(0, timestamp) for timestamp in timestamps]

    def _partitions(self, elements: list[Any], keys: Any, values: list[bytes], topics: Any) -> list[int]:
        assert self._partitioner is not None
        count = len(elements)
        names = [topics] * count if isinstance(topics, str) else topics
        return list(map(self._partitioner, elements, keys or [None] * count, values, names))


class KafkaRecordSerializationSchemaBuilder:
    """Settings of a :class:`KafkaRecordSerializationSchema`: a topic or selector, and how values are written."""

    def __init__(self) -> None:
        self._given: dict[str, Any] = {}

    def build(self) -> KafkaRecordSerializationSchema:
        if ("topic" in self._given) == ("topic_selector" in self._given):
            raise ProgramError("A record serializer needs either set_topic() or set_topic_selector().")
        if "value" not in self._given:
            raise ProgramError("A record serializer needs set_value_serialization_schema().")
        return KafkaRecordSerializationSchema(**self._given)

    def set_topic(self, topic: str) -> KafkaRecordSerializationSchemaBuilder:
        if not isinstance(topic, str) or not topic:
            raise ProgramError(f"set_topic() takes the name of a topic, got {topic!r}")
        return self._set(topic=topic)

    def set_topic_selector(
        self, topic_selector: Callable[[Any], str] | KafkaTopicSelector
    ) -> KafkaRecordSerializationSchemaBuilder:
        """A function from a record to the name of its topic."""
        if not isinstance(topic_selector, KafkaTopicSelector):
            if not callable(topic_selector):
                raise TypeError("topic_selector must be KafkaTopicSelector or a callable")
            topic_selector = _FunctionAsSelector(topic_selector)
        return self._set(topic_selector=topic_selector)

    def set_key_serialization_schema(
        self, key_serialization_schema: SerializationSchema
    ) -> KafkaRecordSerializationSchemaBuilder:
        """Makes the messages' keys of the records; without one they have none."""
        return self._set(key=_schema(key_serialization_schema, "set_key_serialization_schema"))

    def set_value_serialization_schema(
        self, value_serialization_schema: SerializationSchema
    ) -> KafkaRecordSerializationSchemaBuilder:
        return self._set(value=_schema(value_serialization_schema, "set_value_serialization_schema"))

    def set_partitioner(self, partitioner: Partitioner) -> KafkaRecordSerializationSchemaBuilder:
        """A function ``(record, key, value, topic) -> partition``, as in Flink's Java API.

        Without it keys decide by their hash, the same as with Kafka's own client, and messages without key are spread.
        """
        return self._set(partitioner=partitioner)

    def set_header_provider(self, header_provider: Callable[[Any], Headers]) -> KafkaRecordSerializationSchemaBuilder:
        """A function from a record to headers ``[(name, bytes)]``, as in Flink's Java API."""
        return self._set(headers=header_provider)

    def _set(self, **given: Any) -> KafkaRecordSerializationSchemaBuilder:
        self._given.update(given)
        return self


class _FunctionAsSelector(KafkaTopicSelector):
    def __init__(self, function: Callable[[Any], str]) -> None:
        self._function = function

    def apply(self, data: Any) -> str:
        return self._function(data)


def _schema(given: Any, method: str) -> SerializationSchema:
    if not isinstance(given, SerializationSchema):
        raise ProgramError(f"{method}() takes a SerializationSchema such as SimpleStringSchema(), got {given!r}")
    return given

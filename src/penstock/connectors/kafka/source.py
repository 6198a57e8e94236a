"""KafkaSource and its builder."""

from __future__ import annotations

import re
from typing import Any

from penstock.common.errors import ProgramError
from penstock.common.serialization import DeserializationSchema
from penstock.common.typeinfo import TypeInformation
from penstock.common.utils import refuse_java_object
from penstock.connectors.kafka.enumerator import KafkaEnumerator
from penstock.connectors.kafka.offsets import KafkaOffsetsInitializer, KafkaTopicPartition
from penstock.connectors.kafka.reader import KafkaReader
from penstock.connectors.kafka.records import KafkaRecordDeserializationSchema
from penstock.connectors.kafka.settings import KafkaSettings, new_client
from penstock.connectors.kafka.subscription import Subscription
from penstock.functions.bad_records import BadRecords
from penstock.functions.source import EnumeratorContext, ReaderContext, Source

__all__ = ["KafkaSource", "KafkaSourceBuilder"]


class KafkaSource(Source):
    """Reads topics::

        source = (
            KafkaSource.builder()
            .set_bootstrap_servers("localhost:9092")
            .set_topics("orders")
            .set_group_id("billing")
            .set_starting_offsets(KafkaOffsetsInitializer.earliest())
            .set_value_only_deserializer(SimpleStringSchema())
            .build()
        )
        env.from_source(source, WatermarkStrategy.no_watermarks(), "orders")

    Records carry Kafka's timestamps. Positions belong to the job's snapshots; the group's committed offsets are only
    for those who watch.
    """

    def __init__(
        self,
        j_kafka_source: Any = None,
        *,
        settings: KafkaSettings | None = None,
        subscription: Subscription | None = None,
        starting: KafkaOffsetsInitializer | None = None,
        stopping: KafkaOffsetsInitializer | None = None,
        bounded: bool = False,
        schema: KafkaRecordDeserializationSchema | None = None,
        bad_records: BadRecords | None = None,
    ) -> None:
        refuse_java_object("KafkaSource", "j_kafka_source", j_kafka_source, "Use KafkaSource.builder().")
        if settings is None or subscription is None or schema is None:
            raise ProgramError("Make a KafkaSource with KafkaSource.builder().")
        self._settings = settings
        self._subscription = subscription
        self._starting = starting or KafkaOffsetsInitializer.earliest()
        self._stopping = stopping
        self._schema = schema
        self.bounded = bounded
        self.bad_records = bad_records

    @staticmethod
    def builder() -> KafkaSourceBuilder:
        return KafkaSourceBuilder()

    def create_enumerator(self, context: EnumeratorContext) -> KafkaEnumerator:
        return KafkaEnumerator(self._settings, self._subscription, self._starting, self._stopping)

    def create_reader(self, context: ReaderContext) -> KafkaReader:
        reader = KafkaReader(self._settings, self._schema, self._starting.auto_offset_reset, context.subtask)
        context.metrics.gauge("pendingRecords", reader.pending_records)
        return reader

    def get_produced_type(self) -> TypeInformation:
        return self._schema.get_produced_type()


class KafkaSourceBuilder:
    """Settings of a :class:`KafkaSource`: servers, what to read, and a deserializer are needed."""

    def __init__(self) -> None:
        self._properties: dict[str, Any] = {}
        self._subscriptions: list[Subscription] = []
        self._starting = KafkaOffsetsInitializer.earliest()
        self._stopping: KafkaOffsetsInitializer | None = None
        self._bounded = False
        self._schema: KafkaRecordDeserializationSchema | None = None
        self._bad_records: BadRecords | None = None

    def build(self) -> KafkaSource:
        if len(self._subscriptions) != 1:
            raise ProgramError(
                "A KafkaSource reads by one of set_topics(), set_topic_pattern() and set_partitions();"
                f" {len(self._subscriptions)} of them were called."
            )
        if self._schema is None:
            raise ProgramError(
                "A KafkaSource needs a deserializer: call set_value_only_deserializer() or set_deserializer()."
            )
        settings = checked_settings(self._properties, "KafkaSource", "Consumer")
        for initializer in (self._starting, self._stopping):
            if initializer is not None and initializer.needs_group and settings.get("group.id") is None:
                raise ProgramError("Committed offsets are those of a group: call set_group_id().")
        return KafkaSource(
            settings=settings,
            subscription=self._subscriptions[0],
            starting=self._starting,
            stopping=self._stopping,
            bounded=self._bounded,
            schema=self._schema,
            bad_records=self._bad_records,
        )

    def set_bootstrap_servers(self, bootstrap_servers: str) -> KafkaSourceBuilder:
        """``host:port`` of some brokers, separated by commas."""
        return self.set_property("bootstrap.servers", bootstrap_servers)

    def set_group_id(self, group_id: str) -> KafkaSourceBuilder:
        """Under which offsets are committed with every epoch, for monitoring."""
        return self.set_property("group.id", group_id)

    def set_topics(self, *topics: str) -> KafkaSourceBuilder:
        listed = [each if isinstance(each, list | tuple | set) else [each] for each in topics]
        names = tuple(name for each in listed for name in each)
        if not names or not all(isinstance(name, str) and name for name in names):
            raise ProgramError(f"set_topics() takes names of topics, got {topics!r}")
        return self._subscribe(Subscription(topics=names))

    def set_topic_pattern(self, topic_pattern: str) -> KafkaSourceBuilder:
        """All topics whose whole name matches; also those that come later."""
        try:
            re.compile(topic_pattern)
        except (re.error, TypeError) as error:
            raise ProgramError(f"set_topic_pattern() got {topic_pattern!r}, which is no pattern: {error}") from None
        return self._subscribe(Subscription(pattern=topic_pattern))

    def set_partitions(self, partitions: set[KafkaTopicPartition]) -> KafkaSourceBuilder:
        if not partitions or not all(isinstance(each, KafkaTopicPartition) for each in partitions):
            raise ProgramError(f"set_partitions() takes a set of KafkaTopicPartition, got {partitions!r}")
        return self._subscribe(Subscription(partitions=frozenset(partitions)))

    def _subscribe(self, subscription: Subscription) -> KafkaSourceBuilder:
        self._subscriptions.append(subscription)
        return self

    def set_starting_offsets(self, starting_offsets_initializer: KafkaOffsetsInitializer) -> KafkaSourceBuilder:
        """Where a job begins that does not go on from a snapshot; the earliest record if nothing is said."""
        self._starting = checked_initializer("set_starting_offsets", starting_offsets_initializer)
        return self

    def set_unbounded(self, stopping_offsets_initializer: KafkaOffsetsInitializer) -> KafkaSourceBuilder:
        """A streaming source that nevertheless ends when all partitions have reached these offsets."""
        self._stopping, self._bounded = checked_initializer("set_unbounded", stopping_offsets_initializer), False
        return self

    def set_bounded(self, stopping_offsets_initializer: KafkaOffsetsInitializer) -> KafkaSourceBuilder:
        """A bounded source: reads each partition up to these offsets, as they are when the job starts."""
        self._stopping, self._bounded = checked_initializer("set_bounded", stopping_offsets_initializer), True
        return self

    def set_value_only_deserializer(self, deserialization_schema: DeserializationSchema) -> KafkaSourceBuilder:
        """Records are the messages' values, as the schema reads them."""
        self._schema = KafkaRecordDeserializationSchema.value_only(deserialization_schema)
        return self

    def set_deserializer(self, deserializer: KafkaRecordDeserializationSchema) -> KafkaSourceBuilder:
        """Records are made of key, value, headers and all else that Kafka knows (as in Flink's Java API)."""
        if not isinstance(deserializer, KafkaRecordDeserializationSchema):
            raise ProgramError(f"set_deserializer() takes a KafkaRecordDeserializationSchema, got {deserializer!r}")
        self._schema = deserializer
        return self

    def set_bad_records(self, bad_records: BadRecords) -> KafkaSourceBuilder:
        """What becomes of messages that cannot be decoded (beyond PyFlink); the job fails if nothing is said."""
        if not isinstance(bad_records, BadRecords):
            raise ProgramError(f"set_bad_records() takes BadRecords.fail(), skip() or to(tag), got {bad_records!r}")
        self._bad_records = bad_records
        return self

    def set_client_id_prefix(self, prefix: str) -> KafkaSourceBuilder:
        return self.set_property("client.id.prefix", prefix)

    def set_property(self, key: str, value: str) -> KafkaSourceBuilder:
        """A setting of Kafka's consumer, or ``partition.discovery.interval.ms``, ``commit.offsets.on.checkpoint``."""
        self._properties[key] = value
        return self

    def set_properties(self, props: dict[Any, Any]) -> KafkaSourceBuilder:
        self._properties.update(props)
        return self


def checked_initializer(method: str, given: Any) -> KafkaOffsetsInitializer:
    if not isinstance(given, KafkaOffsetsInitializer):
        raise ProgramError(f"{method}() takes a KafkaOffsetsInitializer such as earliest(), got {given!r}")
    return given


def checked_settings(properties: dict[Any, Any], what: str, client: str) -> KafkaSettings:
    """Settings that the client accepts: a wrong one shall fail where it is written down."""
    settings = KafkaSettings(properties)
    if not settings.servers:
        raise ProgramError(f"A {what} needs set_bootstrap_servers('host:port').")
    check_client(settings, client)
    return settings


def check_client(settings: KafkaSettings, client: str) -> None:
    settings.check()
    defaults = {"group__id": "penstock"} if client == "Consumer" else {}
    new_client(client, {**settings.for_client(**defaults), "log_level": 0})

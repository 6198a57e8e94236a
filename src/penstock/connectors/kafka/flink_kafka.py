"""Flink's older Kafka connector: its names, on top of KafkaSource and KafkaSink."""

from __future__ import annotations

from enum import Enum
from typing import Any

from penstock.common.errors import ProgramError
from penstock.common.serialization import DeserializationSchema, SerializationSchema
from penstock.common.typeinfo import TypeInformation
from penstock.common.utils import refuse_java_object
from penstock.connectors.base import DeliveryGuarantee
from penstock.connectors.kafka.offsets import KafkaOffsetResetStrategy, KafkaOffsetsInitializer
from penstock.connectors.kafka.serializer import KafkaRecordSerializationSchema
from penstock.connectors.kafka.settings import COMMIT_OFFSETS
from penstock.connectors.kafka.sink import KafkaSink
from penstock.connectors.kafka.source import KafkaSource, KafkaSourceBuilder, checked_settings
from penstock.functions.source_sink import SinkFunction, SourceFunction

__all__ = ["FlinkKafkaConsumer", "FlinkKafkaConsumerBase", "FlinkKafkaProducer", "FlinkKafkaProducerBase", "Semantic"]


class FlinkKafkaConsumerBase(SourceFunction):
    """What consumers of several versions had in common."""

    def __init__(self, j_flink_kafka_consumer: Any = None) -> None:
        refuse_java_object(type(self).__name__, "j_flink_kafka_consumer", j_flink_kafka_consumer, "Use KafkaSource.")
        self._builder = KafkaSourceBuilder()
        self._schema: DeserializationSchema

    def set_commit_offsets_on_checkpoints(self, commit_on_checkpoints: bool) -> FlinkKafkaConsumerBase:
        self._builder.set_property(COMMIT_OFFSETS, str(commit_on_checkpoints).lower())
        return self

    def set_start_from_earliest(self) -> FlinkKafkaConsumerBase:
        return self._start(KafkaOffsetsInitializer.earliest())

    def set_start_from_latest(self) -> FlinkKafkaConsumerBase:
        return self._start(KafkaOffsetsInitializer.latest())

    def set_start_from_timestamp(self, startup_offsets_timestamp: int) -> FlinkKafkaConsumerBase:
        return self._start(KafkaOffsetsInitializer.timestamp(startup_offsets_timestamp))

    def set_start_from_group_offsets(self) -> FlinkKafkaConsumerBase:
        """The default: at what the group has committed, else as ``auto.offset.reset`` says."""
        resets = {"earliest": KafkaOffsetResetStrategy.EARLIEST, "none": KafkaOffsetResetStrategy.NONE}
        reset = resets.get(str(self._builder._properties.get("auto.offset.reset")), KafkaOffsetResetStrategy.LATEST)
        return self._start(KafkaOffsetsInitializer.committed_offsets(reset))

    def _start(self, initializer: KafkaOffsetsInitializer) -> FlinkKafkaConsumerBase:
        self._builder.set_starting_offsets(initializer)
        return self

    def disable_filter_restored_partitions_with_subscribed_topics(self) -> FlinkKafkaConsumerBase:
        """Partitions of a savepoint are never filtered here, so there is nothing to switch off."""
        return self

    def get_produced_type(self) -> TypeInformation:
        return self._schema.get_produced_type()

    def run(self, ctx: Any) -> None:
        raise ProgramError("A FlinkKafkaConsumer is read by env.add_source(consumer)")

    def _as_source(self) -> KafkaSource:
        return self._builder.build()


class FlinkKafkaConsumer(FlinkKafkaConsumerBase):
    """Reads topics with ``env.add_source``. New programs take KafkaSource, which this is underneath."""

    def __init__(
        self, topics: str | list[str], deserialization_schema: DeserializationSchema, properties: dict[Any, Any]
    ) -> None:
        super().__init__()
        self._schema = deserialization_schema
        names = [topics] if isinstance(topics, str) else topics
        self._builder.set_topics(*names).set_properties(properties).set_value_only_deserializer(deserialization_schema)
        self.set_start_from_group_offsets()


class Semantic(Enum):
    """What a FlinkKafkaProducer promises."""

    EXACTLY_ONCE = 0
    AT_LEAST_ONCE = 1
    NONE = 2


class FlinkKafkaProducerBase(SinkFunction):
    """What producers of several versions had in common."""

    def __init__(self, j_flink_kafka_producer: Any = None) -> None:
        refuse_java_object(type(self).__name__, "j_flink_kafka_producer", j_flink_kafka_producer, "Use KafkaSink.")
        self._logs_failures = False
        self._flushes = True
        self._writes_timestamps = False

    def set_log_failures_only(self, log_failures_only: bool) -> FlinkKafkaProducerBase:
        """Records that Kafka does not take are told in the log, instead of failing the job."""
        self._logs_failures = log_failures_only
        return self

    def set_flush_on_checkpoint(self, flush_on_checkpoint: bool) -> FlinkKafkaProducerBase:
        """False gives up AT_LEAST_ONCE."""
        self._flushes = flush_on_checkpoint
        return self

    def set_write_timestamp_to_kafka(self, write_timestamp_to_kafka: bool) -> FlinkKafkaProducerBase:
        """Messages carry the records' timestamps, instead of the moment of writing."""
        self._writes_timestamps = write_timestamp_to_kafka
        return self

    def invoke(self, value: Any, context: Any) -> None:
        raise ProgramError("A FlinkKafkaProducer is used with stream.add_sink(producer)")


class FlinkKafkaProducer(FlinkKafkaProducerBase):
    """Writes to a topic with ``stream.add_sink``. New programs take KafkaSink, which this is underneath.

    There is no pool of producers, so that its size means nothing here.
    """

    def __init__(
        self,
        topic: str,
        serialization_schema: SerializationSchema,
        producer_config: dict[Any, Any],
        kafka_producer_pool_size: int = 5,
        semantic: Semantic = Semantic.AT_LEAST_ONCE,
    ) -> None:
        super().__init__()
        if not isinstance(semantic, Semantic):
            raise ProgramError(f"FlinkKafkaProducer takes a Semantic, got {semantic!r}")
        serializer = KafkaRecordSerializationSchema.builder().set_topic(topic)
        self._serializer = serializer.set_value_serialization_schema(serialization_schema).build()
        self._settings = checked_settings(producer_config, "FlinkKafkaProducer", "Producer")
        self._semantic = semantic

    def ignore_failures_after_transaction_timeout(self) -> FlinkKafkaProducer:
        """No transaction is open while a job is down, so none can time out: nothing has to be ignored."""
        return self

    def _as_sink(self) -> KafkaSink:
        self._serializer.writes_timestamps = self._writes_timestamps
        guarantee = DeliveryGuarantee[self._semantic.name]
        if guarantee is DeliveryGuarantee.EXACTLY_ONCE and (self._logs_failures or not self._flushes):
            what = "set_log_failures_only(True)" if self._logs_failures else "set_flush_on_checkpoint(False)"
            raise ProgramError(f"FlinkKafkaProducer: {what} gives up records, and Semantic.EXACTLY_ONCE does not.")
        if guarantee is DeliveryGuarantee.AT_LEAST_ONCE and not self._flushes:
            guarantee = DeliveryGuarantee.NONE
        return KafkaSink(
            settings=self._settings,
            serializer=self._serializer,
            guarantee=guarantee,
            prefix="penstock",
            logs_failures=self._logs_failures,
        )

"""KafkaSink and its builder."""

from __future__ import annotations

from typing import Any

from penstock.common.errors import ProgramError
from penstock.common.utils import refuse_java_object
from penstock.connectors.base import DeliveryGuarantee, StreamTransformer, SupportsPreprocessing
from penstock.connectors.kafka.committer import TransactionCommitter
from penstock.connectors.kafka.serializer import KafkaRecordSerializationSchema
from penstock.connectors.kafka.settings import KafkaSettings
from penstock.connectors.kafka.source import checked_settings
from penstock.connectors.kafka.staging import StagingWriter
from penstock.connectors.kafka.transactions import TransactionLane
from penstock.connectors.kafka.writer import KafkaWriter
from penstock.functions.sink import Committer, CommitterContext, Sink, SinkWriter, WriterContext

__all__ = ["KafkaSink", "KafkaSinkBuilder"]


class KafkaSink(Sink, SupportsPreprocessing):
    """Writes to topics::

        sink = (
            KafkaSink.builder()
            .set_bootstrap_servers("localhost:9092")
            .set_record_serializer(
                KafkaRecordSerializationSchema.builder()
                .set_topic("results")
                .set_value_serialization_schema(SimpleStringSchema())
                .build()
            )
            .set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE)
            .set_transactional_id_prefix("billing")
            .build()
        )
        stream.sink_to(sink)

    With EXACTLY_ONCE readers must say ``isolation.level=read_committed``; an epoch becomes visible at once.
    """

    def __init__(
        self,
        j_kafka_sink: Any = None,
        transformer: StreamTransformer | None = None,
        *,
        settings: KafkaSettings | None = None,
        serializer: KafkaRecordSerializationSchema | None = None,
        guarantee: DeliveryGuarantee = DeliveryGuarantee.NONE,
        prefix: str = "",
        logs_failures: bool = False,
    ) -> None:
        refuse_java_object("KafkaSink", "j_kafka_sink", j_kafka_sink, "Use KafkaSink.builder().")
        if settings is None or serializer is None:
            raise ProgramError("Make a KafkaSink with KafkaSink.builder().")
        self._settings = settings
        self._serializer = serializer
        self._guarantee = guarantee
        self._prefix = prefix
        self._transformer = transformer
        self._logs_failures = logs_failures
        self.writers_hear_commits = guarantee is DeliveryGuarantee.EXACTLY_ONCE

    @staticmethod
    def builder() -> KafkaSinkBuilder:
        return KafkaSinkBuilder()

    def get_transformer(self) -> StreamTransformer | None:
        return self._transformer

    def create_writer(self, context: WriterContext) -> SinkWriter:
        if self._guarantee is DeliveryGuarantee.EXACTLY_ONCE:
            lane_id = f"{self._id(context)}/{context.subtask}"
            lane = TransactionLane(self._settings, lane_id, context.directory)
            return StagingWriter(self._serializer, context.directory, lane_id, lane)
        flushes = self._guarantee is DeliveryGuarantee.AT_LEAST_ONCE
        return KafkaWriter(self._settings, self._serializer, flushes, self._logs_failures)

    def create_committer(self, context: CommitterContext) -> Committer | None:
        if self._guarantee is not DeliveryGuarantee.EXACTLY_ONCE:
            return None
        return TransactionCommitter(self._settings, self._id(context), context)

    def _id(self, context: WriterContext | CommitterContext) -> str:
        """How the names of this sink's transactions begin, whoever runs the job."""
        return f"{self._prefix}-{context.job_id}-{context.operator_uid}"


class KafkaSinkBuilder:
    """Settings of a :class:`KafkaSink`: servers and a record serializer are needed."""

    def __init__(self) -> None:
        self._properties: dict[str, Any] = {}
        self._guarantee = DeliveryGuarantee.NONE
        self._serializer: KafkaRecordSerializationSchema | None = None
        self._prefix: str | None = None

    def build(self) -> KafkaSink:
        if self._serializer is None:
            raise ProgramError("A KafkaSink needs set_record_serializer().")
        if self._guarantee is DeliveryGuarantee.EXACTLY_ONCE and not self._prefix:
            raise ProgramError(
                "EXACTLY_ONCE delivery guarantee requires a transactionalIdPrefix to be set to provide unique"
                " transaction names across multiple KafkaSinks writing to the same Kafka cluster: call"
                " set_transactional_id_prefix()."
            )
        return KafkaSink(
            settings=checked_settings(self._properties, "KafkaSink", "Producer"),
            serializer=self._serializer,
            guarantee=self._guarantee,
            prefix=self._prefix or "",
        )

    def set_bootstrap_servers(self, bootstrap_servers: str) -> KafkaSinkBuilder:
        """``host:port`` of some brokers, separated by commas."""
        return self.set_property("bootstrap.servers", bootstrap_servers)

    def set_delivery_guarantee(self, delivery_guarantee: DeliveryGuarantee) -> KafkaSinkBuilder:
        """NONE if nothing is said, as in Flink."""
        if not isinstance(delivery_guarantee, DeliveryGuarantee):
            raise ProgramError(f"set_delivery_guarantee() takes a DeliveryGuarantee, got {delivery_guarantee!r}")
        self._guarantee = delivery_guarantee
        return self

    def set_transactional_id_prefix(self, transactional_id_prefix: str) -> KafkaSinkBuilder:
        """For EXACTLY_ONCE: how the names of its transactions begin."""
        self._prefix = transactional_id_prefix
        return self

    def set_record_serializer(self, record_serializer: KafkaRecordSerializationSchema) -> KafkaSinkBuilder:
        if not isinstance(record_serializer, KafkaRecordSerializationSchema):
            raise ProgramError(
                f"set_record_serializer() takes a KafkaRecordSerializationSchema, got {record_serializer!r}: make one"
                " with KafkaRecordSerializationSchema.builder()"
            )
        self._serializer = record_serializer
        return self

    def set_property(self, key: str, value: str) -> KafkaSinkBuilder:
        """A setting of Kafka's producer."""
        self._properties[key] = value
        return self

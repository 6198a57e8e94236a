"""Sources and sinks of the Kafka tests, as programs write them."""

from __future__ import annotations

import uuid
from typing import Any

from tests.services.kafka import KafkaBroker

from penstock.common import SimpleStringSchema
from penstock.datastream.connectors import DeliveryGuarantee
from penstock.datastream.connectors.kafka import (
    KafkaOffsetsInitializer,
    KafkaRecordSerializationSchema,
    KafkaSink,
    KafkaSource,
    KafkaSourceBuilder,
)


def strings_of(broker: KafkaBroker, *topics: str, **properties: str) -> KafkaSourceBuilder:
    """Reads what is there now, as text. Properties are written with underscores for dots."""
    builder = KafkaSource.builder().set_bootstrap_servers(broker.address).set_group_id(f"group-{uuid.uuid4().hex}")
    builder.set_bounded(KafkaOffsetsInitializer.latest()).set_value_only_deserializer(SimpleStringSchema())
    builder.set_properties({key.replace("_", "."): value for key, value in properties.items()})
    return builder.set_topics(*topics) if topics else builder


def text_sink(broker: KafkaBroker, topic: str, guarantee: DeliveryGuarantee, **properties: Any) -> KafkaSink:
    serializer = KafkaRecordSerializationSchema.builder().set_topic(topic)
    serializer.set_key_serialization_schema(SimpleStringSchema())
    serializer.set_value_serialization_schema(SimpleStringSchema())
    builder = KafkaSink.builder().set_bootstrap_servers(broker.address).set_record_serializer(serializer.build())
    for key, value in properties.items():
        builder.set_property(key.replace("_", "."), value)
    return builder.set_delivery_guarantee(guarantee).set_transactional_id_prefix("test").build()

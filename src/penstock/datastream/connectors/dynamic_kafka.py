"""Kafka streams by name, under the module path that PyFlink programs import them from."""

from __future__ import annotations

from penstock.connectors.kafka.dynamic import (
    ClusterMetadata,
    DynamicKafkaSource,
    DynamicKafkaSourceBuilder,
    KafkaMetadataService,
    KafkaStreamSetSubscriber,
    KafkaStreamSubscriber,
    SingleClusterTopicMetadataService,
    StreamPatternSubscriber,
)
from penstock.connectors.kafka.records import KafkaRecordDeserializationSchema

__all__ = [
    "ClusterMetadata",
    "DynamicKafkaSource",
    "DynamicKafkaSourceBuilder",
    "KafkaMetadataService",
    "KafkaRecordDeserializationSchema",
    "KafkaStreamSetSubscriber",
    "KafkaStreamSubscriber",
    "SingleClusterTopicMetadataService",
    "StreamPatternSubscriber",
]

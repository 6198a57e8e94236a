"""What cannot work is refused where it is written down, with the name of the method."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from penstock.common import SimpleStringSchema
from penstock.common.errors import NotSupportedError, ProgramError
from penstock.connectors.base import DeliveryGuarantee
from penstock.connectors.kafka.offsets import KafkaOffsetsInitializer, KafkaTopicPartition
from penstock.connectors.kafka.serializer import KafkaRecordSerializationSchema
from penstock.connectors.kafka.sink import KafkaSink
from penstock.connectors.kafka.source import KafkaSource, KafkaSourceBuilder


def source() -> KafkaSourceBuilder:
    builder = KafkaSource.builder().set_bootstrap_servers("b:1")
    return builder.set_value_only_deserializer(SimpleStringSchema())


@pytest.mark.parametrize(
    ("call", "method"),
    [
        (lambda: source().set_topics(), "set_topics"),
        (lambda: source().set_topics(5), "set_topics"),  # type: ignore[arg-type]
        (lambda: source().set_topics(""), "set_topics"),
        (lambda: source().set_topic_pattern("("), "set_topic_pattern"),
        (lambda: source().set_partitions({("words", 1)}), "set_partitions"),  # type: ignore[arg-type]
        (lambda: source().set_starting_offsets("earliest"), "set_starting_offsets"),  # type: ignore[arg-type]
        (lambda: source().set_bounded(None), "set_bounded"),  # type: ignore[arg-type]
        (lambda: source().set_unbounded(None), "set_unbounded"),  # type: ignore[arg-type]
        (lambda: source().set_bad_records("skip"), "set_bad_records"),  # type: ignore[arg-type]
        (lambda: KafkaOffsetsInitializer.offsets({"words": 1}), "offsets"),  # type: ignore[dict-item]
        (lambda: KafkaOffsetsInitializer.offsets({KafkaTopicPartition("words", 0): -2}), "offsets"),
        (lambda: KafkaOffsetsInitializer.timestamp(-1), "timestamp"),
        (lambda: KafkaOffsetsInitializer.committed_offsets("earliest"), r"committed_offsets\(\) and offsets"),  # type: ignore[arg-type]
        (lambda: KafkaRecordSerializationSchema.builder().set_topic(""), "set_topic"),
    ],
)
def test_what_is_no_argument_is_refused_by_its_method(call: Callable[[], Any], method: str) -> None:
    with pytest.raises(ProgramError, match=rf"{method}\(\)"):
        call()


@pytest.mark.parametrize("key", ["default.api.timeout.ms", "partition.discovery.interval.ms"])
def test_settings_that_never_reach_the_client_are_checked_too(key: str) -> None:
    with pytest.raises(ProgramError, match=f"{key} is a number, not 'soon'"):
        source().set_topics("words").set_property(key, "soon").build()


def test_a_sink_names_its_transactions_itself() -> None:
    schema = (
        KafkaRecordSerializationSchema.builder().set_topic("t").set_value_serialization_schema(SimpleStringSchema())
    )
    builder = KafkaSink.builder().set_bootstrap_servers("b:1").set_record_serializer(schema.build())
    builder.set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE).set_transactional_id_prefix("p")
    with pytest.raises(NotSupportedError, match="set_transactional_id_prefix"):
        builder.set_property("transactional.id", "mine").build()

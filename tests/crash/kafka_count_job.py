"""A program that is killed again and again: counts records of a Kafka topic by key, and writes every count to another.

Arguments: the broker's address, the topic that is read up to its present end, and the topic that is written.
"""

from __future__ import annotations

import sys
from typing import Any

from penstock.common import SimpleStringSchema, Types, WatermarkStrategy
from penstock.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from penstock.datastream.connectors import DeliveryGuarantee
from penstock.datastream.connectors.kafka import (
    KafkaOffsetsInitializer,
    KafkaRecordSerializationSchema,
    KafkaSink,
    KafkaSource,
)
from penstock.datastream.state import ValueStateDescriptor


class Count(KeyedProcessFunction):
    def open(self, runtime_context: Any) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value: str, ctx: Any) -> Any:
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        yield f"{value}:{count}"


def main(address: str, source_topic: str, sink_topic: str) -> None:
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(2)
    source = (
        KafkaSource.builder()
        .set_bootstrap_servers(address)
        .set_topics(source_topic)
        .set_group_id("counting")
        .set_property("isolation.level", "read_committed")
        .set_starting_offsets(KafkaOffsetsInitializer.earliest())
        .set_bounded(KafkaOffsetsInitializer.latest())
        .set_value_only_deserializer(SimpleStringSchema())
        .build()
    )
    serializer = KafkaRecordSerializationSchema.builder().set_topic(sink_topic)
    sink = (
        KafkaSink.builder()
        .set_bootstrap_servers(address)
        .set_record_serializer(serializer.set_value_serialization_schema(SimpleStringSchema()).build())
        .set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE)
        .set_transactional_id_prefix("counting")
        .build()
    )
    words = env.from_source(source, WatermarkStrategy.no_watermarks(), "words")
    words.key_by(lambda word: word).process(Count(), Types.STRING()).uid("count").sink_to(sink).uid("sink")
    env.execute("count words")


if __name__ == "__main__":
    main(*sys.argv[1:])

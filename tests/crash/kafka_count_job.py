"""A program that is killed again and again: counts records of a Kafka topic by key, and writes every count to another.

Arguments: the broker's address, the topic that is read up to its present end, the topic that is written, and how long
each result is. With the URL of a database and the name of a table the counts are written there as well.
"""

from __future__ import annotations

import sys
from typing import Any

from penstock.common import Row, SimpleStringSchema, Types, WatermarkStrategy
from penstock.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from penstock.datastream.connectors import DeliveryGuarantee
from penstock.datastream.connectors.jdbc import JdbcConnectionOptions, JdbcSink
from penstock.datastream.connectors.kafka import (
    KafkaOffsetsInitializer,
    KafkaRecordSerializationSchema,
    KafkaSink,
    KafkaSource,
)
from penstock.datastream.state import ValueStateDescriptor

ROW = Types.ROW_NAMED(["count"], [Types.STRING()])


class Count(KeyedProcessFunction):
    def __init__(self, width: int) -> None:
        self._width = width

    def open(self, runtime_context: Any) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value: str, ctx: Any) -> Any:
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        yield f"{value}:{count}".ljust(self._width)


def main(
    address: str, source_topic: str, sink_topic: str, width: str = "0", url: str | None = None, table: str = ""
) -> None:
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
    counts = words.key_by(lambda word: word).process(Count(int(width)), Types.STRING()).uid("count")
    counts.sink_to(sink).uid("sink")
    if url is not None:
        insert = f"insert into {table} (count) values (?)"
        rows = counts.map(lambda count: Row(count.strip()), ROW).uid("rows")
        rows.add_sink(JdbcSink.exactly_once_sink(insert, ROW, JdbcConnectionOptions(url))).uid("table")
    env.execute("count words")


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Kafka -> count per key -> Kafka: this file runs on PyFlink as it is, and on Penstock with `--pyflink`.

python kafka_count.py SERVERS SOURCE_TOPIC SINK_TOPIC EVERY [JAR]      (BENCH_CONFIGURATION: options as JSON)

One of EVERY counts of a key is written.
"""

import json
import os
import sys

from pyflink.common import Configuration, SimpleStringSchema, Types, WatermarkStrategy
from pyflink.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.connectors.base import DeliveryGuarantee
from pyflink.datastream.connectors.kafka import (
    KafkaOffsetsInitializer,
    KafkaRecordSerializationSchema,
    KafkaSink,
    KafkaSource,
)
from pyflink.datastream.state import ValueStateDescriptor


class Count(KeyedProcessFunction):
    def __init__(self, every):
        self.every = every

    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value, ctx):
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        if count % self.every == 0:
            yield f"{value[:5]} {count}"


def main(servers, source_topic, sink_topic, every, jar=None):
    configuration = Configuration()
    for key, value in json.loads(os.environ["BENCH_CONFIGURATION"]).items():
        configuration.set_string(key, value)
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(2)
    if jar is not None:
        env.add_jars(f"file://{jar}")
    source = (
        KafkaSource.builder()
        .set_bootstrap_servers(servers)
        .set_topics(source_topic)
        .set_group_id("bench")
        .set_starting_offsets(KafkaOffsetsInitializer.earliest())
        .set_bounded(KafkaOffsetsInitializer.latest())
        .set_value_only_deserializer(SimpleStringSchema())
        .build()
    )
    sink = (
        KafkaSink.builder()
        .set_bootstrap_servers(servers)
        .set_record_serializer(
            KafkaRecordSerializationSchema.builder()
            .set_topic(sink_topic)
            .set_value_serialization_schema(SimpleStringSchema())
            .build()
        )
        .set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE)
        .set_transactional_id_prefix("bench")
        .set_property("transaction.timeout.ms", "600000")
        .build()
    )
    records = env.from_source(source, WatermarkStrategy.no_watermarks(), "records")
    counts = records.key_by(lambda text: text[:5], Types.STRING()).process(Count(int(every)), Types.STRING())
    counts.sink_to(sink)
    env.execute("kafka count")


if __name__ == "__main__":
    main(*sys.argv[1:])

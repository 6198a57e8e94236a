"""Kafka -> count per key -> Kafka, beside a bare consume loop of confluent-kafka, on a broker of its own.

python -m benchmarks.kafka_speed [--records 3000000] [--every 1000] [--engines micro-batch,resident]

Records have 100 bytes and 10,000 keys in two partitions; each 1000th count of a key is written, exactly once.
Penstock's rate is that of the epochs behind the third; the loop's begins with its first message.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from typing import Any

from penstock.common import Configuration, SimpleStringSchema, Types, WatermarkStrategy
from penstock.common.run_options import RunOptions, set_run_options
from penstock.control.progress import JobProgress, set_progress_listener
from penstock.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from penstock.datastream.connectors import DeliveryGuarantee
from penstock.datastream.connectors.kafka import (
    KafkaOffsetsInitializer,
    KafkaRecordSerializationSchema,
    KafkaSink,
    KafkaSource,
)
from penstock.datastream.state import ValueStateDescriptor

KEYS = 10_000
WARM_UP_EPOCHS = 3
BYTES = 100


class Count(KeyedProcessFunction):
    def __init__(self, every: int) -> None:
        self.every = every

    def open(self, runtime_context: Any) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def process_element(self, value: str, ctx: Any) -> Any:
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        if count % self.every == 0:
            yield f"{ctx.get_current_key()} {count}"


def fill(address: str, topic: str, records: int) -> None:
    from confluent_kafka import Producer

    producer = Producer({"bootstrap.servers": address, "linger.ms": 50, "queue.buffering.max.messages": 1_000_000})
    for number in range(records):
        value = f"{number * 7919 % KEYS:05d} ".ljust(BYTES, "x")
        while True:
            try:
                producer.produce(topic, value, partition=number % 2)
                break
            except BufferError:
                producer.poll(0.1)
    producer.flush()


def bare_loop(address: str, topic: str, records: int) -> None:
    """In a process of its own; prints its rate and its CPU."""
    from confluent_kafka import Consumer, TopicPartition

    consumer = Consumer({"bootstrap.servers": address, "group.id": "bare", "enable.auto.commit": False})
    consumer.assign([TopicPartition(topic, partition, 0) for partition in range(2)])
    counts: dict[bytes, int] = {}
    found, began = 0, 0.0
    while found < records:
        messages = consumer.consume(500, 1.0)
        began = began or time.monotonic()
        for message in messages:
            key = message.value()[:5]
            counts[key] = counts.get(key, 0) + 1
        found += len(messages)
    usage = resource.getrusage(resource.RUSAGE_SELF)
    rate = records / (time.monotonic() - began)
    print(json.dumps({"rate": rate, "cpu_us": (usage.ru_utime + usage.ru_stime) / records * 1e6}))
    sys.stdout.flush()
    os._exit(0)


def penstock_job(address: str, source_topic: str, sink_topic: str, every: int, engine: str) -> None:
    """In a process of its own; prints its rate."""
    moments: list[tuple[float, int]] = []

    def note(progress: JobProgress) -> None:
        if progress.epoch > WARM_UP_EPOCHS:
            moments.append((time.monotonic(), progress.records_in))

    set_progress_listener(note)
    set_run_options(RunOptions(master="local[2]", configuration={"penstock.engine": engine}))
    env = StreamExecutionEnvironment.get_execution_environment(Configuration())
    env.set_parallelism(2)
    source = KafkaSource.builder().set_bootstrap_servers(address).set_topics(source_topic)
    source.set_bounded(KafkaOffsetsInitializer.latest()).set_value_only_deserializer(SimpleStringSchema())
    serializer = KafkaRecordSerializationSchema.builder().set_topic(sink_topic)
    sink = (
        KafkaSink.builder()
        .set_bootstrap_servers(address)
        .set_record_serializer(serializer.set_value_serialization_schema(SimpleStringSchema()).build())
        .set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE)
        .set_transactional_id_prefix("bench")
        .build()
    )
    records = env.from_source(source.build(), WatermarkStrategy.no_watermarks(), "records")
    records.key_by(lambda text: text[:5], Types.STRING()).process(Count(every), Types.STRING()).sink_to(sink)
    env.execute("kafka")
    (began, before), (ended, after) = moments[0], moments[-1]
    print(json.dumps({"rate": (after - before) / (ended - began)}))


def in_a_process(function: str, *arguments: Any) -> dict[str, float]:
    call = f"from benchmarks.kafka_speed import {function}; {function}{tuple(arguments)!r}"
    found = subprocess.run([sys.executable, "-c", call], stdout=subprocess.PIPE, text=True, check=True)
    result: dict[str, float] = json.loads(found.stdout.splitlines()[-1])
    return result


def main() -> None:
    from tests.services.kafka import create_topic, kafka_broker

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=3_000_000)
    parser.add_argument("--every", type=int, default=1_000)
    parser.add_argument("--engines", type=lambda text: text.split(","), default=["micro-batch", "resident"])
    options = parser.parse_args()
    with kafka_broker() as broker:
        source = create_topic(broker, 2)
        fill(broker.address, source, options.records)
        bare = in_a_process("bare_loop", broker.address, source, options.records)
        print(f"bare consume loop: {bare['rate']:,.0f} records/s, {bare['cpu_us']:.2f} us of CPU for each")
        for engine in options.engines:
            sink = create_topic(broker, 2)
            found = in_a_process("penstock_job", broker.address, source, sink, options.every, engine)
            print(f"penstock, {engine}: {found['rate']:,.0f} records/s, {found['rate'] / bare['rate']:.0%} of the loop")


if __name__ == "__main__":
    main()

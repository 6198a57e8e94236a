"""Kafka -> count per key -> Kafka, exactly once, beside a bare consume loop of confluent-kafka, on a broker of its own.

python -m benchmarks.kafka_speed [--records 3000000] [--every 100] [--contestants micro-batch,resident]
    [--flink 5.0.0-2.2 --flink-records 300000]      also PyFlink in thread mode, with that version of Flink's connector

Records have 100 bytes and 10,000 keys, in two partitions; of so many counts of a key one is written. How much a job has
read between its first and its last results is known from these, and Kafka says when it took them. The loop's clock
starts with its first message.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks import settings

KEYS = 10_000
BYTES = 100
PROGRAM = Path(__file__).parent / "programs" / "kafka_count.py"


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
            key = (message.value() or b"")[:5]
            counts[key] = counts.get(key, 0) + 1
        found += len(messages)
    usage = resource.getrusage(resource.RUSAGE_SELF)
    rate = records / (time.monotonic() - began)
    print(json.dumps({"rate": rate, "cpu_us": (usage.ru_utime + usage.ru_stime) / records * 1e6}))
    sys.stdout.flush()
    os._exit(0)


def measured_loop(address: str, topic: str, records: int) -> dict[str, float]:
    call = f"from benchmarks.kafka_speed import bare_loop; bare_loop{(address, topic, records)!r}"
    found = subprocess.run([sys.executable, "-c", call], stdout=subprocess.PIPE, text=True, check=True)
    result: dict[str, float] = json.loads(found.stdout.splitlines()[-1])
    return result


def job_rate(
    broker: Any, source: str, every: int, command: list[str], extra: Mapping[str, str], jar: str = ""
) -> float:
    from tests.services.kafka import committed_messages, create_topic

    sink = create_topic(broker, 2, config={"message.timestamp.type": "LogAppendTime"})
    arguments = [str(PROGRAM), broker.address, source, sink, str(every), *([jar] if jar else [])]
    subprocess.run([*command, *arguments], env={**os.environ, **extra}, stdout=subprocess.DEVNULL, check=True)
    moments: list[int] = sorted(message.timestamp()[1] for message in committed_messages(broker, sink))
    later = [moment for moment in moments if moment > moments[0] + 100]  # what came with the first is warm-up
    return len(later) * every / ((moments[-1] - moments[0]) / 1000)


def flink_jar(version: str) -> str:
    name = "org.apache.flink:flink-sql-connector-kafka"
    directory = settings.ROOT / ".services" / "flink"
    get = ["mvn", "-q", "-B", "dependency:copy", f"-Dartifact={name}:{version}", f"-DoutputDirectory={directory}"]
    subprocess.run(get, check=True, stdout=subprocess.DEVNULL)
    return str(directory / f"flink-sql-connector-kafka-{version}.jar")


def main() -> None:
    from tests.services.kafka import create_topic, kafka_broker

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=3_000_000)
    parser.add_argument("--every", type=int, default=100)
    parser.add_argument("--contestants", type=lambda text: text.split(","), default=["micro-batch", "resident"])
    parser.add_argument("--flink", default="")
    parser.add_argument("--flink-records", type=int, default=300_000)
    options = parser.parse_args()
    with kafka_broker() as broker:
        source = create_topic(broker, 2)
        fill(broker.address, source, options.records)
        bare = measured_loop(broker.address, source, options.records)
        print(f"bare consume loop: {bare['rate']:,.0f} records/s, {bare['cpu_us']:.2f} us of CPU for each", flush=True)
        penstock = [str(Path(sys.executable).with_name("penstock")), "run", "--pyflink", "--master", "local[2]"]
        for engine in options.contestants:
            command = [*penstock, f"-Dpenstock.engine={engine}"]
            rate = job_rate(broker, source, options.every, command, {})
            print(f"penstock, {engine}: {rate:,.0f} records/s, {rate / bare['rate']:.0%} of the loop", flush=True)
        if options.flink:
            short = create_topic(broker, 2)
            fill(broker.address, short, options.flink_records)
            python = [str(settings.flink_environment() / "bin" / "python")]
            every = min(options.every, 10)
            rate = job_rate(broker, short, every, python, {"BENCH_THREAD_MODE": "1"}, flink_jar(options.flink))
            print(f"PyFlink, thread mode: {rate:,.0f} records/s", flush=True)


if __name__ == "__main__":
    main()

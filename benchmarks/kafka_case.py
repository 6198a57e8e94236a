"""Kafka -> count per key -> Kafka, exactly once, beside a bare consume loop of confluent-kafka: one broker for all.

Records have 100 bytes and come in two partitions. Rate, for the jobs: results behind the first transaction by the time
from the first to the last one, as Kafka dates them; each result stands for as many records as the case says. The loop's
clock starts with its first message. Nobody's start is in it.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks import settings
from benchmarks.contestants import PROGRAMS, Launch, flink_environment_of, is_flink, penstock_command
from benchmarks.process_tree import ProcessTree
from benchmarks.rows import Measurement
from benchmarks.throughput import log_tail, workplace

PARTITIONS = 2
BYTES = 100
_LOOK_SECONDS = 0.2
_WARM_UP_TRANSACTIONS, _WARM_UP_MESSAGES = 200, 2_500
# What Kafka's own start script gives it: the broker of the tests starts faster and works slower.
_JAVA_OPTIONS = (
    "-Xms1g",
    "-Xmx1g",
    "-XX:+UseG1GC",
    "-XX:MaxGCPauseMillis=20",
    "-XX:InitiatingHeapOccupancyPercent=35",
    "-XX:+ExplicitGCInvokesConcurrent",
)


def run_kafka(case: str, contestant: str, scale: float) -> list[Measurement]:
    records = _records(case, contestant, scale)
    keys, every = settings.CASES[case].keys, settings.KAFKA_RESULT_EVERY[case]
    source = _filled(records, keys)
    if contestant == "loop":
        found = _measured_loop(source, records)
        return [
            Measurement(case, contestant, "rate", found["rate"], "records/s", "ok"),
            Measurement(case, contestant, "cpu", found["cpu"], "s", "ok"),
        ]
    with workplace(f"{case}-{contestant}") as (work, _, log):
        sink = _topic(config={"message.timestamp.type": "LogAppendTime"})
        start = _launch(contestant, [_broker().address, source, sink, str(every)], work)
        tree = ProcessTree(start.command, start.environment, log, work)
        try:
            while tree.exit_code is None and time.time() < tree.started + settings.KAFKA_SECONDS:
                tree.sample()
                time.sleep(_LOOK_SECONDS)
            code, wall = tree.exit_code, time.time() - tree.started
        finally:
            tree.kill()
        used = [
            Measurement(case, contestant, "wall", wall, "s", "ok" if code == 0 else "partial"),
            Measurement(case, contestant, "cpu", tree.cpu_seconds, "s", "ok" if code == 0 else "partial"),
        ]
        return [_judged(case, contestant, sink, records, code, log), *used]


def _judged(case: str, contestant: str, sink: str, records: int, code: int | None, log: Path) -> Measurement:
    """Whoever was too slow has a rate as well, if what it has written is right."""
    from tests.services.kafka import committed_messages

    keys, every = settings.CASES[case].keys, settings.KAFKA_RESULT_EVERY[case]
    messages = committed_messages(_broker(), sink)
    results = [message.value() for message in messages]
    expected = {b"%05d %d" % (key, n) for key in range(keys) for n in range(every, records // keys + 1, every)}
    whole = code == 0
    problem = None
    if code not in (0, None):
        problem = "failed", log_tail(log)
    elif len(set(results)) < len(results):
        problem = "wrong", f"{len(results) - len(set(results))} results twice"
    elif not expected.issuperset(results) or (whole and len(results) < len(expected)):
        problem = "wrong", f"{len(expected - set(results))} results missing, {len(set(results) - expected)} wrong"
    elif len(results) < 2:
        problem = "no result", ""
    if problem is not None:
        return Measurement(case, contestant, "rate", None, "records/s", *problem)
    moments = sorted(message.timestamp()[1] for message in messages)
    later = [moment for moment in moments if moment > moments[0] + 100]  # what came with the first is warm-up
    status = "ok" if whole and later else "partial"
    rate = len(later) * every / max(0.001, (moments[-1] - moments[0]) / 1000)
    return Measurement(case, contestant, "rate", rate, "records/s", status)


def _records(case: str, contestant: str, scale: float) -> int:
    """Whole rounds over the keys; PyFlink gets a smaller part, else it would not see the end."""
    keys, every = settings.CASES[case].keys, settings.KAFKA_RESULT_EVERY[case]
    records = settings.CASES[case].records * scale * (settings.KAFKA_FLINK_PART if is_flink(contestant) else 1)
    return max(1, round(records / keys / every)) * keys * every


def _launch(contestant: str, arguments: list[str], work: Path) -> Launch:
    program = [str(PROGRAMS / "kafka_count.py"), *arguments]
    if not is_flink(contestant):
        command, environment = penstock_command(contestant, work)
        return Launch([*command, *program], environment)
    environment = flink_environment_of(contestant, "kafka", work, {})
    return Launch([str(settings.flink_environment() / "bin" / "python"), *program, _flink_jar()], environment)


# -- Kafka -------------------------------------------------------------------------------------------------------------


@functools.cache
def _broker() -> Any:
    """Started when the first contestant needs it, stopped when the benchmark ends."""
    from tests.services.kafka import kafka_broker

    held = contextlib.ExitStack()
    atexit.register(held.close)
    broker = held.enter_context(kafka_broker(java_options=_JAVA_OPTIONS))
    _warm_up(broker)
    return broker


def _warm_up(broker: Any) -> None:
    """So that no contestant shares its cores with the compiler of a broker that has just started."""
    from confluent_kafka import Producer
    from tests.services.kafka import committed_messages, create_topic

    settings = {"transactional.id": "warm-up", "queue.buffering.max.messages": 1_000_000, "log_level": 2}
    producer, topic = Producer(broker.client(**settings)), create_topic(broker, PARTITIONS)
    producer.init_transactions(30)
    for number in range(_WARM_UP_TRANSACTIONS):
        producer.begin_transaction()
        for partition in range(PARTITIONS):
            for _ in range(_WARM_UP_MESSAGES):
                producer.produce(topic, b"%06d" % number, partition=partition)
            producer.poll(0)
        producer.commit_transaction(30)
    committed_messages(broker, topic)


def _topic(config: dict[str, str] | None = None) -> str:
    from tests.services.kafka import create_topic

    return create_topic(_broker(), PARTITIONS, config=config)


@functools.cache
def _filled(records: int, keys: int) -> str:
    """A topic with so many records, made once."""
    from confluent_kafka import Producer

    topic = _topic()
    producer = Producer(_broker().client(**{"linger.ms": 50, "queue.buffering.max.messages": 1_000_000}))
    for number in range(records):
        value = f"{number * 7919 % keys:05d} ".ljust(BYTES, "x")
        while True:
            try:
                producer.produce(topic, value, partition=number % PARTITIONS)
                break
            except BufferError:
                producer.poll(0.1)
    producer.flush()
    return topic


def _measured_loop(topic: str, records: int) -> dict[str, float]:
    call = f"from benchmarks.kafka_case import bare_loop; bare_loop{(_broker().address, topic, records)!r}"
    found = subprocess.run([sys.executable, "-c", call], stdout=subprocess.PIPE, text=True, check=True)
    result: dict[str, float] = json.loads(found.stdout.splitlines()[-1])
    return result


def bare_loop(address: str, topic: str, records: int) -> None:
    """In a process of its own; prints its rate and its CPU."""
    from confluent_kafka import Consumer, TopicPartition

    consumer = Consumer({"bootstrap.servers": address, "group.id": "bare", "enable.auto.commit": False})
    consumer.assign([TopicPartition(topic, partition, 0) for partition in range(PARTITIONS)])
    counts: dict[bytes, int] = {}
    found, began = 0, 0.0
    while found < records:
        messages = consumer.consume(500, 1.0)
        began = began or time.monotonic()
        for message in messages:
            key = (message.value() or b"")[:5]
            counts[key] = counts.get(key, 0) + 1
        found += len(messages)
    rate = records / (time.monotonic() - began)
    usage = resource.getrusage(resource.RUSAGE_SELF)
    print(json.dumps({"rate": rate, "cpu": usage.ru_utime + usage.ru_stime}))
    sys.stdout.flush()
    os._exit(0)


@functools.cache
def _flink_jar() -> str:
    name, version = "org.apache.flink:flink-sql-connector-kafka", settings.FLINK_KAFKA_CONNECTOR
    directory = settings.ROOT / ".services" / "flink"
    jar = directory / f"flink-sql-connector-kafka-{version}.jar"
    if not jar.exists():
        get = ["mvn", "-q", "-B", "dependency:copy", f"-Dartifact={name}:{version}", f"-DoutputDirectory={directory}"]
        subprocess.run(get, check=True, stdout=subprocess.DEVNULL)
    return str(jar)

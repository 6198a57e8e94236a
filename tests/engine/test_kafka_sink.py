"""KafkaSink against a real broker: what readers with read_committed see."""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import EnvironmentFactory
from tests.engine.kafka_programs import text_sink
from tests.services.kafka import KafkaBroker, committed_messages, create_topic, hanging_partitions

from penstock.common import SimpleStringSchema, Types, WatermarkStrategy
from penstock.common.errors import JobExecutionError, ProgramError
from penstock.common.watermark_strategy import TimestampAssigner
from penstock.connectors.kafka.committer import TransactionCommitter
from penstock.connectors.kafka.staging import StagedPart, StagingWriter
from penstock.datastream.connectors import DeliveryGuarantee
from penstock.datastream.connectors.kafka import (
    FlinkKafkaProducer,
    KafkaRecordSerializationSchema,
    KafkaSink,
    Semantic,
)
from penstock.functions.sink import CommitterContext
from penstock.runtime.batch import Batch

WORDS = [f"w{n}" for n in range(500)]


def values(broker: KafkaBroker, topic: str) -> list[str]:
    return [message.value().decode() for message in committed_messages(broker, topic)]


@pytest.mark.parametrize("guarantee", DeliveryGuarantee)
def test_everything_is_there_once_when_nothing_fails(
    local_env: EnvironmentFactory, kafka: KafkaBroker, guarantee: DeliveryGuarantee
) -> None:
    topic, env = create_topic(kafka, 2), local_env(2, 60)
    env.from_collection(WORDS, Types.STRING()).rebalance().sink_to(text_sink(kafka, topic, guarantee))
    env.execute()
    assert Counter(values(kafka, topic)) == Counter(WORDS)
    assert hanging_partitions(kafka, topic) == set()


class Moments(TimestampAssigner):
    def extract_timestamp(self, value: str, record_timestamp: int) -> int:
        return int(value[1:]) * 1000


def test_topic_key_headers_partition_and_timestamp(local_env: EnvironmentFactory, kafka: KafkaBroker) -> None:
    even, odd = create_topic(kafka, 3), create_topic(kafka, 3)
    serializer = (
        KafkaRecordSerializationSchema.builder()
        .set_topic_selector(lambda word: odd if int(word[1:]) % 2 else even)
        .set_key_serialization_schema(SimpleStringSchema())
        .set_value_serialization_schema(SimpleStringSchema())
        .set_header_provider(lambda word: [("len", str(len(word)).encode())])
        .set_partitioner(lambda word, key, value, topic: int(word[1:]) % 3)
        .build()
    )
    builder = KafkaSink.builder().set_bootstrap_servers(kafka.address).set_record_serializer(serializer)
    sink = builder.set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE).set_transactional_id_prefix("t").build()
    env = local_env()
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Moments())
    env.from_collection(["w1", "w2", "w5"], Types.STRING()).assign_timestamps_and_watermarks(strategy).sink_to(sink)
    env.execute()
    found = {
        (m.topic(), m.partition(), m.key(), m.value(), m.timestamp()[1], m.headers()[0][1])
        for topic in (even, odd)
        for m in committed_messages(kafka, topic)
    }
    assert found == {
        (odd, 1, b"w1", b"w1", 1000, b"2"),
        (even, 2, b"w2", b"w2", 2000, b"2"),
        (odd, 2, b"w5", b"w5", 5000, b"2"),
    }


def test_keys_go_where_kafkas_java_client_sends_them(local_env: EnvironmentFactory, kafka: KafkaBroker) -> None:
    """Hashes from the tests of Kafka's own Utils.murmur2."""
    hashes = {"21": -973932308, "foobar": -790332482, "a-little-bit-long-string": -985981536}
    topic, env = create_topic(kafka, 7), local_env()
    sink = text_sink(kafka, topic, DeliveryGuarantee.AT_LEAST_ONCE)
    env.from_collection(list(hashes), Types.STRING()).sink_to(sink)
    env.execute()
    found = {message.key().decode(): message.partition() for message in committed_messages(kafka, topic)}
    assert found == {key: (hash_ & 0x7FFFFFFF) % 7 for key, hash_ in hashes.items()}


def test_a_record_that_kafka_does_not_take_fails_the_job(local_env: EnvironmentFactory, kafka: KafkaBroker) -> None:
    for guarantee in (DeliveryGuarantee.AT_LEAST_ONCE, DeliveryGuarantee.EXACTLY_ONCE):
        topic, env = create_topic(kafka, config={"max.message.bytes": "200"}), local_env()
        env.from_collection(["small", "x" * 1000], Types.STRING()).sink_to(text_sink(kafka, topic, guarantee))
        with pytest.raises(JobExecutionError, match=r"Kafka at 127.*(?i:size|large)"):
            env.execute()
        assert "x" * 1000 not in values(kafka, topic)


def test_a_broker_that_is_away(local_env: EnvironmentFactory) -> None:
    sink = text_sink(KafkaBroker(), "t", DeliveryGuarantee.EXACTLY_ONCE, default_api_timeout_ms="500")
    env = local_env()
    env.from_collection(["x"], Types.STRING()).sink_to(sink)
    with pytest.raises(JobExecutionError, match="does not answer while committing"):
        env.execute()


def test_exactly_once_needs_a_prefix() -> None:
    serializer = KafkaRecordSerializationSchema.builder().set_topic("t")
    builder = KafkaSink.builder().set_record_serializer(
        serializer.set_value_serialization_schema(SimpleStringSchema()).build()
    )
    with pytest.raises(ProgramError, match="requires a transactionalIdPrefix"):
        builder.set_bootstrap_servers("b:1").set_delivery_guarantee(DeliveryGuarantee.EXACTLY_ONCE).build()


# -- the commit ------------------------------------------------------------------------------------------------


def staged(sink: KafkaSink, words: list[str], directory: Path | None = None) -> list[StagedPart]:
    writer = StagingWriter(sink._serializer, None if directory is None else str(directory))
    writer.write(Batch(words))
    writer.flush(end_of_input=False)
    return writer.prepare_commit()


def committer(sink: KafkaSink, job: str, directory: Path | None = None) -> Any:
    return sink.create_committer(CommitterContext(job, "uid", "sink", None if directory is None else str(directory)))


def test_a_repeated_commit_is_recognised(kafka: KafkaBroker) -> None:
    topic = create_topic(kafka)
    sink = text_sink(kafka, topic, DeliveryGuarantee.EXACTLY_ONCE)
    first, second = staged(sink, ["a"]), staged(sink, ["b"])
    driver = committer(sink, topic)
    driver.commit(1, first)
    driver.commit(2, second)
    driver.close()
    again = committer(sink, topic)  # after a crash the last epoch comes once more
    again.commit(2, second)
    again.commit(3, staged(sink, ["c"]))
    again.close()
    assert values(kafka, topic) == ["a", "b", "c"]


def test_a_driver_that_dies_within_a_commit_leaves_nothing_open(kafka: KafkaBroker) -> None:
    topic = create_topic(kafka)
    sink = text_sink(kafka, topic, DeliveryGuarantee.EXACTLY_ONCE)
    parts = staged(sink, ["a", "b"])
    dying = committer(sink, topic)
    producer = dying._opened().producer
    producer.begin_transaction()
    producer.produce(topic, b"half")
    producer.flush()
    assert hanging_partitions(kafka, topic) == {0}
    next_driver = committer(sink, topic)
    next_driver.commit(1, parts)
    assert values(kafka, topic) == ["a", "b"] and hanging_partitions(kafka, topic) == set()
    with pytest.raises(Exception, match="(?i)fenced"):
        producer.commit_transaction()
    next_driver.close()
    assert values(kafka, topic) == ["a", "b"]


def test_a_driver_that_was_overtaken_writes_nothing(kafka: KafkaBroker) -> None:
    topic = create_topic(kafka)
    sink = text_sink(kafka, topic, DeliveryGuarantee.EXACTLY_ONCE)
    old, new = committer(sink, topic), committer(sink, topic)
    parts = staged(sink, ["old"])
    new.commit(4, staged(sink, ["new"]))
    with pytest.raises(JobExecutionError, match="has epoch 4 .* already, but this job is at epoch 3"):
        old.commit(3, parts)
    new.close()
    assert values(kafka, topic) == ["new"]


def test_large_epochs_go_through_files_that_are_removed(kafka: KafkaBroker, tmp_path: Path) -> None:
    topic = create_topic(kafka)
    sink = text_sink(kafka, topic, DeliveryGuarantee.EXACTLY_ONCE)
    words = [f"{n:05}" * 20 for n in range(5_000)]
    parts = staged(sink, words, tmp_path)
    assert [part.content for part in parts] == [None] and len(list(tmp_path.iterdir())) == 1
    driver = committer(sink, topic, tmp_path)
    driver.commit(1, parts)
    driver.close()
    assert values(kafka, topic) == words
    assert list(tmp_path.iterdir()) == []


def test_the_older_producer(local_env: EnvironmentFactory, kafka: KafkaBroker) -> None:
    for semantic in Semantic:
        topic, env = create_topic(kafka), local_env()
        producer = FlinkKafkaProducer(
            topic, SimpleStringSchema(), {"bootstrap.servers": kafka.address}, semantic=semantic
        )
        producer.set_write_timestamp_to_kafka(True)
        strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Moments())
        stream = env.from_collection(["w1", "w2"], Types.STRING()).assign_timestamps_and_watermarks(strategy)
        stream.add_sink(producer)
        env.execute()
        assert [m.timestamp()[1] for m in committed_messages(kafka, topic)] == [1000, 2000]


@pytest.mark.parametrize(("step", "after"), [("_send", True), ("_commit", False), ("_commit", True)])
def test_a_commit_that_fails_is_repeated_only_if_it_was_not_done(
    local_env: EnvironmentFactory, kafka: KafkaBroker, monkeypatch: pytest.MonkeyPatch, step: str, after: bool
) -> None:
    """The second epoch's commit fails: before the transaction is committed, or after it, when nobody knows."""
    original, calls = getattr(TransactionCommitter, step), itertools.count(1)

    def failing(self: TransactionCommitter, *arguments: Any) -> None:
        fails = next(calls) == 2
        if after or not fails:
            original(self, *arguments)
        if fails:
            raise JobExecutionError("the driver lost its head")

    monkeypatch.setattr(TransactionCommitter, step, failing)
    topic, env = create_topic(kafka), local_env(1, 100)
    env._configuration.set_string("restart-strategy.type", "fixed-delay")
    env._configuration.set_string("restart-strategy.fixed-delay.attempts", "3")
    env._configuration.set_string("restart-strategy.fixed-delay.delay", "1 ms")
    sink = text_sink(kafka, topic, DeliveryGuarantee.EXACTLY_ONCE)
    env.from_collection(WORDS, Types.STRING()).map(str, Types.STRING()).sink_to(sink)
    env.execute()
    assert next(calls) > 3, "it went on after the failure"
    assert Counter(values(kafka, topic)) == Counter(WORDS)
    assert hanging_partitions(kafka, topic) == set()

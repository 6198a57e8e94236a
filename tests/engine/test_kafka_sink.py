"""KafkaSink against a real broker: what readers with read_committed see."""

from __future__ import annotations

import itertools
import pickle
import uuid
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import EnvironmentFactory
from tests.engine.kafka_programs import text_sink
from tests.patience import patience
from tests.services.kafka import KafkaBroker, committed_messages, create_topic, hanging_partitions

from penstock.common import SimpleStringSchema, Types, WatermarkStrategy
from penstock.common.errors import JobExecutionError, ProgramError
from penstock.common.watermark_strategy import TimestampAssigner
from penstock.connectors.kafka import staging
from penstock.connectors.kafka.serializer import Messages
from penstock.connectors.kafka.staged_parts import StagedPart
from penstock.connectors.kafka.staging import StagingWriter
from penstock.connectors.kafka.transactions import TransactionLane
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


def writer_of(sink: KafkaSink, job: str, directory: Path | None = None) -> StagingWriter:
    lane_id, place = f"test-{job}-uid/0", None if directory is None else str(directory)
    return StagingWriter(sink._serializer, place, lane_id, TransactionLane(sink._settings, lane_id, place))


def staged(sink: KafkaSink, words: list[str], directory: Path | None = None) -> list[StagedPart]:
    writer = writer_of(sink, "nobody", directory)
    writer.before_savepoint()
    return epoch_of(writer, words)


def epoch_of(writer: StagingWriter, words: list[str]) -> list[StagedPart]:
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
    producer = dying._lane._opened(parts).producer
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


# -- large epochs: each writer produces its own ----------------------------------------------------------------


@pytest.fixture
def all_epochs_are_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staging, "_SMALL_BYTES", 0)


@pytest.fixture
def produced(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The transactional ids by which something was sent."""
    lanes: list[str] = []
    send = TransactionLane._send

    def noted(self: TransactionLane, *arguments: Any) -> None:
        lanes.append(self._id)
        send(self, *arguments)

    monkeypatch.setattr(TransactionLane, "_send", noted)
    return lanes


@pytest.mark.in_this_process
@pytest.mark.usefixtures("all_epochs_are_large")
@pytest.mark.parametrize("forget", [False, True])
def test_writers_produce_large_epochs_themselves(
    local_env: EnvironmentFactory, kafka: KafkaBroker, produced: list[str], forget: bool
) -> None:
    topic, env = create_topic(kafka, 2), local_env(2, 60, forget)
    sink = text_sink(kafka, topic, DeliveryGuarantee.EXACTLY_ONCE)
    env.from_collection(WORDS, Types.STRING()).rebalance().sink_to(sink)
    env.execute()
    assert Counter(values(kafka, topic)) == Counter(WORDS)
    assert hanging_partitions(kafka, topic) == set()
    assert {lane.rpartition("/")[2] for lane in produced if "/" in lane} == {"0", "1"}
    assert all("/" in lane for lane in produced), "the driver has nothing to do, not even at the end"


@pytest.mark.usefixtures("all_epochs_are_large")
def test_one_who_takes_the_place_of_a_writer_produces_what_that_one_has_not(kafka: KafkaBroker, tmp_path: Path) -> None:
    topic = create_topic(kafka)
    sink = text_sink(kafka, topic, DeliveryGuarantee.EXACTLY_ONCE)
    first = writer_of(sink, topic, tmp_path)
    assert all(part.left_to_writer for part in epoch_of(first, ["a", "b"]))
    state = first.snapshot_state()
    second = writer_of(sink, topic, tmp_path)  # the first never heard that its epoch is committed
    second.restore_state([state])
    assert second.awaits_commit([])
    second.on_commit(1)
    second.flush(end_of_input=False)
    third = writer_of(sink, topic, tmp_path)  # the second died before the next epoch was recorded
    third.restore_state([state])
    third.on_commit(1)
    assert epoch_of(third, ["c"])
    state = third.snapshot_state()
    third.on_commit(2)
    third.flush(end_of_input=False)
    assert not third.awaits_commit([])
    assert values(kafka, topic) == ["a", "b", "c"] and list(tmp_path.iterdir()) == []
    for writer in (first, second, third):
        writer.close()


@pytest.mark.usefixtures("all_epochs_are_large")
def test_an_epoch_that_was_heard_of_late_is_still_one_transaction(kafka: KafkaBroker, tmp_path: Path) -> None:
    topic = create_topic(kafka)
    sink = text_sink(kafka, topic, DeliveryGuarantee.EXACTLY_ONCE)
    first, second = writer_of(sink, topic, tmp_path), writer_of(sink, topic, tmp_path)
    epoch_of(first, ["a"])
    second.restore_state([first.snapshot_state()])
    first.on_commit(1)
    first.flush(end_of_input=False)
    epoch_of(second, ["b"])  # it does not know that the first one has produced before it died
    second.on_commit(2)
    second.flush(end_of_input=False)
    assert values(kafka, topic) == ["a", "b"]
    for writer in (first, second):
        writer.close()


@pytest.mark.usefixtures("all_epochs_are_large")
def test_what_writers_could_not_produce_is_there_when_the_job_has_ended(kafka: KafkaBroker, tmp_path: Path) -> None:
    topic = create_topic(kafka)
    sink = text_sink(kafka, topic, DeliveryGuarantee.EXACTLY_ONCE)
    writer, driver = writer_of(sink, topic, tmp_path), committer(sink, topic, tmp_path)
    driver.commit(1, epoch_of(writer, ["a"]))
    writer.on_commit(1)
    driver.commit(2, epoch_of(writer, ["b"]))
    assert values(kafka, topic) == ["a"]
    driver.conclude()
    driver.conclude()
    driver.close()
    assert values(kafka, topic) == ["a", "b"]
    with pytest.raises(JobExecutionError, match="(?i)fenced|missing"):  # a worker that only slept
        writer.on_commit(2)
        writer.flush(end_of_input=False)
    assert values(kafka, topic) == ["a", "b"]


@pytest.mark.usefixtures("all_epochs_are_large")
def test_before_a_savepoint_nothing_is_left_to_the_writer(kafka: KafkaBroker) -> None:
    writer = writer_of(text_sink(kafka, "t", DeliveryGuarantee.EXACTLY_ONCE), "job")
    writer.before_savepoint()
    assert not any(part.left_to_writer for part in epoch_of(writer, ["a"]))
    assert not writer.awaits_commit([]) and writer.snapshot_state() == []
    assert all(part.left_to_writer for part in epoch_of(writer, ["b"]))


@pytest.mark.in_this_process
@pytest.mark.parametrize("small_bytes", [0, 1 << 20])
@pytest.mark.parametrize(("step", "after"), [("_send", True), ("_commit", False), ("_commit", True)])
def test_a_commit_that_fails_is_repeated_only_if_it_was_not_done(
    local_env: EnvironmentFactory,
    kafka: KafkaBroker,
    monkeypatch: pytest.MonkeyPatch,
    small_bytes: int,
    step: str,
    after: bool,
) -> None:
    """The second epoch's commit fails: before the transaction is committed, or after it, when nobody knows."""
    monkeypatch.setattr(staging, "_SMALL_BYTES", small_bytes)
    original, calls = getattr(TransactionLane, step), itertools.count(1)

    def failing(self: TransactionLane, *arguments: Any) -> None:
        fails = next(calls) == 2
        if after or not fails:
            original(self, *arguments)
        if fails:
            raise JobExecutionError("the driver lost its head")

    monkeypatch.setattr(TransactionLane, step, failing)
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


def test_a_transaction_that_the_brokers_do_not_end_is_named(kafka: KafkaBroker) -> None:
    """Nothing is produced then: whether the last epoch is there is not decided. When it is, the sink goes on."""
    from confluent_kafka import Consumer, Producer, TopicPartition

    topic, id_ = create_topic(kafka), f"lane-{uuid.uuid4().hex}"
    hanging = Producer(kafka.client(**{"transactional.id": f"other-{id_}"}))
    hanging.init_transactions(patience(30))
    hanging.begin_transaction()
    consumer = Consumer(kafka.client(**{"group.id": id_}))
    mark = TopicPartition(topic, 0, 7, metadata="another digest")
    hanging.send_offsets_to_transaction([mark], consumer.consumer_group_metadata(), patience(30))
    settings = text_sink(kafka, topic, DeliveryGuarantee.EXACTLY_ONCE, default_api_timeout_ms="3000")._settings
    message = Messages(topic, [b"tea"], None, None, None, None)
    part = StagedPart("part", topic, (pickle.dumps(message),))
    lane = TransactionLane(settings, id_, None)
    with pytest.raises(JobExecutionError, match=r"has not ended a transaction .*find-hanging --topic " + topic):
        lane.commit(8, [part])
    hanging.abort_transaction(patience(30))
    consumer.close()
    lane.commit(8, [part])
    lane.close()
    assert [each.value() for each in committed_messages(kafka, topic)] == [b"tea"]

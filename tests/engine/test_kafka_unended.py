"""Kafka has decided a transaction, but a partition does not know how: what Kafka 4.3 does when it dies at that moment.

Made with a producer that goes on writing when its transaction was ended behind its back, and brokers that let it.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import pickle
import struct
import time
import uuid
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from tests.engine.kafka_programs import text_sink
from tests.patience import patience
from tests.services.kafka import KafkaBroker, committed_messages, create_topic, hanging_partitions

from penstock.connectors.kafka.coordinator import NotYet, Told, TransactionCoordinator
from penstock.connectors.kafka.producing import CallLost, KafkaProducing
from penstock.connectors.kafka.serializer import Messages
from penstock.connectors.kafka.staged_parts import StagedPart
from penstock.connectors.kafka.transactions import TransactionLane
from penstock.connectors.kafka.wire import Connection, Question, array, string
from penstock.datastream.connectors import DeliveryGuarantee

pytestmark = pytest.mark.in_this_process

_COMMIT_OFFSETS_IN_TRANSACTION = Question(28, 0)
EPOCH = 8
WORDS = (b"tea", b"milk")


@pytest.fixture(scope="module")
def broker(kafka: KafkaBroker) -> Iterator[KafkaBroker]:
    """Takes records of transactions that are over."""
    _verify_partitions(kafka, "false")
    yield kafka
    _verify_partitions(kafka, "true")


def _verify_partitions(broker: KafkaBroker, flag: str) -> None:
    from confluent_kafka.admin import (  # type: ignore[attr-defined]
        AdminClient,
        AlterConfigOpType,
        ConfigEntry,
        ConfigResource,
        ResourceType,
    )

    name = "transaction.partition.verification.enable"
    entry = ConfigEntry(name, flag, incremental_operation=AlterConfigOpType.SET)
    resource = ConfigResource(ResourceType.BROKER, "1", incremental_configs=[entry])
    admin = AdminClient(broker.client())
    for future in admin.incremental_alter_configs([resource]).values():
        future.result(patience(30))


def _wait_for_coordinator(consumer: Any, place: Any) -> None:
    from confluent_kafka import KafkaException

    deadline = time.monotonic() + patience(30)
    while time.monotonic() < deadline:
        with contextlib.suppress(KafkaException):
            consumer.committed([place], timeout=patience(30))
            return


def part_of_words(topic: str, words: Sequence[bytes] = WORDS) -> StagedPart:
    content = pickle.dumps(Messages(topic, list(words), None, None, None, None))
    return StagedPart("part", topic, (content,))


def commit(broker: KafkaBroker, topic: str, id_: str, part: StagedPart) -> None:
    guarantee = DeliveryGuarantee.EXACTLY_ONCE
    sink = text_sink(broker, topic, guarantee, default_api_timeout_ms=str(int(patience(6) * 1000)))
    lane = TransactionLane(sink._settings, id_, None)
    try:
        lane.commit(EPOCH, [part])
    finally:
        lane.close()


def coordinator_of(broker: KafkaBroker, id_: str) -> TransactionCoordinator:
    return TransactionCoordinator(broker.client(), id_, patience(10))


def ended_behind_its_back(broker: KafkaBroker, id_: str, commits: bool) -> Told:
    with coordinator_of(broker, id_) as coordinator:
        told = coordinator.describe()
        assert told is not None
        coordinator.end(told, commits)
        while (now := coordinator.describe()) is not None and not now.state.startswith("Complete"):
            pass
    return told


class Unended:
    """The epoch's first word is in its transaction, the second in what nobody has told how it ended."""

    def __init__(self, broker: KafkaBroker, commits: bool, mark_hangs: bool) -> None:
        from confluent_kafka import Consumer, Producer, TopicPartition

        self.broker = broker
        self.topic, self.id = create_topic(broker), f"lane-{uuid.uuid4().hex}"
        consumer = Consumer(broker.client(**{"group.id": self.id}))
        _wait_for_coordinator(consumer, TopicPartition(self.topic, 0))
        self.part = part_of_words(self.topic)
        digest = hashlib.sha256(b"part").hexdigest()
        producer = Producer(broker.client(**{"transactional.id": self.id}))
        producer.init_transactions(patience(30))
        producer.begin_transaction()
        producer.produce(self.topic, WORDS[0])
        if not mark_hangs:
            mark = TopicPartition(self.topic, 0, EPOCH, metadata=digest)
            producer.send_offsets_to_transaction([mark], consumer.consumer_group_metadata(), patience(30))
        consumer.close()
        assert producer.flush(patience(30)) == 0
        told = self._ended(commits)
        producer.produce(self.topic, WORDS[1])
        assert producer.flush(patience(30)) == 0
        if mark_hangs:
            self._mark(told, digest)
        assert hanging_partitions(broker, self.topic) == {0}
        producer.purge()

    def _ended(self, commits: bool) -> Told:
        return ended_behind_its_back(self.broker, self.id, commits)

    def coordinator(self) -> TransactionCoordinator:
        return coordinator_of(self.broker, self.id)

    def _mark(self, who: Told, digest: str) -> None:
        host, port = self.broker.address.split(":")
        mark = struct.pack(">iq", 0, EPOCH) + string(f"{digest}\0")  # librdkafka writes the end of a text, too
        named = string(self.id) + string(self.id) + struct.pack(">qh", who.producer_id, who.epoch)
        with Connection(host, int(port), {}, patience(10)) as connection:
            places = array([string(self.topic) + array([mark])])
            answer = connection.ask(_COMMIT_OFFSETS_IN_TRANSACTION, named + places)
        answer.int32(), answer.int32(), answer.string(), answer.int32(), answer.int32()
        assert answer.int16() == 0

    def commit(self) -> None:
        commit(self.broker, self.topic, self.id, self.part)

    def assert_once(self) -> None:
        assert hanging_partitions(self.broker, self.topic) == set()
        assert sorted(each.value() for each in committed_messages(self.broker, self.topic)) == sorted(WORDS)


@pytest.mark.parametrize("commits", [True, False])
@pytest.mark.parametrize("mark_hangs", [True, False])
def test_what_was_decided_is_told_to_all_partitions(broker: KafkaBroker, commits: bool, mark_hangs: bool) -> None:
    """Nothing is produced if it was committed, everything if it was aborted, and nobody waits."""
    unended = Unended(broker, commits, mark_hangs)
    unended.commit()
    unended.assert_once()


class Killed(BaseException):
    pass


@pytest.mark.parametrize("commits", [True, False])
@pytest.mark.parametrize("step", ["add", "end"])
@pytest.mark.parametrize("after", [True, False])
def test_who_tells_may_die(
    broker: KafkaBroker, monkeypatch: pytest.MonkeyPatch, commits: bool, step: str, after: bool
) -> None:
    """Kafka has forgotten the verdict by then: the id was opened."""
    unended = Unended(broker, commits, mark_hangs=True)
    original, calls = getattr(TransactionCoordinator, step), itertools.count()

    def dying(self: TransactionCoordinator, *arguments: Any) -> None:
        dies = next(calls) == 0
        if after or not dies:
            while True:
                try:
                    original(self, *arguments)
                    break
                except NotYet:
                    continue
        if dies:
            raise Killed

    monkeypatch.setattr(TransactionCoordinator, step, dying)
    with pytest.raises(Killed):
        unended.commit()
    unended.commit()
    unended.assert_once()


def test_an_open_transaction_is_ended_before_it_is_judged(broker: KafkaBroker) -> None:
    """While it is open, somebody may still commit it."""
    from confluent_kafka import KafkaException, Producer

    unended = Unended(broker, commits=False, mark_hangs=False)
    unended.commit()
    before = Producer(broker.client(**{"transactional.id": unended.id}))
    before.init_transactions(patience(30))
    before.begin_transaction()
    before.produce(unended.topic, b"never")
    assert before.flush(patience(30)) == 0
    with unended.coordinator() as coordinator:
        told = coordinator.describe()
        assert told is not None and told.state == "Ongoing"
        coordinator.fence(60_000)
    with pytest.raises(KafkaException):
        before.commit_transaction(patience(30))
    unended.commit()
    unended.assert_once()


@contextlib.contextmanager
def open_transaction_of_another(broker: KafkaBroker, topic: str) -> Iterator[None]:
    """Readers with read_committed do not get behind it, whatever else has ended."""
    from confluent_kafka import Producer

    other = Producer(broker.client(**{"transactional.id": f"other-{uuid.uuid4().hex}"}))
    other.init_transactions(patience(30))
    other.begin_transaction()
    other.produce(topic, b"of another")
    assert other.flush(patience(30)) == 0
    yield
    other.abort_transaction(patience(30))


def test_a_commit_returns_when_all_partitions_know(broker: KafkaBroker, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mark and the coordinator say that it is over; one partition of the results has not heard of it."""
    topic, id_ = create_topic(broker), f"lane-{uuid.uuid4().hex}"
    original, commits = KafkaProducing.retried, itertools.count()

    def forgetting(self: KafkaProducing, step: Any, *arguments: Any, **further: Any) -> Any:
        if step != self.producer.commit_transaction or next(commits):
            return original(self, step, *arguments, **further)
        ended_behind_its_back(broker, id_, commits=True)
        self.producer.produce(topic, WORDS[1])
        assert self.producer.flush(patience(30)) == 0
        return None

    monkeypatch.setattr(KafkaProducing, "retried", forgetting)
    with open_transaction_of_another(broker, topic):
        commit(broker, topic, id_, part_of_words(topic, WORDS[:1]))
    assert hanging_partitions(broker, topic) == set()
    assert sorted(each.value() for each in committed_messages(broker, topic)) == sorted(WORDS)


def test_what_another_has_open_is_not_ones_own(broker: KafkaBroker, caplog: pytest.LogCaptureFixture) -> None:
    topic, id_ = create_topic(broker), f"lane-{uuid.uuid4().hex}"
    with open_transaction_of_another(broker, topic), caplog.at_level("WARNING", "penstock.kafka"):
        commit(broker, topic, id_, part_of_words(topic))
        commit(broker, topic, id_, part_of_words(topic))
    assert "told all partitions" not in caplog.text
    assert sorted(each.value() for each in committed_messages(broker, topic)) == sorted(WORDS)


@pytest.mark.parametrize("step", ["send_offsets_to_transaction", "commit_transaction"])
@pytest.mark.parametrize("after", [True, False])
def test_a_call_that_does_not_come_back_costs_no_restart(
    broker: KafkaBroker, monkeypatch: pytest.MonkeyPatch, step: str, after: bool
) -> None:
    """What became of it is looked up by another producer."""
    topic, id_ = create_topic(broker), f"lane-{uuid.uuid4().hex}"
    original, calls = KafkaProducing.retried, itertools.count()

    def losing(self: KafkaProducing, asked: Any, *arguments: Any, **further: Any) -> Any:
        lost = asked == getattr(self.producer, step) and next(calls) == 0
        if after or not lost:
            answer = original(self, asked, *arguments, **further)
        if lost:
            raise CallLost("lost")
        return answer

    monkeypatch.setattr(KafkaProducing, "retried", losing)
    commit(broker, topic, id_, part_of_words(topic))
    assert hanging_partitions(broker, topic) == set()
    assert sorted(each.value() for each in committed_messages(broker, topic)) == sorted(WORDS)

"""Exactly once: an epoch's messages are one transaction of Kafka, which also says that it was done.

The transaction carries, as a committed offset of a group that nobody reads by, the epoch's number and a digest of its
parts. After a crash that is looked up, and the epoch is produced again only if it is not there. docs/adr/0023 says why.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
from collections.abc import Sequence
from itertools import groupby
from typing import Any, NamedTuple

from penstock.common.errors import JobExecutionError
from penstock.connectors.kafka.coordinator import Told
from penstock.connectors.kafka.producing import CallLost, KafkaProducing
from penstock.connectors.kafka.settings import KafkaSettings, confluent_kafka, new_client
from penstock.connectors.kafka.staged_parts import StagedPart
from penstock.connectors.kafka.unended import Unended

_logger = logging.getLogger("penstock.kafka")
_TRIES = 3
_CALL_SECONDS = 10.0
_LOOK_SECONDS = 10.0
_STABLE_SECONDS = 2.0  # an offset that is decided is told at once
_ASK_AGAIN_MS = 5  # partitions know some milliseconds after the coordinator has decided
_TRANSACTION_TIMEOUT_MS = 900_000  # as long as brokers allow by default; it only runs while somebody produces


class Mark(NamedTuple):
    """Which epoch was committed last."""

    epoch: int
    digest: str


class TransactionLane:
    """One transactional id, whose epochs come in order. Whoever opens it next ends what another has left open in it,
    and fences that one. No transaction is left before it is known to have ended in all partitions, so that one which is
    found open is always that of the parts at hand."""

    def __init__(self, settings: KafkaSettings, id_: str, directory: str | None) -> None:
        self._settings = settings
        self._id = id_
        self._directory = directory
        self._producing: KafkaProducing | None = None
        self._consumer: Any = None
        self._unended: Unended | None = None
        self._topics: set[str] = set()  # of what it has produced
        self._last: Mark | None = None  # None: it has to be looked up

    def commit_groups(self, epoch: int, parts: Sequence[StagedPart]) -> None:
        """Of the epoch, and before it those that nobody has heard of before: each was, or is, a transaction."""
        groups = [list(group) for _, group in groupby(parts, lambda part: part.group)]
        for place, group in enumerate(groups, 1):
            self.commit(epoch - len(groups) + place, group, [part for left in groups[place - 1 :] for part in left])

    def commit(self, epoch: int, parts: Sequence[StagedPart], at_hand: Sequence[StagedPart] = ()) -> None:
        """Produces the parts, unless that was done; their files go. The transaction that this lane made last may be of
        another of those that are at hand."""
        for tries_left in reversed(range(_TRIES)):
            try:
                self._try_to_commit(epoch, parts, at_hand or parts)
                break
            except CallLost:
                if not tries_left:
                    raise
                _logger.warning("Kafka's client does not come back: the transactions of %s are opened again", self._id)
        for part in parts:
            part.delete(self._directory)

    def _try_to_commit(self, epoch: int, parts: Sequence[StagedPart], at_hand: Sequence[StagedPart]) -> None:
        digest = hashlib.sha256(" ".join(part.part_id for part in parts).encode()).hexdigest()
        place = confluent_kafka().TopicPartition(parts[0].first_topic, 0)
        try:
            producing = self._opened(at_hand)
            last = self._last or self._read_mark(place)
            if last.digest != digest:
                if last.epoch >= epoch:
                    raise self._overtaken(last.epoch, epoch)
                self._produce(producing, place, parts, Mark(epoch, digest))
        except BaseException:
            self._last = None  # what became of it is not certain: the next one looks it up
            self.close()
            raise
        self._last = Mark(epoch, digest)

    def _opened(self, at_hand: Sequence[StagedPart]) -> KafkaProducing:
        if self._producing is None:
            timeout_ms = self._settings.number("transaction.timeout.ms", _TRANSACTION_TIMEOUT_MS)
            producing = KafkaProducing(
                self._settings, "committing", transactional__id=self._id, transaction__timeout__ms=timeout_ms
            )
            unended = Unended(self._settings, self._id, at_hand[0].first_topic, producing, self._is_stable)
            try:
                unended.note(timeout_ms)
                producing.retried(producing.producer.init_transactions, producing.outage.patience)
            except confluent_kafka().KafkaException as error:
                raise producing.outage.failure(error.args[0]) from None
            # Only by a consumer's word does a transaction take offsets along.
            asking = {"group.id": self._id, "isolation.level": "read_committed", "retry.backoff.ms": _ASK_AGAIN_MS}
            self._consumer = new_client("Consumer", self._settings.for_consumer(**asking))
            self._producing, self._unended = producing, unended
            self._topics.update(*(part.topics(self._directory) for part in at_hand))
            unended.tell(self._topics)
            producing.went_away()
            producing.outage.over()
        return self._producing

    def _is_stable(self) -> bool:
        """Of all marks that the last transaction may have set."""
        places = [confluent_kafka().TopicPartition(topic, 0) for topic in self._topics]
        try:
            return all(found.error is None for found in self._consumer.committed(places, timeout=_STABLE_SECONDS))
        except confluent_kafka().KafkaException:
            return False

    def _read_mark(self, place: Any) -> Mark:
        assert self._producing is not None and self._unended is not None
        outage = self._producing.outage
        try:
            found = self._producing.retried(self._committed, place, outage.patience)
        except confluent_kafka().KafkaException as error:
            if self._is_undecided(place):
                raise self._unended.hanging() from None
            raise outage.failure(error.args[0]) from None
        return Mark(found.offset, found.metadata or "") if found.offset >= 0 else Mark(-1, "")

    def _committed(self, place: Any, seconds: float) -> Any:
        (found,) = self._consumer.committed([place], timeout=seconds)
        if found.error is not None:  # not the same as nothing
            raise confluent_kafka().KafkaException(found.error)
        return found

    def _is_undecided(self, place: Any) -> bool:
        """Whether the mark can be read, only not as one that stays: a transaction that should have ended has not."""
        settings = {"group.id": self._id, "isolation.level": "read_uncommitted"}
        consumer = new_client("Consumer", self._settings.for_consumer(**settings))
        try:
            consumer.committed([place], timeout=_LOOK_SECONDS)
        except confluent_kafka().KafkaException:
            return False
        finally:
            consumer.close()
        return True

    def _produce(self, producing: KafkaProducing, place: Any, parts: Sequence[StagedPart], mark: Mark) -> None:
        producer = producing.producer
        try:
            producer.begin_transaction()
            self._send(producing, parts)
            transaction = self._commit(producing, place, mark)
        except confluent_kafka().KafkaException as error:
            with contextlib.suppress(confluent_kafka().KafkaException):
                producer.abort_transaction(1.0)  # else the next one who opens the id does
            if error.args[0].code() == confluent_kafka().KafkaError._TIMED_OUT:
                raise CallLost(str(producing.outage.failure(error.args[0]))) from None
            raise producing.error(f"epoch {mark.epoch} of the sink could not be committed", error) from None
        self._see_it_ended(transaction, place, parts)

    def _send(self, producing: KafkaProducing, parts: Sequence[StagedPart]) -> None:
        for part in parts:
            for messages in part.messages(self._directory):
                self._topics.update(messages.all_topics)
                producing.send(messages)

    def _commit(self, producing: KafkaProducing, place: Any, mark: Mark) -> Told | None:
        assert self._unended is not None
        producer, seconds = producing.producer, min(_CALL_SECONDS, producing.outage.patience)
        marked = confluent_kafka().TopicPartition(place.topic, place.partition, mark.epoch, metadata=mark.digest)
        group = self._consumer.consumer_group_metadata()
        mark_it = (producer.send_offsets_to_transaction, [marked], group, seconds)
        try:
            producing.retried(*mark_it, within=seconds)
        except confluent_kafka().KafkaException as error:
            if error.args[0].code() != confluent_kafka().KafkaError._STATE:
                raise
            # A message failed meanwhile: a call that begins after it says why.
            producing.retried(*mark_it, within=seconds)
        # Then the transaction has all of its partitions; if not, the commit says why.
        producer.flush(producing.outage.patience)
        transaction = self._unended.transaction()
        producing.retried(producer.commit_transaction, seconds, within=seconds)
        return transaction

    def _see_it_ended(self, transaction: Told | None, place: Any, parts: Sequence[StagedPart]) -> None:
        """Kafka answers when a commit is decided; brokers that die before all partitions know may forget some. Who
        opens the id tells them."""
        assert self._unended is not None
        if not self._unended.is_over(transaction):
            self.close()
            self._opened(parts)
            self._read_mark(place)  # a failure if it still hangs

    def _overtaken(self, there: int, epoch: int) -> JobExecutionError:
        return JobExecutionError(
            f"Kafka at {self._settings.servers} has epoch {there} of the sink {self._id!r} already, but this job is at"
            f" epoch {epoch}: another process runs a job with this id. If there is none, give the sink another"
            " transactional id prefix."
        )

    def close(self) -> None:
        if self._producing is not None and self._unended is not None:
            self._unended.close()
            self._consumer.close()
            self._producing.close()
            self._producing = None

"""Exactly once, the driver's half: an epoch is one transaction of Kafka, which also says that it was done.

The transaction carries, as a committed offset of a group that nobody reads by, the epoch's number and a digest of its
parts. After a crash that is looked up, and the epoch is produced again only if it is not there. docs/adr/0023 says why.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
from typing import Any, NamedTuple

from penstock.common.errors import JobExecutionError
from penstock.connectors.kafka.producing import KafkaProducing
from penstock.connectors.kafka.settings import KafkaSettings, confluent_kafka, new_client
from penstock.connectors.kafka.staging import StagedPart
from penstock.functions.sink import Committer, CommitterContext
from penstock.storage import storage_at

_TRANSACTION_TIMEOUT_MS = 900_000  # as long as brokers allow by default; it only runs while the driver produces
_logger = logging.getLogger("penstock.kafka")


class Mark(NamedTuple):
    """Which epoch was committed last."""

    epoch: int
    digest: str


class TransactionCommitter(Committer):
    """One producer with one transactional id: whoever opens it next ends what this one has left open, and fences it."""

    def __init__(self, settings: KafkaSettings, prefix: str, context: CommitterContext) -> None:
        self._settings = settings
        self._id = f"{prefix}-{context.job_id}-{context.operator_uid}"
        self._directory = context.directory
        self._producing: KafkaProducing | None = None
        self._last: Mark | None = None  # None: it has to be looked up

    def commit(self, epoch: int, committables: list[StagedPart]) -> None:
        digest = hashlib.sha256(" ".join(part.part_id for part in committables).encode()).hexdigest()
        place = confluent_kafka().TopicPartition(committables[0].first_topic, 0)
        try:
            producing = self._opened()
            last = self._last or self._read_mark(place)
            if last.digest != digest:
                if last.epoch >= epoch:
                    raise self._overtaken(last.epoch, epoch)
                self._produce(producing, place, committables, Mark(epoch, digest))
        except BaseException:
            self._forget()
            raise
        self._last = Mark(epoch, digest)
        self._delete_files(committables)

    def _opened(self) -> KafkaProducing:
        if self._producing is None:
            producing = KafkaProducing(
                self._settings,
                "committing",
                transactional__id=self._id,
                transaction__timeout__ms=self._settings.number("transaction.timeout.ms", _TRANSACTION_TIMEOUT_MS),
            )
            try:
                producing.retried(producing.producer.init_transactions, producing.outage.patience)
            except confluent_kafka().KafkaException as error:
                raise producing.outage.failure(error.args[0]) from None
            # Only by a consumer's word does a transaction take offsets along.
            self._consumer = new_client(
                "Consumer", self._settings.for_consumer(**{"group.id": self._id, "isolation.level": "read_committed"})
            )
            self._producing = producing
        return self._producing

    def _read_mark(self, place: Any) -> Mark:
        assert self._producing is not None
        try:
            (found,) = self._consumer.committed([place], timeout=self._producing.outage.patience)
        except confluent_kafka().KafkaException as error:
            raise self._producing.outage.failure(error.args[0]) from None
        return Mark(found.offset, found.metadata or "") if found.offset >= 0 else Mark(-1, "")

    def _produce(self, producing: KafkaProducing, place: Any, parts: list[StagedPart], mark: Mark) -> None:
        producer = producing.producer
        try:
            producer.begin_transaction()
            self._send(producing, parts)
            self._commit(producing, place, mark)
        except confluent_kafka().KafkaException as error:
            with contextlib.suppress(confluent_kafka().KafkaException):
                producer.abort_transaction(1.0)  # else the next one who opens the id does
            raise producing.error(f"epoch {mark.epoch} of the sink could not be committed", error) from None

    def _send(self, producing: KafkaProducing, parts: list[StagedPart]) -> None:
        for part in parts:
            for messages in part.messages(self._directory):
                producing.send(messages)

    def _commit(self, producing: KafkaProducing, place: Any, mark: Mark) -> None:
        producer, patience = producing.producer, producing.outage.patience
        marked = confluent_kafka().TopicPartition(place.topic, place.partition, mark.epoch, metadata=mark.digest)
        group = self._consumer.consumer_group_metadata()
        producing.retried(producer.send_offsets_to_transaction, [marked], group, patience)
        producing.retried(producer.commit_transaction, patience)

    def _overtaken(self, there: int, epoch: int) -> JobExecutionError:
        return JobExecutionError(
            f"Kafka at {self._settings.servers} has epoch {there} of the sink {self._id!r} already, but this job is at"
            f" epoch {epoch}: another process runs a job with this id. If there is none, give the sink another"
            " transactional id prefix."
        )

    def _forget(self) -> None:
        """What became of the last commit is not certain: the next one looks it up."""
        self._last = None
        self.close()

    def _delete_files(self, parts: list[StagedPart]) -> None:
        for part in parts:
            if part.content is None and self._directory is not None:
                storage_at(self._directory).delete(part.part_id)

    def sweep(self) -> None:
        """Nobody will ask for the mark again."""
        admin = new_client("AdminClient", self._settings.for_admin())
        for future in admin.delete_consumer_groups([self._id]).values():
            try:
                future.result(10)
            except Exception as error:
                _logger.info("the group %s, which marks commits, was not deleted: %s", self._id, error)

    def close(self) -> None:
        if self._producing is not None:
            self._consumer.close()
            self._producing.close()
            self._producing = None

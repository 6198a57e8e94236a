"""A producer of librdkafka that takes many messages at once and does not lose an error."""

from __future__ import annotations

import logging
import time
from itertools import repeat
from typing import Any

from penstock.common.errors import JobExecutionError
from penstock.connectors.kafka.outage import Outage
from penstock.connectors.kafka.serializer import Messages
from penstock.connectors.kafka.settings import KafkaSettings, confluent_kafka, new_client

_logger = logging.getLogger("penstock.kafka")
_ROOM_WAIT = 0.05
_POLL_EVERY = 10_000
_ANY_PARTITION = -1
_NOW = 0


class KafkaProducing:
    """`doing` completes the sentence "Kafka does not answer while ..."."""

    def __init__(self, settings: KafkaSettings, doing: str, logs_failures: bool = False, **further: Any) -> None:
        self._kafka = confluent_kafka()
        errors = self._kafka.KafkaError
        # Of a broker that has just started, or has died.
        self._coordinator_moves = (
            errors.NOT_COORDINATOR,
            errors.COORDINATOR_LOAD_IN_PROGRESS,
            errors.COORDINATOR_NOT_AVAILABLE,
        )
        self.outage = Outage(settings, doing)
        self._servers = settings.servers
        self._failed: str | None = None
        self._logs_failures = logs_failures
        # Keys go to the same partitions as with Kafka's Java client.
        client = settings.for_client(partitioner="murmur2_random", linger__ms=5, message__timeout__ms=120_000)
        client |= {key.replace("__", "."): value for key, value in further.items()}
        client |= {"error_cb": self.outage.error_cb, "delivery.report.only.error": True}
        if "transactional.id" not in client:
            client["on_delivery"] = self._on_delivery  # a transaction fails by itself if a message does
        self.producer = new_client("Producer", client)

    def _on_delivery(self, error: Any, message: Any) -> None:
        if error is None:
            return
        told = f"a record for {message.topic()} could not be written to Kafka at {self._servers}: {error.str()}"
        if self._logs_failures:
            _logger.error(told)
        else:
            self._failed = self._failed or told

    def send(self, messages: Messages) -> None:
        """Returns when all are on their way; waits where the client has no room for more."""
        produce, poll = self.producer.produce, self.producer.poll
        count = len(messages.values)
        topics = repeat(messages.topics, count) if isinstance(messages.topics, str) else messages.topics
        columns = zip(
            topics,
            messages.values,
            messages.keys or repeat(None, count),
            messages.partitions or repeat(_ANY_PARTITION, count),
            messages.timestamps or repeat(_NOW, count),
            messages.headers or repeat(None, count),
            strict=True,
        )
        for sent, (topic, value, key, partition, timestamp, headers) in enumerate(columns):
            while True:
                try:
                    produce(topic, value, key, partition, None, None, timestamp, headers)
                    break
                except BufferError:
                    poll(_ROOM_WAIT)
                    self.check()
                except self._kafka.KafkaException as error:
                    raise self.error(f"a record for {topic} was not accepted", error) from None
            if sent % _POLL_EVERY == 0:
                poll(0)
        poll(0)
        self.check()

    def flush(self) -> None:
        """Until all are written; a message that stays too long fails by its own timeout."""
        while self.producer.flush(1.0):
            self.check()
        self.check()

    def check(self) -> None:
        if self._failed is not None:
            raise JobExecutionError(self._failed)

    def retried(self, step: Any, *arguments: Any) -> Any:
        """A call about transactions or groups: one that may be repeated is, as long as patience lasts."""
        began = time.monotonic()
        while True:
            try:
                return step(*arguments)
            except self._kafka.KafkaException as error:
                told = error.args[0]
                again = told.retriable() or told.code() in self._coordinator_moves
                if not again or time.monotonic() - began > self.outage.patience:
                    raise
                time.sleep(_ROOM_WAIT)

    def error(self, what: str, error: Any) -> JobExecutionError:
        return JobExecutionError(f"Kafka at {self._servers}: {what}: {error.args[0].str()}")

    def close(self) -> None:
        """What is still on its way is dropped: whoever wanted it has called flush()."""
        self.producer.purge()
        self.producer.flush(0.1)

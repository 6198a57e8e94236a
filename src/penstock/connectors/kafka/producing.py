"""A producer of librdkafka that takes many messages at once and does not lose an error."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Iterable
from concurrent.futures import Future
from itertools import repeat
from operator import length_hint
from typing import Any

from penstock.common.errors import JobExecutionError
from penstock.connectors.kafka.outage import KafkaUnreachable, Outage
from penstock.connectors.kafka.partition_turns import ANY_PARTITION, PartitionTurns
from penstock.connectors.kafka.serializer import Messages
from penstock.connectors.kafka.settings import KafkaSettings, confluent_kafka, new_client

_logger = logging.getLogger("penstock.kafka")
_ROOM_WAIT = 0.05
_POLL_EVERY = 10_000
_LATE = 1.5  # times its timeout: such a call does not come back
_NONE = repeat(None)
_NOW = repeat(0)
_AS_IN_JAVA = "murmur2_random"  # keys go to the same partitions as with Kafka's Java client
_STICKY = "sticky.partitioning.linger.ms"


class CallLost(KafkaUnreachable):
    """It does not come back, and its producer is of no use any more; another one may be."""


class KafkaProducing:
    """`doing` completes the sentence "Kafka does not answer while ..."."""

    def __init__(self, settings: KafkaSettings, doing: str, logs_failures: bool = False, **further: Any) -> None:
        self._kafka = confluent_kafka()
        errors = self._kafka.KafkaError
        # Of a broker that has just started, or has died; and while it ends somebody's transaction.
        self._passing = (
            errors.NOT_COORDINATOR,
            errors.COORDINATOR_LOAD_IN_PROGRESS,
            errors.COORDINATOR_NOT_AVAILABLE,
            errors.UNSTABLE_OFFSET_COMMIT,
        )
        self.outage = Outage(settings, doing)
        self._servers = settings.servers
        self._failed: str | None = None
        self._logs_failures = logs_failures
        client = settings.for_client(partitioner=_AS_IN_JAVA, linger__ms=5, message__timeout__ms=120_000)
        client |= {key.replace("__", "."): value for key, value in further.items()}
        client |= {"error_cb": self.outage.error_cb, "delivery.report.only.error": True}
        if "transactional.id" not in client:
            client["on_delivery"] = self._on_delivery  # a transaction fails by itself if a message does
        self.producer = new_client("Producer", client)
        takes_turns = client["partitioner"] == _AS_IN_JAVA and _STICKY not in client
        self._turns = PartitionTurns(self.producer.list_topics) if takes_turns else None

    def _on_delivery(self, error: Any, message: Any) -> None:
        if error is None:
            return
        told = f"a record for {message.topic()} could not be written to Kafka at {self._servers}: {error.str()}"
        if error.code() == self._kafka.KafkaError._MSG_TIMED_OUT:
            question = self.outage.refusal or "Are the brokers running, and is the topic there?"
            told += f". {question} delivery.timeout.ms says how long to try"
        if self._logs_failures:
            _logger.error(told)
        else:
            self._failed = self._failed or told

    def send(self, messages: Messages) -> None:
        """Returns when all are on their way; waits where the client has no room for more."""
        producer, count, sent = self.producer, len(messages.values), 0
        topics = repeat(messages.topics) if isinstance(messages.topics, str) else messages.topics
        while sent < count:
            end = min(count, sent + _POLL_EVERY)
            # In the order of produce()'s parameters; there are two names for a callback. No loop of Python's own.
            values = iter(messages.values[sent:end])
            columns = (
                _some(topics, sent, end),
                values,
                _some(messages.keys or _NONE, sent, end),
                _some(messages.partitions or repeat(self._partition(messages, end - sent)), sent, end),
                _NONE,
                _NONE,
                _some(messages.timestamps or _NOW, sent, end),
                _some(messages.headers or _NONE, sent, end),
            )
            try:
                deque(map(producer.produce, *columns), maxlen=0)
                sent = end
                producer.poll(0)
            except BufferError:
                sent = end - length_hint(values) - 1
                producer.poll(_ROOM_WAIT)
            except self._kafka.KafkaException as error:
                failed = end - length_hint(values) - 1
                topic = messages.topics if isinstance(messages.topics, str) else messages.topics[failed]
                raise self.error(f"a record for {topic} was not accepted", error) from None
            self.check()

    def _partition(self, messages: Messages, count: int) -> int:
        if self._turns is None or messages.keys is not None or not isinstance(messages.topics, str):
            return ANY_PARTITION
        return self._turns.next(messages.topics, count)

    def flush(self) -> None:
        """Until all are written; a message that stays too long fails by its own timeout."""
        while self.producer.flush(1.0):
            self.check()
        self.check()

    def check(self) -> None:
        if self._failed is not None:
            raise JobExecutionError(self._failed)

    def went_away(self) -> bool:
        """Whether a connection was lost since `outage.over()`."""
        self.producer.poll(0)
        return self.outage.noticed

    def retried(self, step: Any, *arguments: Any, within: float | None = None) -> Any:
        """A call about transactions or groups: one that may be repeated is, as long as patience lasts. `within` is the
        timeout that it was given, if that is not all of the patience."""
        began = time.monotonic()
        while True:
            try:
                return self._in_time(step, arguments, within or self.outage.patience)
            except self._kafka.KafkaException as error:
                told = error.args[0]
                again = told.retriable() or told.code() in self._passing
                if not again or time.monotonic() - began > self.outage.patience:
                    raise
                time.sleep(_ROOM_WAIT)

    def _in_time(self, step: Any, arguments: tuple[Any, ...], seconds: float) -> Any:
        """Calls get a timeout, but one that was under way when a broker died may not keep it: librdkafka then waits for
        an answer that nobody will give. It is left alone with its producer; who opens the id next goes on."""
        ended: Future[Any] = Future()

        def call() -> None:
            try:
                ended.set_result(step(*arguments))
            except BaseException as error:
                ended.set_exception(error)

        threading.Thread(target=call, name="kafka-call", daemon=True).start()
        try:
            return ended.result(_LATE * seconds)
        except TimeoutError:
            if ended.done():  # it was the call's own
                raise
            raise CallLost(str(self.outage.failure())) from None

    def error(self, what: str, error: Any) -> JobExecutionError:
        return JobExecutionError(f"Kafka at {self._servers}: {what}: {error.args[0].str()}")

    def close(self) -> None:
        """What is still on its way is dropped: whoever wanted it has called flush()."""
        self.producer.purge()
        self.producer.flush(0.1)


def _some(column: list[Any] | repeat[Any], start: int, end: int) -> Iterable[Any]:
    return column if isinstance(column, repeat) else column[start:end]

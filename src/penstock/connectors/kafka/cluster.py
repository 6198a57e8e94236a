"""What the driver asks a cluster: its partitions, their offsets, and what a group has committed."""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable, Mapping
from concurrent.futures import TimeoutError as FutureTimeout
from importlib import import_module
from typing import Any

from penstock.connectors.kafka.offsets import KafkaTopicPartition, Offsets
from penstock.connectors.kafka.outage import Outage
from penstock.connectors.kafka.settings import KafkaSettings, confluent_kafka, new_client

_NO_GROUP = "penstock"  # librdkafka wants a group for every consumer; this one never commits
_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 2.0  # seconds
_LEADER_SECONDS = 5.0
_CALL_SECONDS = 10.0
_logger = logging.getLogger("penstock.kafka")


class KafkaCluster:
    """Questions are asked again, with back-off, by the clients themselves, as long as the settings' patience lasts."""

    def __init__(self, settings: KafkaSettings, doing: str) -> None:
        self._kafka = confluent_kafka()
        self._spec: Any = import_module("confluent_kafka.admin").OffsetSpec
        self._outage = Outage(settings, doing)
        self._group = settings.get("group.id")
        client = settings.for_client(group__id=_NO_GROUP, isolation__level="read_uncommitted")
        client |= settings.client_id("enumerator-consumer")
        client |= {"enable.auto.commit": False, "error_cb": self._outage.error_cb}
        self._consumer = new_client("Consumer", client)
        self._admin = new_client("AdminClient", {**settings.for_admin(), "error_cb": self._outage.error_cb})
        self._read_committed = client["isolation.level"] == "read_committed"

    def metadata(self) -> Any:
        # Asked by the client that is asked for offsets: it then knows the leaders of new partitions, too.
        return self._asked(lambda: self._admin.list_topics(timeout=self._outage.patience))

    def earliest(self, partitions: list[KafkaTopicPartition]) -> Offsets:
        return self._listed(partitions, self._spec.earliest())

    def latest(self, partitions: list[KafkaTopicPartition]) -> Offsets:
        return self._listed(partitions, self._spec.latest())

    def at_time(self, partitions: list[KafkaTopicPartition], timestamp: int) -> Offsets:
        found = self._listed(partitions, self._spec.for_timestamp(timestamp))
        return {**self.latest(partitions), **{each: offset for each, offset in found.items() if offset >= 0}}

    def committed(self, partitions: list[KafkaTopicPartition]) -> Offsets:
        if self._group is None or not partitions:
            return {}
        places = [self._place(each) for each in partitions]
        found = self._asked(lambda: self._consumer.committed(places, timeout=self._outage.patience))
        return {KafkaTopicPartition(each.topic, each.partition): each.offset for each in found if each.offset >= 0}

    def commit(self, offsets: Mapping[KafkaTopicPartition, int]) -> None:
        """For those who watch the group: the job itself never reads them, so a failure is only told."""
        if self._group is None or not offsets:
            return
        places = [self._place(each, offset) for each, offset in offsets.items()]
        try:
            self._consumer.commit(offsets=places, asynchronous=True)
        except self._kafka.KafkaException as error:
            _logger.warning("offsets of the group %s could not be committed: %s", self._group, error.args[0].str())

    def close(self) -> None:
        """Offsets that are on their way arrive before it returns."""
        self._consumer.close()

    def _listed(self, partitions: list[KafkaTopicPartition], spec: Any) -> Offsets:
        if not partitions:
            return {}
        level = self._kafka.IsolationLevel
        isolation = level.READ_COMMITTED if self._read_committed else level.READ_UNCOMMITTED
        wanted = {self._place(each): spec for each in partitions}

        def ask() -> Offsets:
            seconds = min(self._outage.patience, _CALL_SECONDS)  # all of it, if a leader has died meanwhile
            futures = self._admin.list_offsets(wanted, isolation_level=isolation, request_timeout=seconds)
            return {
                KafkaTopicPartition(place.topic, place.partition): future.result(2 * seconds).offset
                for place, future in futures.items()
            }

        offsets: Offsets = self._asked(ask)
        return offsets

    def _asked(self, ask: Callable[[], Any]) -> Any:
        """A request that was on its way when a broker went away fails at once: it is asked again."""
        began, pause = time.monotonic(), _FIRST_PAUSE
        while True:
            try:
                answer = ask()
            except (self._kafka.KafkaException, FutureTimeout) as error:
                self._admin.poll(0), self._consumer.poll(0)  # which tells the outage what clients have met
                if time.monotonic() - began > self._outage.patience:
                    raise self._outage.failure(*error.args) from None
                time.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)
                self._find_leaders()
            else:
                self._outage.over()
                return answer

    def _find_leaders(self) -> None:
        """A broker that was restarted refuses questions that name the leader of before, and the client does not ask by
        itself who leads now."""
        with contextlib.suppress(self._kafka.KafkaException):
            self._admin.list_topics(timeout=min(self._outage.patience, _LEADER_SECONDS))

    def _place(self, partition: KafkaTopicPartition, offset: int | None = None) -> Any:
        if offset is None:
            return self._kafka.TopicPartition(partition.topic, partition.partition)
        return self._kafka.TopicPartition(partition.topic, partition.partition, offset)

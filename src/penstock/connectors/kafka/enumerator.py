"""Finds the partitions of a Kafka source, on the driver."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from penstock.connectors.kafka.cluster import KafkaCluster
from penstock.connectors.kafka.offsets import KafkaOffsetsInitializer, KafkaTopicPartition
from penstock.connectors.kafka.settings import COMMIT_OFFSETS, DISCOVERY_INTERVAL, KafkaSettings
from penstock.connectors.kafka.subscription import Subscription
from penstock.functions.source import Split, SplitEnumerator

_DISCOVERY_INTERVAL_MS = 300_000  # Flink's


@dataclass(frozen=True)
class KafkaSplit(Split):
    """A partition. Positions are the offset of the next record; `start` is one, and so is `stop`."""

    partition: KafkaTopicPartition = KafkaTopicPartition("", 0)
    stop: int | None = None


class KafkaEnumerator(SplitEnumerator):
    """Offsets are looked up once for each partition, when it is found; the splits then carry numbers."""

    news_interval_ms = 25  # one request to each broker, and only while nothing comes

    def __init__(
        self,
        settings: KafkaSettings,
        subscription: Subscription,
        starting: KafkaOffsetsInitializer,
        stopping: KafkaOffsetsInitializer | None,
    ) -> None:
        interval = settings.number(DISCOVERY_INTERVAL, _DISCOVERY_INTERVAL_MS)
        # With an end given, partitions that come later do not belong to what the program asked for.
        self.discovery_interval_ms = None if stopping is not None or interval <= 0 else interval
        self._settings = settings
        self._subscription = subscription
        self._starting = starting
        self._stopping = stopping
        self._splits: dict[str, KafkaSplit] = {}
        self._restored: frozenset[str] | None = None  # ids; None: the job begins
        self._commits = settings.flag(COMMIT_OFFSETS, default=True)

    def restore_state(self, state: frozenset[str]) -> None:
        self._restored = state

    def open(self) -> None:
        self._cluster = KafkaCluster(self._settings, f"looking for partitions of {self._subscription}")

    def discover(self) -> list[KafkaSplit]:
        first = self._restored is None and not self._splits
        known = (self._restored or frozenset()) | self._splits.keys()
        partitions = self._subscription.find(self._cluster.metadata())
        new = [each for each in partitions if str(each) not in known]
        # As in Flink: a partition that appears while the job runs is read from its beginning.
        starting = self._starting if first else KafkaOffsetsInitializer.earliest()
        starts = starting.resolve(new, self._cluster)
        stops = {} if self._stopping is None else self._stopping.resolve(new, self._cluster)
        for each in new:
            self._splits[str(each)] = KafkaSplit(str(each), starts[each], each, stops.get(each))
        return list(self._splits.values())

    def snapshot_state(self) -> frozenset[str]:
        return (self._restored or frozenset()) | self._splits.keys()

    def has_news(self, positions: Mapping[str, Any]) -> bool:
        at = {_partition_of(id_): offset for id_, offset in positions.items()}
        latest = self._cluster.latest(list(at))
        return any(latest[each] > offset for each, offset in at.items())

    def on_commit(self, positions: Mapping[str, Any]) -> None:
        if self._commits:
            self._cluster.commit({_partition_of(id_): offset for id_, offset in positions.items()})

    def close(self) -> None:
        if hasattr(self, "_cluster"):
            self._cluster.close()


def _partition_of(split_id: str) -> KafkaTopicPartition:
    topic, _, number = split_id.rpartition("-")
    return KafkaTopicPartition(topic, int(number))

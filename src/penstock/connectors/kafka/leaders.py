"""Whether a producer has a transaction open in partitions: their leaders know, whoever else has one there."""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from penstock.connectors.kafka.coordinator import PRODUCERS, NotYet, Place, check
from penstock.connectors.kafka.wire import Answer, Connection, compact_array, compact_string

_PRODUCER = struct.Struct(">qiiqiqx")  # id, epoch, last number, last time, coordinator's epoch, begin; no tags
_NO_TRANSACTION = -1

Address = tuple[str, int]


class PartitionLeaders:
    """Keeps a connection to each. `list_topics` is that of a client of librdkafka."""

    def __init__(self, settings: Mapping[str, Any], list_topics: Callable[..., Any], seconds: float) -> None:
        self._settings = settings
        self._list_topics = list_topics
        self._seconds = seconds
        self._leaders: dict[Place, Address] = {}
        self._connections: dict[Address, Connection] = {}

    def partitions(self, topics: Iterable[str]) -> list[Place]:
        return [place for topic in topics for place in self._look_up(topic)]

    def have_open(self, producer_id: int, places: Iterable[Place]) -> bool:
        """One question to each leader, all at the same time."""
        try:
            asked = [self._ask(address, of_leader) for address, of_leader in self._by_leader(places).items()]
            found: set[int] = set()
            for connection in asked:
                found |= _with_open(connection.answer(compact=True))
            return producer_id in found
        except BaseException:
            self.close()  # leaders move, and brokers close connections that have nothing to do
            raise

    def _ask(self, address: Address, places: Mapping[str, list[int]]) -> Connection:
        connection = self._connections.get(address)
        if connection is None:
            connection = self._connections[address] = Connection(*address, self._settings, self._seconds)
        topics = [
            compact_string(topic) + compact_array([struct.pack(">i", number) for number in numbers]) + b"\0"
            for topic, numbers in places.items()
        ]
        connection.send(PRODUCERS, compact_array(topics) + b"\0", compact=True)
        return connection

    def _by_leader(self, places: Iterable[Place]) -> dict[Address, dict[str, list[int]]]:
        found: dict[Address, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
        for place in places:
            topic, number = place
            if place not in self._leaders:
                self._look_up(topic)
            found[self._leaders[place]][topic].append(number)
        return found

    def _look_up(self, topic: str) -> list[Place]:
        cluster = self._list_topics(topic, timeout=self._seconds)
        partitions = cluster.topics[topic].partitions
        if not partitions or any(each.leader not in cluster.brokers for each in partitions.values()):
            raise NotYet(f"{topic} has a partition without a leader")
        for number, partition in partitions.items():
            leader = cluster.brokers[partition.leader]
            self._leaders[topic, number] = leader.host, leader.port
        return [(topic, number) for number in sorted(partitions)]

    def close(self) -> None:
        for connection in self._connections.values():
            connection.close()
        self._connections.clear()
        self._leaders.clear()


def _with_open(answer: Answer) -> set[int]:
    """The ids of all producers that have a transaction open in one of the partitions of the answer."""
    found: set[int] = set()
    answer.int32()
    for _ in range(answer.varint() - 1):
        answer.compact_string()
        for _ in range(answer.varint() - 1):
            answer.int32()
            code, _ = answer.int16(), answer.compact_string()
            check(code)
            producers = _PRODUCER.iter_unpack(answer.bytes_((answer.varint() - 1) * _PRODUCER.size))
            found.update(id_ for id_, _, _, _, _, begin in producers if begin != _NO_TRANSACTION)
            answer.skip_tags()
        answer.skip_tags()
    return found

"""Which partition messages without a key go to, many at a time."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from confluent_kafka import KafkaError, KafkaException

from penstock.connectors.kafka.partition_turns import ANY_PARTITION, PartitionTurns

MANY, FEW = 5_000, 10


class Brokers:
    def __init__(self, leaders: dict[int, int]) -> None:
        self.leaders = leaders
        self.asked = 0
        self.away = False

    def list_topics(self, topic: str, timeout: float) -> Any:
        self.asked += 1
        if self.away:
            raise KafkaException(KafkaError(KafkaError._TRANSPORT))
        partitions = {number: SimpleNamespace(leader=leader) for number, leader in self.leaders.items()}
        return SimpleNamespace(topics={topic: SimpleNamespace(partitions=partitions)})


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_partitions_come_in_turn_and_are_asked_for_once() -> None:
    brokers = Brokers({0: 1, 1: 2, 2: 1})
    turns = PartitionTurns(brokers.list_topics, Clock())
    assert [turns.next("t", MANY) for _ in range(5)] == [0, 1, 2, 0, 1]
    assert turns.next("other", MANY) == 0
    assert brokers.asked == 2


def test_a_partition_without_a_leader_is_left_out() -> None:
    turns = PartitionTurns(Brokers({0: 1, 1: -1, 2: 1}).list_topics, Clock())
    assert [turns.next("t", MANY) for _ in range(3)] == [0, 2, 0]


def test_what_brokers_know_later_counts_later() -> None:
    brokers, clock = Brokers({0: 1}), Clock()
    turns = PartitionTurns(brokers.list_topics, clock)
    assert turns.next("t", MANY) == 0
    brokers.leaders, clock.now = {0: -1, 1: 1}, 31.0
    assert turns.next("t", MANY) == 1


def test_few_messages_and_brokers_that_are_away_leave_it_to_the_client() -> None:
    brokers = Brokers({0: 1})
    turns = PartitionTurns(brokers.list_topics, Clock())
    assert turns.next("t", FEW) == ANY_PARTITION and brokers.asked == 0
    brokers.away = True
    assert turns.next("t", MANY) == ANY_PARTITION
    brokers.leaders = {}
    brokers.away = False
    assert PartitionTurns(brokers.list_topics, Clock()).next("t", MANY) == ANY_PARTITION

"""Messages without a key go to the partitions in turn, thousands to each: nobody has to choose for every single one."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import cycle
from typing import Any

from penstock.connectors.kafka.settings import confluent_kafka

ANY_PARTITION = -1  # the client chooses
_WORTH_A_TURN = 1_000  # messages; fewer are spread by the client, which changes the partition every 10 ms
_KNOWN_SECONDS = 30.0
_ASK_SECONDS = 5.0


class PartitionTurns:
    """`list_topics` is that of a client of librdkafka."""

    def __init__(self, list_topics: Callable[..., Any], clock: Callable[[], float] = time.monotonic) -> None:
        self._list_topics = list_topics
        self._clock = clock
        self._turns: dict[str, tuple[cycle[int], float]] = {}  # by topic, and until when they hold

    def next(self, topic: str, messages: int) -> int:
        """The partition of so many messages."""
        if messages < _WORTH_A_TURN:
            return ANY_PARTITION
        turns, until = self._turns.get(topic, (None, 0.0))
        if turns is None or self._clock() > until:
            turns = cycle(self._with_leader(topic) or [ANY_PARTITION])
            self._turns[topic] = turns, self._clock() + _KNOWN_SECONDS
        return next(turns)

    def _with_leader(self, topic: str) -> list[int]:
        try:
            partitions = self._list_topics(topic, timeout=_ASK_SECONDS).topics[topic].partitions
        except confluent_kafka().KafkaException:
            return []  # brokers are away: what becomes of that is the client's to find out
        return sorted(number for number, partition in partitions.items() if partition.leader >= 0)

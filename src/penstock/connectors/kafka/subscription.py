"""Which partitions a source reads: of topics, of all topics whose names match, or single ones."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from penstock.common.errors import ProgramError
from penstock.connectors.kafka.offsets import KafkaTopicPartition


@dataclass(frozen=True)
class Subscription:
    """One of the three is set."""

    topics: tuple[str, ...] = ()
    pattern: str | None = None
    partitions: frozenset[KafkaTopicPartition] = frozenset()

    def __str__(self) -> str:
        if self.pattern is not None:
            return f"topics like {self.pattern!r}"
        return ", ".join(self.topics) or ", ".join(sorted(map(str, self.partitions)))

    def find(self, metadata: Any) -> list[KafkaTopicPartition]:
        """In a cluster's metadata, in an order that is always the same."""
        there = {
            KafkaTopicPartition(name, number)
            for name, topic in metadata.topics.items()
            if self._wants(name)
            for number in topic.partitions
        }
        if self.pattern is None:
            self._check(there)
        return sorted(self.partitions or there)

    def _wants(self, topic: str) -> bool:
        if self.pattern is not None:
            return re.fullmatch(self.pattern, topic) is not None  # Java's Pattern.matcher(topic).matches()
        return topic in self.topics or any(each.topic == topic for each in self.partitions)

    def _check(self, there: set[KafkaTopicPartition]) -> None:
        known = {each.topic for each in there}
        missing: list[str] = [topic for topic in self.topics if topic not in known]
        missing += [str(each) for each in sorted(self.partitions - there)]
        if missing:
            raise ProgramError(
                f"Kafka has no {', '.join(missing)}. Create the topic first, or check its name"
                + (f"; there are: {', '.join(sorted(known))}" if known else "")
            )

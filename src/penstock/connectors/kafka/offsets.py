"""Where reading begins and ends in each partition."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol

from penstock.common.errors import ProgramError
from penstock.common.utils import refuse_java_object

__all__ = ["KafkaOffsetResetStrategy", "KafkaOffsetsInitializer", "KafkaTopicPartition"]


@dataclass(frozen=True, order=True)
class KafkaTopicPartition:
    """A partition of a topic."""

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


class KafkaOffsetResetStrategy(Enum):
    """What to do where there is no committed offset."""

    LATEST = 0
    EARLIEST = 1
    NONE = 2


Offsets = dict[KafkaTopicPartition, int]


class OffsetLookup(Protocol):
    """What an initializer may ask the brokers."""

    def earliest(self, partitions: list[KafkaTopicPartition]) -> Offsets: ...

    def latest(self, partitions: list[KafkaTopicPartition]) -> Offsets: ...

    def at_time(self, partitions: list[KafkaTopicPartition], timestamp: int) -> Offsets:
        """The first record at or after a moment; the end where there is none."""

    def committed(self, partitions: list[KafkaTopicPartition]) -> Offsets:
        """Of the source's group; partitions without are left out."""


class KafkaOffsetsInitializer:
    """Says at which offsets a source begins, or ends. Made by its static methods."""

    def __init__(self, j_initializer: Any = None, *, kind: str = "", value: Any = None, reset: Any = None) -> None:
        refuse_java_object(
            "KafkaOffsetsInitializer",
            "j_initializer",
            j_initializer,
            "Use one of its static methods, such as earliest().",
        )
        if not kind:
            raise ProgramError("Make a KafkaOffsetsInitializer with one of its static methods, such as earliest().")
        if not isinstance(reset, KafkaOffsetResetStrategy):
            raise ProgramError(f"committed_offsets() and offsets() take a KafkaOffsetResetStrategy, got {reset!r}")
        self._kind = kind
        self._value = value
        self._reset: KafkaOffsetResetStrategy = reset

    @staticmethod
    def committed_offsets(
        offset_reset_strategy: KafkaOffsetResetStrategy = KafkaOffsetResetStrategy.NONE,
    ) -> KafkaOffsetsInitializer:
        """At what the group has committed; where it has nothing, as the strategy says (NONE: the job fails)."""
        return KafkaOffsetsInitializer(kind="committed", reset=offset_reset_strategy)

    @staticmethod
    def timestamp(timestamp: int) -> KafkaOffsetsInitializer:
        """At the first record whose timestamp (epoch milliseconds) is this or a later one."""
        if not isinstance(timestamp, (int, float)) or timestamp < 0:  # Kafka takes some of these for other questions
            raise ProgramError(f"timestamp() takes epoch milliseconds, got {timestamp!r}")
        return KafkaOffsetsInitializer(kind="timestamp", value=int(timestamp), reset=KafkaOffsetResetStrategy.LATEST)

    @staticmethod
    def earliest() -> KafkaOffsetsInitializer:
        return KafkaOffsetsInitializer(kind="earliest", reset=KafkaOffsetResetStrategy.EARLIEST)

    @staticmethod
    def latest() -> KafkaOffsetsInitializer:
        return KafkaOffsetsInitializer(kind="latest", reset=KafkaOffsetResetStrategy.LATEST)

    @staticmethod
    def offsets(
        offsets: dict[KafkaTopicPartition, int],
        offset_reset_strategy: KafkaOffsetResetStrategy = KafkaOffsetResetStrategy.EARLIEST,
    ) -> KafkaOffsetsInitializer:
        """At given offsets; partitions without one begin at the committed offset, else as the strategy says."""
        if not all(isinstance(each, KafkaTopicPartition) for each in offsets):
            raise ProgramError(f"offsets() takes a dictionary of KafkaTopicPartition to offsets, got {offsets!r}")
        if not all(isinstance(each, int) and each >= 0 for each in offsets.values()):
            raise ProgramError(
                f"offsets() takes offsets from 0 on, got {offsets!r}; for a partition without one the"
                " strategy says where to begin"
            )
        return KafkaOffsetsInitializer(kind="offsets", value=dict(offsets), reset=offset_reset_strategy)

    @property
    def auto_offset_reset(self) -> str:
        """For the client: what to do when an offset is not there any more."""
        return {
            KafkaOffsetResetStrategy.EARLIEST: "earliest",
            KafkaOffsetResetStrategy.LATEST: "latest",
            KafkaOffsetResetStrategy.NONE: "error",
        }[self._reset]

    @property
    def needs_group(self) -> bool:
        return self._kind == "committed"

    def resolve(self, partitions: list[KafkaTopicPartition], lookup: OffsetLookup) -> Offsets:
        """A number for each partition."""
        if self._kind == "earliest":
            return lookup.earliest(partitions)
        if self._kind == "latest":
            return lookup.latest(partitions)
        if self._kind == "timestamp":
            return lookup.at_time(partitions, self._value)
        given: Mapping[KafkaTopicPartition, int] = self._value or {}
        found = {each: given[each] for each in partitions if each in given}
        found |= lookup.committed([each for each in partitions if each not in found])
        missing = [each for each in partitions if each not in found]
        if missing and self._reset is KafkaOffsetResetStrategy.NONE:
            raise ProgramError(
                f"No offset is committed for {', '.join(map(str, missing))}, and the source does not say where to begin"
                " then: KafkaOffsetsInitializer.committed_offsets(KafkaOffsetResetStrategy.EARLIEST) does."
            )
        earliest = self._reset is KafkaOffsetResetStrategy.EARLIEST
        return found | (lookup.earliest(missing) if earliest else lookup.latest(missing))

"""The exchange strategies as data: how records of an edge find their subtask."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Partitioning:
    """Base of all strategies; `label` is the name shown in plans, as Flink shows it."""

    label = "FORWARD"


@dataclass(frozen=True)
class Forward(Partitioning):
    """To the subtask with the same index; an exchange among one keeps the label that the program asked for."""

    label: str = "FORWARD"


@dataclass(frozen=True)
class Rebalance(Partitioning):
    """Round robin over all subtasks."""

    label = "REBALANCE"


@dataclass(frozen=True)
class Rescale(Partitioning):
    """Round robin over the subtasks that belong to the sender's share."""

    label = "RESCALE"


@dataclass(frozen=True)
class Shuffle(Partitioning):
    """A random subtask for each record."""

    label = "SHUFFLE"


@dataclass(frozen=True)
class Broadcast(Partitioning):
    """Every record to every subtask."""

    label = "BROADCAST"


@dataclass(frozen=True)
class ToFirst(Partitioning):
    """Every record to the first subtask (Flink calls it global)."""

    label = "GLOBAL"


@dataclass(frozen=True)
class ByKey(Partitioning):
    """To the subtask that owns the record's key; the key travels with the record."""

    selector: Any
    key_type: Any = None
    label = "HASH"


@dataclass(frozen=True)
class Custom(Partitioning):
    """The user's partitioner decides by the key that the user's selector takes."""

    partitioner: Any
    selector: Any
    label = "CUSTOM"

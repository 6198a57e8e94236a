"""An epoch as the driver plans it, and what it asks the tasks of level 0 to do."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from penstock.runtime.blueprint import JobBlueprint
from penstock.runtime.epoch_note import NOTHING_WANTED, EpochNote
from penstock.runtime.report import UnionLists
from penstock.runtime.sources.base import Assignment
from penstock.runtime.state_log import Token
from penstock.runtime.summons import Summons

Place = tuple[int, int]  # level, subtask

# Where an epoch ends, as JSON: {"epoch": number, "positions": {uid of a source: [position, exhausted]}}
Offset = dict[str, Any]


@dataclass(frozen=True)
class EpochPlan:
    """One epoch from its planning to its completion."""

    start: Offset
    end: Offset
    planned_at: float  # by the monotonic clock, in seconds
    planning_ms: float = 0.0
    share: int = 0  # records that each source was allowed to read

    @property
    def number(self) -> int:
        number: int = self.end["epoch"]
        return number


@dataclass(frozen=True)
class Work:
    """What one task of level 0 does in an epoch."""

    subtask: int | None  # None: it only sends
    assignments: dict[int, Assignment] = field(default_factory=dict)
    snapshot: tuple[Token, bytes] | None = None
    note: EpochNote = NOTHING_WANTED
    union_lists: dict[int, UnionLists] = field(default_factory=dict)  # of level 0, by subtask
    committed: int = 0  # the number of the last epoch that sinks have committed
    summons: tuple[tuple[Place, Summons], ...] = ()  # for subtasks of other levels


def places_of(job: JobBlueprint) -> tuple[Place, ...]:
    """Of all containers; Spark's own sources have none."""
    operators = [operator for operator in job.operators if not operator.native]
    return tuple(sorted({(each.level, subtask) for each in operators for subtask in range(each.parallelism)}))

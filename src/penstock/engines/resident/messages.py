"""What driver and tasks tell each other over a task's control connection."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.common.failure import Failure
from penstock.control.work import Place
from penstock.engines.resident.channels import Address
from penstock.engines.resident.run_keys import RunKeys
from penstock.runtime.level_blob import LevelBlob
from penstock.runtime.report import UnionLists
from penstock.runtime.sources.base import Assignment

CONTROL_LEVEL = -1  # in the greeting of a control connection

# -- the driver says -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Deploy:
    """Begin, or begin again, at the snapshots of the last complete epoch; whatever ran before is dropped."""

    generation: int
    deployment: str  # names the files of this generation
    peers: dict[int, Address]  # by slot
    levels: tuple[LevelBlob, ...]
    places: tuple[Place, ...]
    locations: dict[Place, str]  # of snapshots; without one a subtask starts from the job's savepoint, or from nothing
    union_lists: dict[int, dict[int, UnionLists]]  # by level and subtask
    state: str  # where snapshots are kept
    buffer_timeout_ms: int
    exactly_once: bool

    def slot_of(self, subtask: int) -> int:
        """Subtask i of all levels shares a slot, as in Flink; with fewer slots than subtasks several share one."""
        return subtask % len(self.peers)


@dataclass(frozen=True)
class RunEpoch:
    """What the sources read in an epoch; its barrier follows at once."""

    generation: int
    epoch: int
    assignments: dict[int, dict[int, Assignment]]  # by subtask and source
    note: bytes  # an encoded EpochNote
    committed: int = 0  # the number of the last epoch that sinks have committed


@dataclass(frozen=True)
class Drop:
    """The attempt is over: close functions, and wait for the next deployment."""


@dataclass(frozen=True)
class End:
    """Nothing more will come."""


FromDriver = Deploy | RunEpoch | Drop | End

# -- a task says ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Hello:
    slot: int
    process: int
    address: Address  # for the chunks of other tasks
    blind: str | None  # why it does not find the place of the state


@dataclass(frozen=True)
class Reported:
    """A subtask is through with an epoch, and its snapshot is durable."""

    generation: int
    epoch: int
    place: Place
    report: bytes


@dataclass(frozen=True)
class Broken:
    """The generation cannot go on; with a failure of user code the attempt cannot either."""

    generation: int
    why: str
    failure: Failure | None = None
    report: bytes | None = None  # what functions have printed and logged before


@dataclass(frozen=True)
class Dropped:
    pass


@dataclass(frozen=True)
class Beat:
    """The process lives; how long the main thread has been in one and the same step."""

    in_step_seconds: float


FromTask = Hello | Reported | Broken | Dropped | Beat


@dataclass(frozen=True)
class TaskSettings:
    """What a task needs to find its driver."""

    driver: Address
    keys: RunKeys
    ports: tuple[int, int]  # first and last; 0 for any
    state: str  # where snapshots are kept
    beat_seconds: float = 1.0

"""The picklable description of a job's levels: what planning hands to the containers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from penstock.common.configuration import Configuration
from penstock.common.options import bytes_of, value_of
from penstock.common.state_backend_names import LOCAL_DIRECTORIES, ROCKSDB, chosen_backend, local_directories
from penstock.runtime.partitioning import Partitioning

NATIVE_SOURCE = "native_source"


@dataclass(frozen=True)
class Origin:
    """The user's line that created an operator; errors point at it."""

    file: str
    line: int
    text: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True)
class OperatorBlueprint:
    """One operator of the job; `kind` names its class in the operator registry."""

    id: int
    uid: str
    name: str
    kind: str
    function: Any
    params: dict[str, Any]
    parallelism: int
    max_parallelism: int
    level: int
    origin: Origin
    output_type: Any = None
    task_name: str = ""
    task_max_parallelism: int | None = None  # of the first operator in its chain, which functions are told

    @property
    def native(self) -> bool:
        """Read by Spark itself, in tasks that hold no container."""
        return self.kind == NATIVE_SOURCE


@dataclass(frozen=True)
class EdgeBlueprint:
    """A connection between two operators; it crosses the network when it leaves its level."""

    id: int
    source: int
    target: int
    input_index: int
    partitioning: Partitioning
    source_parallelism: int
    target_parallelism: int
    target_max_parallelism: int
    source_level: int
    target_level: int
    side_output: str | None = None
    type_info: Any = None
    coerce: bool = False
    target_kind: str = ""  # of the operator that it leads to, of which a level knows no more if it is not its own

    @property
    def crosses_levels(self) -> bool:
        return self.source_level != self.target_level


@dataclass(frozen=True)
class DiskStateSettings:
    """Where the on-disk backend keeps the subtasks' working copies, and how much memory each may use."""

    directories: tuple[str, ...]  # none: the one for temporary files
    memory: int

    @staticmethod
    def of(configuration: Configuration) -> DiskStateSettings | None:
        """None for the backends that keep state in memory."""
        if chosen_backend(configuration) != ROCKSDB:
            return None
        return DiskStateSettings(
            local_directories(value_of(configuration, LOCAL_DIRECTORIES)),
            bytes_of(value_of(configuration, "state.backend.rocksdb.memory.fixed-per-slot")),
        )

    def directory_of(self, level: int, subtask: int) -> str | None:
        """Neighbours have different ones."""
        return self.directories[(level + subtask) % len(self.directories)] if self.directories else None


@dataclass(frozen=True)
class JobSettings:
    """What every subtask needs to know about the job."""

    job_id: str
    job_name: str
    job_parameters: dict[str, str] = field(default_factory=dict)
    auto_watermark_interval_ms: int = 200
    chunk_records: int = 32768
    module_paths: tuple[str, ...] = ()
    working_directory: str | None = None
    pyflink_imports: bool = False
    home: str | None = None  # the job's directory, or its part of a store, which every worker must reach
    attempt: int = 0  # grows with every restart of the job, in whatever process
    disk_state: DiskStateSettings | None = None  # None: state is kept in memory
    log_levels: tuple[str, dict[str, str]] = ("INFO", {})  # the default, and those of single loggers
    max_state_size: int | None = None  # in bytes, of each state of a subtask in a checkpoint
    stack_sample_ms: int = 0  # how often stacks are looked at for flame graphs; 0: never
    latency_interval_ms: int = 0  # how often sources send latency markers; 0: never

    def directory_of_sink(self, uid: str) -> str | None:
        """Where a sink may stage what it commits."""
        return None if self.home is None else f"{self.home}/sinks/{uid}"


@dataclass(frozen=True)
class JobBlueprint:
    """All levels of a job."""

    settings: JobSettings
    operators: tuple[OperatorBlueprint, ...]
    edges: tuple[EdgeBlueprint, ...]
    levels: int
    parallelism: int

    def operators_of(self, level: int) -> list[OperatorBlueprint]:
        """What the containers of a level run."""
        return [operator for operator in self.operators if operator.level == level and not operator.native]

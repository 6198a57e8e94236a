"""Slot sharing groups and the resources that they may ask for."""

from __future__ import annotations

from functools import total_ordering
from typing import Any, NoReturn

from penstock.common.errors import ConfigurationError, NotSupportedError
from penstock.common.utils import refuse_java_object

__all__ = ["MemorySize", "SlotSharingGroup"]

_UNITS = ((30, "gb"), (20, "mb"), (10, "kb"))


@total_ordering
class MemorySize:
    """A number of bytes, seen in different units: ``MemorySize.of_mebi_bytes(64)``."""

    def __init__(self, j_memory_size: Any = None, bytes_size: int | None = None) -> None:
        refuse_java_object("MemorySize", "j_memory_size", j_memory_size, "Write MemorySize(bytes_size=...).")
        if bytes_size is None or bytes_size < 0:
            raise ConfigurationError(f"MemorySize needs a bytes_size of 0 or more, got {bytes_size!r}")
        self._bytes = bytes_size

    @staticmethod
    def of_mebi_bytes(mebi_bytes: int) -> MemorySize:
        return MemorySize(bytes_size=mebi_bytes << 20)

    def get_bytes(self) -> int:
        return self._bytes

    def get_kibi_bytes(self) -> int:
        return self._bytes >> 10

    def get_mebi_bytes(self) -> int:
        return self._bytes >> 20

    def get_gibi_bytes(self) -> int:
        return self._bytes >> 30

    def get_tebi_bytes(self) -> int:
        return self._bytes >> 40

    def get_java_memory_size(self) -> NoReturn:
        raise NotSupportedError("a MemorySize has no Java counterpart in Penstock; use get_bytes()")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MemorySize) and self._bytes == other._bytes

    def __lt__(self, other: MemorySize) -> bool:
        if not isinstance(other, MemorySize):
            raise TypeError(f"a MemorySize can only be compared with a MemorySize, not with {other!r}")
        return self._bytes < other._bytes

    def __hash__(self) -> int:
        return hash(self._bytes)

    def __str__(self) -> str:
        """The size in the largest unit that divides it, as Flink writes it: ``3 mb``, ``1500 bytes``."""
        for shift, unit in _UNITS:
            if self._bytes and self._bytes % (1 << shift) == 0:
                return f"{self._bytes >> shift} {unit}"
        return f"{self._bytes} bytes"

    def __repr__(self) -> str:
        return f"MemorySize(bytes_size={self._bytes})"


class SlotSharingGroup:
    """A named group of operators that may share a slot: ``SlotSharingGroup.builder("group").build()``."""

    def __init__(
        self,
        name: str,
        cpu_cores: float | None = None,
        task_heap_memory: MemorySize | None = None,
        task_off_heap_memory: MemorySize | None = None,
        managed_memory: MemorySize | None = None,
        external_resources: dict[str, float] | None = None,
    ) -> None:
        if not isinstance(name, str) or not name:
            raise ConfigurationError(f"a SlotSharingGroup needs a name, got {name!r}")
        self._name = name
        self._cpu_cores = cpu_cores
        self._task_heap_memory = task_heap_memory
        self._task_off_heap_memory = task_off_heap_memory
        self._managed_memory = managed_memory
        self._external_resources = dict(external_resources or {})

    def get_name(self) -> str:
        return self._name

    def get_managed_memory(self) -> MemorySize | None:
        return self._managed_memory

    def get_task_heap_memory(self) -> MemorySize | None:
        return self._task_heap_memory

    def get_task_off_heap_memory(self) -> MemorySize | None:
        return self._task_off_heap_memory

    def get_cpu_cores(self) -> float | None:
        return self._cpu_cores

    def get_external_resources(self) -> dict[str, float]:
        return dict(self._external_resources)

    def has_resources(self) -> bool:
        """Whether the group asks for resources of its own, which Spark cannot give to a part of a job."""
        return self._cpu_cores is not None

    def get_java_slot_sharing_group(self) -> NoReturn:
        raise NotSupportedError("a SlotSharingGroup has no Java counterpart in Penstock; use its getters")

    @staticmethod
    def builder(name: str) -> SlotSharingGroup.Builder:
        """Start a group of this name."""
        return SlotSharingGroup.Builder(name)

    def _identity(self) -> tuple[Any, ...]:
        return (
            self._name,
            self._cpu_cores,
            self._task_heap_memory,
            self._task_off_heap_memory,
            self._managed_memory,
            tuple(sorted(self._external_resources.items())),
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SlotSharingGroup) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def __repr__(self) -> str:
        return f"SlotSharingGroup({self._name!r})"

    class Builder:
        """Builds a :class:`SlotSharingGroup`; every method returns the builder."""

        def __init__(self, name: str) -> None:
            self._name = name
            self._cpu_cores: float | None = None
            self._task_heap_memory: MemorySize | None = None
            self._task_off_heap_memory: MemorySize | None = None
            self._managed_memory: MemorySize | None = None
            self._external_resources: dict[str, float] = {}

        def set_cpu_cores(self, cpu_cores: float) -> SlotSharingGroup.Builder:
            if cpu_cores <= 0:
                raise ConfigurationError(f"cpu_cores must be positive, got {cpu_cores}")
            self._cpu_cores = float(cpu_cores)
            return self

        def set_task_heap_memory(self, task_heap_memory: MemorySize) -> SlotSharingGroup.Builder:
            if task_heap_memory.get_bytes() == 0:
                raise ConfigurationError("the task heap memory must be positive")
            self._task_heap_memory = task_heap_memory
            return self

        def set_task_heap_memory_mb(self, task_heap_memory_mb: int) -> SlotSharingGroup.Builder:
            return self.set_task_heap_memory(MemorySize.of_mebi_bytes(task_heap_memory_mb))

        def set_task_off_heap_memory(self, task_off_heap_memory: MemorySize) -> SlotSharingGroup.Builder:
            self._task_off_heap_memory = task_off_heap_memory
            return self

        def set_task_off_heap_memory_mb(self, task_off_heap_memory_mb: int) -> SlotSharingGroup.Builder:
            return self.set_task_off_heap_memory(MemorySize.of_mebi_bytes(task_off_heap_memory_mb))

        def set_managed_memory(self, managed_memory: MemorySize) -> SlotSharingGroup.Builder:
            self._managed_memory = managed_memory
            return self

        def set_managed_memory_mb(self, managed_memory_mb: int) -> SlotSharingGroup.Builder:
            return self.set_managed_memory(MemorySize.of_mebi_bytes(managed_memory_mb))

        def set_external_resource(self, name: str, value: float) -> SlotSharingGroup.Builder:
            self._external_resources[name] = value
            return self

        def build(self) -> SlotSharingGroup:
            if self._cpu_cores is not None and self._task_heap_memory is not None:
                return SlotSharingGroup(
                    self._name,
                    self._cpu_cores,
                    self._task_heap_memory,
                    self._task_off_heap_memory or MemorySize(bytes_size=0),
                    self._managed_memory or MemorySize(bytes_size=0),
                    self._external_resources,
                )
            if self._asks_for_anything():
                raise ConfigurationError(
                    f"slot sharing group {self._name!r}: whoever sets resources must set both cpu cores and "
                    "task heap memory"
                )
            return SlotSharingGroup(self._name)

        def _asks_for_anything(self) -> bool:
            memories = (self._task_heap_memory, self._task_off_heap_memory, self._managed_memory)
            given = any(memory is not None for memory in memories)
            return given or self._cpu_cores is not None or bool(self._external_resources)

"""What every user function shares: its lifecycle and what it can ask of the runtime."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from penstock.functions.state_descriptors import (
        AggregatingStateDescriptor,
        ListStateDescriptor,
        MapStateDescriptor,
        ReducingStateDescriptor,
        ValueStateDescriptor,
    )
    from penstock.functions.state_interfaces import AggregatingState, ListState, MapState, ReducingState, ValueState
    from penstock.metrics import MetricGroup

__all__ = ["Function", "KeyedStateStore", "RuntimeContext"]


class KeyedStateStore(ABC):
    """Hands out keyed state. Each handle always shows the value of the key being processed."""

    @abstractmethod
    def get_state(self, state_descriptor: ValueStateDescriptor) -> ValueState[Any]:
        """A handle to one value per key."""

    @abstractmethod
    def get_list_state(self, state_descriptor: ListStateDescriptor) -> ListState[Any]:
        """A handle to one list per key."""

    @abstractmethod
    def get_map_state(self, state_descriptor: MapStateDescriptor) -> MapState[Any, Any]:
        """A handle to one map per key."""

    @abstractmethod
    def get_reducing_state(self, state_descriptor: ReducingStateDescriptor) -> ReducingState[Any]:
        """A handle to one value per key into which every added value is reduced."""

    @abstractmethod
    def get_aggregating_state(self, state_descriptor: AggregatingStateDescriptor) -> AggregatingState[Any, Any]:
        """A handle to one accumulator per key into which every added value is aggregated."""


class RuntimeContext(KeyedStateStore):
    """Where a function runs: its task, its parallelism, its state and its metrics.

    A function gets it in :meth:`Function.open`; each parallel instance has its own.
    """

    @abstractmethod
    def get_task_name(self) -> str:
        """The name of the task, without the subtask."""

    @abstractmethod
    def get_number_of_parallel_subtasks(self) -> int:
        """The parallelism of the task."""

    @abstractmethod
    def get_max_number_of_parallel_subtasks(self) -> int:
        """The max parallelism of the task, that is, its number of key groups."""

    @abstractmethod
    def get_index_of_this_subtask(self) -> int:
        """This subtask's number, from 0 to parallelism - 1."""

    @abstractmethod
    def get_attempt_number(self) -> int:
        """0 for the first attempt of this subtask, one more after each failure."""

    @abstractmethod
    def get_task_name_with_subtasks(self) -> str:
        """The name of the task with its subtask, as in ``my map (3/6)#0``."""

    @abstractmethod
    def get_job_parameter(self, key: str, default_value: str) -> str:
        """A global job parameter, or the default when it was not set."""

    @abstractmethod
    def get_metrics_group(self) -> MetricGroup:
        """Where this subtask's own metrics are registered."""


class Function(ABC):
    """Base of all user functions.

    :meth:`open` runs once before the first record and :meth:`close` once after the last one, in every
    parallel instance. When an instance is restored from its state, ``open`` runs again.
    """

    def open(self, runtime_context: RuntimeContext) -> None:  # noqa: B027 - optional for functions
        """Set the function up: fetch state handles, register metrics, open connections."""

    def close(self) -> None:  # noqa: B027 - optional for functions
        """Release what :meth:`open` acquired."""

"""What a subtask of an operator knows about itself and its job."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.common.errors import ProgramError
from penstock.functions.base import RuntimeContext
from penstock.functions.state_descriptors import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    ValueStateDescriptor,
)
from penstock.functions.state_interfaces import AggregatingState, ListState, MapState, ReducingState, ValueState
from penstock.metrics import MetricGroup
from penstock.runtime.blueprint import JobSettings, OperatorBlueprint
from penstock.runtime.clock import Clock
from penstock.runtime.operator_memory import OperatorMemory
from penstock.runtime.state.disk import DiskStore


class SubtaskContext:
    """Handed to every operator: settings, clock, memory, and the context its user function sees."""

    def __init__(
        self,
        operator: OperatorBlueprint,
        settings: JobSettings,
        subtask: int,
        clock: Clock,
        store: DiskStore | None = None,
        wake: Callable[[], None] = lambda: None,
    ) -> None:
        self.operator = operator
        self.settings = settings
        self.subtask = subtask
        self.clock = clock
        self.wake = wake  # from any thread: the operator wants to be asked what is due; some engines cannot be woken
        self.memory = OperatorMemory(operator, subtask, clock, store)
        self.runtime_context = FunctionContext(self)


class FunctionContext(RuntimeContext):
    """The RuntimeContext of user functions."""

    __penstock_transient__ = True

    def __init__(self, subtask: SubtaskContext, keyed: bool = False) -> None:
        self._subtask = subtask
        self.keyed = keyed

    def get_task_name(self) -> str:
        return self._subtask.operator.task_name

    def get_number_of_parallel_subtasks(self) -> int:
        return self._subtask.operator.parallelism

    def get_max_number_of_parallel_subtasks(self) -> int:
        operator = self._subtask.operator
        return operator.task_max_parallelism or operator.max_parallelism

    def get_index_of_this_subtask(self) -> int:
        return self._subtask.subtask

    def get_attempt_number(self) -> int:
        return self._subtask.settings.attempt

    def get_task_name_with_subtasks(self) -> str:
        operator = self._subtask.operator
        subtask = f"{self._subtask.subtask + 1}/{operator.parallelism}"
        return f"{operator.task_name} ({subtask})#{self.get_attempt_number()}"

    def get_job_parameter(self, key: str, default_value: str) -> str:
        return self._subtask.settings.job_parameters.get(key, default_value)

    def get_metrics_group(self) -> MetricGroup:
        return self._subtask.memory.metrics

    def get_state(self, state_descriptor: ValueStateDescriptor) -> ValueState[Any]:
        return self._state(state_descriptor)  # type: ignore[no-any-return]

    def get_list_state(self, state_descriptor: ListStateDescriptor) -> ListState[Any]:
        return self._state(state_descriptor)  # type: ignore[no-any-return]

    def get_map_state(self, state_descriptor: MapStateDescriptor) -> MapState[Any, Any]:
        return self._state(state_descriptor)  # type: ignore[no-any-return]

    def get_reducing_state(self, state_descriptor: ReducingStateDescriptor) -> ReducingState[Any]:
        return self._state(state_descriptor)  # type: ignore[no-any-return]

    def get_aggregating_state(self, state_descriptor: AggregatingStateDescriptor) -> AggregatingState[Any, Any]:
        return self._state(state_descriptor)  # type: ignore[no-any-return]

    def _state(self, descriptor: Any) -> Any:
        if not self.keyed:
            raise ProgramError(
                f"keyed state {descriptor.get_name()!r} can only be used after key_by(); "
                f"{self._subtask.operator.name!r} works on a stream without keys"
            )
        return self._subtask.memory.keyed.state(descriptor)

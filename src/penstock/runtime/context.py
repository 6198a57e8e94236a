"""What a subtask of an operator knows about itself and its job."""

from __future__ import annotations

from collections.abc import Iterable
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
from penstock.runtime.metrics import MetricTree
from penstock.runtime.savepoint import SavedState
from penstock.runtime.state.backend import KeyedStateBackend
from penstock.runtime.state.disk import DiskStore
from penstock.runtime.state.disk_tables import DiskTables
from penstock.runtime.state_registry import StateRegistry
from penstock.runtime.state_schema import OPERATOR_KINDS, StateSchema


class SubtaskContext:
    """Handed to every operator: settings, clock, metrics, and the context its user function sees."""

    def __init__(
        self,
        operator: OperatorBlueprint,
        settings: JobSettings,
        subtask: int,
        clock: Clock,
        store: DiskStore | None = None,
    ) -> None:
        self.operator = operator
        self.settings = settings
        self.subtask = subtask
        self.clock = clock
        self.metrics = MetricTree()
        owner = f"the operator {operator.name!r} (uid {operator.uid})"
        self.keyed_states = StateRegistry(owner, clock)
        self.operator_states = StateRegistry(owner, clock)
        disk = None if store is None else DiskTables(store, operator.uid)
        self.backend = KeyedStateBackend(clock, self.keyed_states, disk)
        self.runtime_context = FunctionContext(self)

    def expect_states(self, saved: Iterable[SavedState]) -> None:
        """Before open(): what a savepoint has of this operator."""
        for state in saved:
            schema = StateSchema.from_json(state.schema)
            registry = self.operator_states if schema.kind in OPERATOR_KINDS else self.keyed_states
            registry.expect({state.name: schema})

    def states_converted(self) -> bool:
        """Whether entries have another form than in the last full snapshot."""
        return self.keyed_states.converted or self.operator_states.converted

    def states_written(self) -> None:
        self.keyed_states.converted = self.operator_states.converted = False

    def state_schemas(self) -> tuple[SavedState, ...]:
        """What a savepoint tells of this operator's states."""
        registries = (self.keyed_states, self.operator_states)
        return tuple(
            SavedState(name, schema.to_json()) for states in registries for name, schema in states.schemas().items()
        )


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
        return self._subtask.operator.max_parallelism

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
        return self._subtask.metrics

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
                f"keyed state {descriptor.get_name()!r} can only be used behind key_by(); "
                f"{self._subtask.operator.name!r} works on a stream without keys"
            )
        return self._subtask.backend.state(descriptor)

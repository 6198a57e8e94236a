"""What assigners, triggers, evictors and window functions may ask the window operator."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from penstock.common.errors import ProgramError
from penstock.functions.base import KeyedStateStore, RuntimeContext
from penstock.functions.state_descriptors import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    ReducingStateDescriptor,
    StateDescriptor,
)
from penstock.functions.window_assigner_base import WindowAssigner
from penstock.functions.window_evictors import Evictor
from penstock.functions.window_functions import ProcessWindowFunction
from penstock.functions.window_trigger_base import Trigger
from penstock.metrics import MetricGroup
from penstock.runtime.state.keyed import KeyScope
from penstock.runtime.state.table import ListTable, ValueTable
from penstock.runtime.windows.saved_contents import Slot

if TYPE_CHECKING:
    from penstock.runtime.windows.operator import WindowOperator

TRIGGER_STATE, WINDOW_STATE = "_trigger:", "_window:"  # prefixes of the names


class SlotStates:
    """State per slot (key, window), apart from the states of the same name that belong to the key alone."""

    def __init__(self, operator: WindowOperator, prefix: str) -> None:
        self._operator = operator
        self._prefix = prefix
        self._states: dict[str, Any] = {}
        self.scope = KeyScope()

    def state(self, descriptor: StateDescriptor) -> Any:
        name = descriptor.get_name()
        state = self._states.get(name)
        if state is None:
            state = self._operator.backend.state(self._renamed(descriptor), self.scope)
            self._states[name] = state
        return state

    def merge(self, descriptor: StateDescriptor, target: Slot, sources: Sequence[Slot]) -> None:
        table = self._operator.backend.table_of(self._renamed(descriptor))
        if isinstance(descriptor, ListStateDescriptor):
            _merge_lists(table, target, sources)
        elif isinstance(descriptor, ReducingStateDescriptor):
            _merge_values(table, descriptor.get_reduce_function().reduce, target, sources)
        elif isinstance(descriptor, AggregatingStateDescriptor):
            _merge_values(table, descriptor.get_agg_function().merge, target, sources)
        else:
            raise ProgramError(
                f"the trigger state {descriptor.get_name()!r} cannot be merged: only list, reducing and aggregating "
                f"state can, this is a {type(descriptor).__name__}"
            )

    def _renamed(self, descriptor: StateDescriptor) -> StateDescriptor:
        renamed = copy.copy(descriptor)
        renamed.name = self._prefix + descriptor.get_name()
        return renamed


def _merge_lists(table: ListTable, target: Slot, sources: Sequence[Slot]) -> None:
    for source in sources:
        items = table.get(source)
        if items is not None:
            table.extend(target, items)
            table.remove(source)


def _merge_values(table: ValueTable, merge: Any, target: Slot, sources: Sequence[Slot]) -> None:
    merged = table.get(target)
    for source in sources:
        value = table.get(source)
        if value is not None:
            merged = value if merged is None else merge(merged, value)
            table.remove(source)
    if merged is not None:
        table.put(target, merged)


class _Clocks:
    """What they all may ask."""

    def __init__(self, operator: WindowOperator) -> None:
        self._operator = operator

    def get_current_processing_time(self) -> int:
        return self._operator.context.clock()

    def get_metric_group(self) -> MetricGroup:
        return self._operator.context.memory.metrics

    def get_current_watermark(self) -> int:
        return self._operator.watermark


class AssignerContext(_Clocks, WindowAssigner.WindowAssignerContext):
    def get_runtime_context(self) -> RuntimeContext:
        return self._operator.context.runtime_context


class EvictionContext(_Clocks, Evictor.EvictorContext):
    pass


class TriggeringContext(_Clocks, Trigger.OnMergeContext):
    """The trigger's view of the slot that is current."""

    def __init__(self, operator: WindowOperator) -> None:
        super().__init__(operator)
        self._states = SlotStates(operator, TRIGGER_STATE)
        self._scope = self._states.scope
        self._timers = operator.timers
        self.merged: Sequence[Slot] = ()

    def at(self, slot: Slot) -> TriggeringContext:
        self._scope.key = slot
        return self

    def forget(self, slot: Slot) -> None:
        """Also what another trigger has left, which the program had when a savepoint was taken."""
        for table in self._operator.backend.tables_like(TRIGGER_STATE):
            table.remove(slot)

    def register_processing_time_timer(self, time: int) -> None:
        self._timers.processing.add(time, self._scope.key)

    def register_event_time_timer(self, time: int) -> None:
        self._timers.event.add(time, self._scope.key)

    def delete_processing_time_timer(self, time: int) -> None:
        self._timers.processing.remove(time, self._scope.key)

    def delete_event_time_timer(self, time: int) -> None:
        self._timers.event.remove(time, self._scope.key)

    def get_partitioned_state(self, state_descriptor: StateDescriptor) -> Any:
        return self._states.state(state_descriptor)

    def merge_partitioned_state(self, state_descriptor: StateDescriptor) -> None:
        self._states.merge(state_descriptor, self._scope.key, self.merged)


class _WindowStateStore(KeyedStateStore):
    """State of the current key and window."""

    def __init__(self, states: SlotStates, merging: bool) -> None:
        self._states = states
        self._merging = merging

    def get_state(self, state_descriptor: Any) -> Any:
        if self._merging:
            raise ProgramError(
                "per-window state cannot be used with merging windows (sessions), because nobody could say how it "
                "merges; use global_state(), or keep what you need in the elements"
            )
        return self._states.state(state_descriptor)

    get_list_state = get_map_state = get_reducing_state = get_aggregating_state = get_state


class EvaluationContext(ProcessWindowFunction.Context[Any]):
    """What a process function may ask while a window is evaluated or dropped; serves keyed and all-windows."""

    __penstock_transient__ = True

    def __init__(self, operator: WindowOperator, merging: bool) -> None:
        self._operator = operator
        self._states = SlotStates(operator, WINDOW_STATE)
        self._store = _WindowStateStore(self._states, merging)
        self._window: Any = None

    def at(self, slot: Slot, window: Any) -> EvaluationContext:
        self._states.scope.key = slot
        self._window = window
        return self

    def window(self) -> Any:
        return self._window

    def current_processing_time(self) -> int:
        return self._operator.context.clock()

    def current_watermark(self) -> int:
        return self._operator.watermark

    def window_state(self) -> KeyedStateStore:
        return self._store

    def global_state(self) -> KeyedStateStore:
        return self._operator.context.runtime_context

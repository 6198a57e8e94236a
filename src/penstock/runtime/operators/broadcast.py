"""The broadcast state pattern: input 0 reads the state that input 1, sent to every subtask, writes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from penstock.common.errors import ProgramError
from penstock.functions.broadcast import BroadcastProcessFunction, KeyedBroadcastProcessFunction
from penstock.functions.state_descriptors import MapStateDescriptor, StateDescriptor
from penstock.functions.state_interfaces import BroadcastState, ReadOnlyBroadcastState
from penstock.functions.time_domain import TimeDomain
from penstock.functions.timer_service import TimerService
from penstock.runtime.batch import MIN_TIMESTAMP, Batch
from penstock.runtime.blueprint import OperatorBlueprint
from penstock.runtime.context import SubtaskContext
from penstock.runtime.operators.base import FunctionOperator
from penstock.runtime.operators.process import OperatorTimerService, ResultCollector, TimedOperator
from penstock.runtime.state.broadcast import ReadOnlyBroadcastView, WritableBroadcastState
from penstock.runtime.state.keyed import HeapMapState, KeyScope
from penstock.runtime.state.table import MapTable
from penstock.runtime.state_registry import StateRegistry
from penstock.runtime.state_schema import BROADCAST, DeclaredState


class BroadcastStates:
    """The broadcast states of one subtask; every subtask holds the same ones."""

    def __init__(self, descriptors: Iterable[MapStateDescriptor], states: StateRegistry) -> None:
        self._descriptors = {descriptor.get_name(): descriptor for descriptor in descriptors}
        self._states = states
        self._tables = {name: MapTable() for name in self._descriptors}
        self._scope = KeyScope()

    def open(self) -> None:
        """Behind what a savepoint has told about its states, which may not fit."""
        for name, descriptor in self._descriptors.items():
            self._states.declare(name, DeclaredState.of_operator(BROADCAST, descriptor), self._tables[name])

    def read_only(self, descriptor: MapStateDescriptor) -> ReadOnlyBroadcastState[Any, Any]:
        return ReadOnlyBroadcastView(self._state(descriptor))

    def writable(self, descriptor: MapStateDescriptor) -> BroadcastState[Any, Any]:
        return WritableBroadcastState(self._state(descriptor))

    def _state(self, descriptor: MapStateDescriptor) -> HeapMapState:
        name = descriptor.get_name()
        if name not in self._tables:
            raise ProgramError(
                f"the broadcast state {name!r} was not given to broadcast(...); known: {', '.join(self._tables)}"
            )
        return HeapMapState(self._scope, self._tables[name])

    def take_delta(self) -> dict[str, Any] | None:
        deltas = {name: table.take_delta() for name, table in self._tables.items()}
        return {name: (self._states.schema(name), delta) for name, delta in deltas.items() if delta is not None} or None

    def full_delta(self) -> dict[str, Any]:
        return {name: (self._states.schema(name), table.full_delta()) for name, table in self._tables.items()}

    def apply_delta(self, deltas: dict[str, Any]) -> None:
        for name, (schema, delta) in deltas.items():
            if name in self._tables:
                self._states.load(name, schema, delta, self._tables[name])


class _Context:
    """What all four contexts share."""

    __penstock_transient__ = True

    def __init__(self, operator: FunctionOperator, states: BroadcastStates) -> None:
        self._operator = operator
        self._states = states
        self.current_timestamp = MIN_TIMESTAMP

    def timestamp(self) -> int:
        return self.current_timestamp

    def current_processing_time(self) -> int:
        return self._operator.context.clock()

    def current_watermark(self) -> int:
        return self._operator.watermark


class _WriteContext(_Context, BroadcastProcessFunction.Context):
    def get_broadcast_state(self, state_descriptor: MapStateDescriptor) -> BroadcastState[Any, Any]:
        return self._states.writable(state_descriptor)


class _ReadContext(_Context, BroadcastProcessFunction.ReadOnlyContext):
    def get_broadcast_state(self, state_descriptor: MapStateDescriptor) -> ReadOnlyBroadcastState[Any, Any]:
        return self._states.read_only(state_descriptor)


class _KeyedWriteContext(_Context, KeyedBroadcastProcessFunction.Context):
    _operator: KeyedBroadcastOperator

    def get_broadcast_state(self, state_descriptor: MapStateDescriptor) -> BroadcastState[Any, Any]:
        return self._states.writable(state_descriptor)

    def apply_to_keyed_state(self, state_descriptor: StateDescriptor, function: Callable[[Any, Any], None]) -> None:
        """Calls function(key, state) for every key of this subtask that has a value in the state."""
        self._operator.apply_to_keyed_state(state_descriptor, function)


class _KeyedReadContext(_Context, KeyedBroadcastProcessFunction.OnTimerContext):
    _operator: KeyedBroadcastOperator

    def __init__(self, operator: KeyedBroadcastOperator, states: BroadcastStates) -> None:
        super().__init__(operator, states)
        self._timer_service = OperatorTimerService(operator, operator.timers)
        self.current_domain = TimeDomain.EVENT_TIME

    def get_broadcast_state(self, state_descriptor: MapStateDescriptor) -> ReadOnlyBroadcastState[Any, Any]:
        return self._states.read_only(state_descriptor)

    def timer_service(self) -> TimerService:
        return self._timer_service

    def get_current_key(self) -> Any:
        return self._operator.scope.key

    def time_domain(self) -> TimeDomain:
        return self.current_domain


class BroadcastOperator(FunctionOperator):
    """BroadcastProcessFunction: the first input has no keys."""

    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        super().__init__(blueprint, context)
        self._states = BroadcastStates(blueprint.params["descriptors"], context.operator_states)
        self._read, self._write = _ReadContext(self, self._states), _WriteContext(self, self._states)
        self._results = ResultCollector(self)

    def open(self) -> None:
        self._states.open()
        super().open()

    def process(self, batch: Batch, input_index: int) -> None:
        function = self.function
        if input_index == 0:
            _call_each(function.process_element, self._read, batch, None, self._results)
        else:
            _call_each(function.process_broadcast_element, self._write, batch, None, self._results)

    def take_delta(self) -> Any:
        function, states = super().take_delta(), self._states.take_delta()
        return None if function is None and states is None else (function, states)

    def full_delta(self) -> Any:
        return super().full_delta(), self._states.full_delta()

    def function_part(self, state: Any) -> Any:
        return state[0]

    def restore_savepoint(self, states: list[tuple[int, Any]], old_parallelism: int) -> None:
        self._restore_function([(subtask, state[0]) for subtask, state in states], old_parallelism)
        if states:
            self._states.apply_delta(states[0][1][1])  # every subtask had the same

    def apply_delta(self, delta: Any) -> None:
        function, states = delta
        if function is not None:
            super().apply_delta(function)
        if states is not None:
            self._states.apply_delta(states)


class KeyedBroadcastOperator(TimedOperator):
    """KeyedBroadcastProcessFunction: the first input is keyed, with state and timers."""

    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        super().__init__(blueprint, context)
        self._states = BroadcastStates(blueprint.params["descriptors"], context.operator_states)
        self._read, self._write = _KeyedReadContext(self, self._states), _KeyedWriteContext(self, self._states)
        self._results = ResultCollector(self)

    def open(self) -> None:
        self._states.open()
        super().open()

    def process(self, batch: Batch, input_index: int) -> None:
        function = self.function
        if input_index == 0:
            _call_each(function.process_element, self._read, batch, self.scope, self._results)
        else:
            _call_each(function.process_broadcast_element, self._write, batch, None, self._results)

    def fire(self, due: list[tuple[int, tuple[Any, Any]]], domain: TimeDomain) -> None:
        self._read.current_domain = domain
        for timestamp, (key, _) in due:
            self.scope.key = key
            self._read.current_timestamp = timestamp
            results = self.function.on_timer(timestamp, self._read)
            if results is not None:
                self._results.add(results, timestamp)
        self._results.flush(domain is TimeDomain.EVENT_TIME)

    def apply_to_keyed_state(self, descriptor: StateDescriptor, function: Callable[[Any, Any], None]) -> None:
        state = self.backend.state(descriptor)
        for key in list(self.backend.keys_of(descriptor)):
            self.scope.key = key
            function(key, state)

    def take_delta(self) -> Any:
        keyed, states = super().take_delta(), self._states.take_delta()
        return None if keyed is None and states is None else (keyed, states)

    def full_delta(self) -> Any:
        return super().full_delta(), self._states.full_delta()

    def function_part(self, state: Any) -> Any:
        return super().function_part(state[0])

    def restore_savepoint(self, states: list[tuple[int, Any]], old_parallelism: int) -> None:
        self._restore_keyed([(subtask, state[0]) for subtask, state in states], old_parallelism)
        if states:
            self._states.apply_delta(states[0][1][1])  # every subtask had the same

    def apply_delta(self, delta: Any) -> None:
        keyed, states = delta
        if keyed is not None:
            super().apply_delta(keyed)
        if states is not None:
            self._states.apply_delta(states)


def _call_each(
    call: Callable[[Any, Any], Any], context: Any, batch: Batch, scope: KeyScope | None, results: ResultCollector
) -> None:
    count = len(batch)
    keys = batch.keys if scope is not None and batch.keys is not None else [None] * count
    timestamps = batch.timestamps or [MIN_TIMESTAMP] * count
    for key, value, timestamp in zip(keys, batch.values, timestamps, strict=True):
        if scope is not None:
            scope.key = key
        context.current_timestamp = timestamp
        produced = call(value, context)
        if produced is not None:
            results.add(produced, timestamp)
    results.flush(batch.timestamps is not None)

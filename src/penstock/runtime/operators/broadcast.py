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
from penstock.runtime.state.broadcast import WritableBroadcastState
from penstock.runtime.state.keyed import KeyScope
from penstock.runtime.state.operator_state import OperatorStates


class BroadcastStates:
    """The broadcast states of one subtask; every subtask holds the same ones."""

    def __init__(self, descriptors: Iterable[MapStateDescriptor], states: OperatorStates) -> None:
        self._descriptors = {descriptor.get_name(): descriptor for descriptor in descriptors}
        self._states = states

    def open(self) -> None:
        """After a savepoint has said what its states are, which may not fit."""
        for descriptor in self._descriptors.values():
            self._states.get_broadcast_state(descriptor)

    def read_only(self, descriptor: MapStateDescriptor) -> ReadOnlyBroadcastState[Any, Any]:
        return self._state(descriptor).read_only()

    def writable(self, descriptor: MapStateDescriptor) -> BroadcastState[Any, Any]:
        return self._state(descriptor)

    def _state(self, descriptor: MapStateDescriptor) -> WritableBroadcastState:
        name = descriptor.get_name()
        if name not in self._descriptors:
            raise ProgramError(
                f"the broadcast state {name!r} was not given to broadcast(...); known: {', '.join(self._descriptors)}"
            )
        return self._states.get_broadcast_state(self._descriptors[name])


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
        self._states = BroadcastStates(blueprint.params["descriptors"], self.memory.unkeyed)
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


class KeyedBroadcastOperator(TimedOperator):
    """KeyedBroadcastProcessFunction: the first input is keyed, with state and timers."""

    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        super().__init__(blueprint, context)
        self._states = BroadcastStates(blueprint.params["descriptors"], self.memory.unkeyed)
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

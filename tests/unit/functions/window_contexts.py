"""A trigger's and an assigner's surroundings for tests: one key, clock and watermark set by hand."""

from __future__ import annotations

from typing import Any

from penstock.datastream.functions import ReduceFunction
from penstock.datastream.state import ReducingState, ReducingStateDescriptor, StateDescriptor, ValueState
from penstock.datastream.window import Trigger, WindowAssigner

MIN_LONG = -(2**63)


class InMemoryValue(ValueState[Any]):
    def __init__(self) -> None:
        self.current: Any = None

    def value(self) -> Any:
        return self.current

    def update(self, value: Any) -> None:
        self.current = value

    def clear(self) -> None:
        self.current = None


class InMemoryReducing(ReducingState[Any]):
    def __init__(self, function: ReduceFunction) -> None:
        self.function = function
        self.current: Any = None

    def get(self) -> Any:
        return self.current

    def add(self, value: Any) -> None:
        self.current = value if self.current is None else self.function.reduce(self.current, value)

    def clear(self) -> None:
        self.current = None


class WindowContext(Trigger.OnMergeContext):
    """One window of one key; `merged_values` are what other windows bring into a merge."""

    def __init__(self, watermark: int = MIN_LONG, now: int = 0) -> None:
        self.watermark = watermark
        self.now = now
        self.event_timers: set[int] = set()
        self.processing_timers: set[int] = set()
        self.states: dict[str, Any] = {}
        self.merged_values: list[Any] = []

    def get_current_processing_time(self) -> int:
        return self.now

    def get_metric_group(self) -> Any:
        raise NotImplementedError

    def get_current_watermark(self) -> int:
        return self.watermark

    def register_processing_time_timer(self, time: int) -> None:
        self.processing_timers.add(time)

    def register_event_time_timer(self, time: int) -> None:
        self.event_timers.add(time)

    def delete_processing_time_timer(self, time: int) -> None:
        self.processing_timers.discard(time)

    def delete_event_time_timer(self, time: int) -> None:
        self.event_timers.discard(time)

    def get_partitioned_state(self, state_descriptor: StateDescriptor) -> Any:
        if state_descriptor.name not in self.states:
            self.states[state_descriptor.name] = (
                InMemoryReducing(state_descriptor.get_reduce_function())
                if isinstance(state_descriptor, ReducingStateDescriptor)
                else InMemoryValue()
            )
        return self.states[state_descriptor.name]

    def merge_partitioned_state(self, state_descriptor: StateDescriptor) -> None:
        for value in self.merged_values:
            self.get_partitioned_state(state_descriptor).add(value)


class AssignerContext(WindowAssigner.WindowAssignerContext):
    """An assigner's surroundings; it is its own runtime context, of which only value state is needed."""

    def __init__(self, now: int = 0) -> None:
        self.now = now
        self.states: dict[str, InMemoryValue] = {}

    def get_current_processing_time(self) -> int:
        return self.now

    def get_runtime_context(self) -> Any:
        return self

    def get_state(self, descriptor: StateDescriptor) -> InMemoryValue:
        return self.states.setdefault(descriptor.name, InMemoryValue())

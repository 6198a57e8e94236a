"""The built-in triggers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from penstock.common.errors import ProgramError
from penstock.common.typeinfo import Types
from penstock.functions.element import ReduceFunction
from penstock.functions.state_descriptors import ReducingStateDescriptor, ValueStateDescriptor
from penstock.functions.window_time import milliseconds_of, require_positive
from penstock.functions.window_trigger_base import Trigger, TriggerResult
from penstock.functions.window_types import CountWindow, GlobalWindow, TimeWindow, Window

if TYPE_CHECKING:
    from penstock.common.time import Duration, Time
    from penstock.common.typeinfo import TypeInformation
    from penstock.functions.state_interfaces import ReducingState, ValueState

__all__ = [
    "ContinuousEventTimeTrigger",
    "ContinuousProcessingTimeTrigger",
    "CountTrigger",
    "DeltaFunction",
    "DeltaTrigger",
    "EventTimeTrigger",
    "Min",
    "NeverTrigger",
    "ProcessingTimeTrigger",
    "PurgingTrigger",
    "Trigger",
    "TriggerResult",
]

T = TypeVar("T")
W = TypeVar("W", bound=Window)


class Min(ReduceFunction):
    """Keeps the smaller value."""

    def reduce(self, value1: Any, value2: Any) -> Any:
        return value2 if value2 < value1 else value1


class _Sum(ReduceFunction):
    def reduce(self, value1: Any, value2: Any) -> Any:
        return value1 + value2


class _PassiveTrigger(Trigger[T, W]):
    """A trigger that no time moves and that holds nothing; others override the part that is theirs."""

    def on_element(self, element: T, timestamp: int, window: W, ctx: Trigger.TriggerContext) -> TriggerResult:
        return TriggerResult.CONTINUE

    def on_processing_time(self, time: int, window: W, ctx: Trigger.TriggerContext) -> TriggerResult:
        return TriggerResult.CONTINUE

    def on_event_time(self, time: int, window: W, ctx: Trigger.TriggerContext) -> TriggerResult:
        return TriggerResult.CONTINUE

    def on_merge(self, window: W, ctx: Trigger.OnMergeContext) -> None:
        pass

    def clear(self, window: W, ctx: Trigger.TriggerContext) -> None:
        pass

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class EventTimeTrigger(_PassiveTrigger[T, TimeWindow]):
    """Fires when the watermark passes the end of the window, and for every late element after that."""

    def on_element(self, element: T, timestamp: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        end = window.max_timestamp()
        if end <= ctx.get_current_watermark():
            return TriggerResult.FIRE
        ctx.register_event_time_timer(end)
        return TriggerResult.CONTINUE

    def on_event_time(self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        return TriggerResult.FIRE if time == window.max_timestamp() else TriggerResult.CONTINUE

    def can_merge(self) -> bool:
        return True

    def on_merge(self, window: TimeWindow, ctx: Trigger.OnMergeContext) -> None:
        # Once the watermark has passed, on_element of the element that caused the merge fires.
        if window.max_timestamp() > ctx.get_current_watermark():
            ctx.register_event_time_timer(window.max_timestamp())

    def clear(self, window: TimeWindow, ctx: Trigger.TriggerContext) -> None:
        ctx.delete_event_time_timer(window.max_timestamp())

    @staticmethod
    def create() -> EventTimeTrigger[Any]:
        return EventTimeTrigger()


class ProcessingTimeTrigger(_PassiveTrigger[T, TimeWindow]):
    """Fires when the clock passes the end of the window."""

    def on_element(self, element: T, timestamp: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        ctx.register_processing_time_timer(window.max_timestamp())
        return TriggerResult.CONTINUE

    def on_processing_time(self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        return TriggerResult.FIRE

    def can_merge(self) -> bool:
        return True

    def on_merge(self, window: TimeWindow, ctx: Trigger.OnMergeContext) -> None:
        if window.max_timestamp() > ctx.get_current_processing_time():
            ctx.register_processing_time_timer(window.max_timestamp())

    def clear(self, window: TimeWindow, ctx: Trigger.TriggerContext) -> None:
        ctx.delete_processing_time_timer(window.max_timestamp())

    @staticmethod
    def create() -> ProcessingTimeTrigger[Any]:
        return ProcessingTimeTrigger()


class _ContinuousTrigger(_PassiveTrigger[T, TimeWindow]):
    """Remembers per window when it fires next: at multiples of the interval, at last at the window's end."""

    def __init__(self, interval: int) -> None:
        require_positive(interval, f"the interval of a {type(self).__name__}")
        self.interval = interval
        self.state_desc = ReducingStateDescriptor("fire-time", Min(), Types.LONG())

    def can_merge(self) -> bool:
        return True

    def on_merge(self, window: TimeWindow, ctx: Trigger.OnMergeContext) -> None:
        ctx.merge_partitioned_state(self.state_desc)
        next_fire_timestamp = self._fire_time(ctx).get()
        if next_fire_timestamp is not None:
            self._register_timer(next_fire_timestamp, ctx)

    def clear(self, window: TimeWindow, ctx: Trigger.TriggerContext) -> None:
        fire_time = self._fire_time(ctx)
        timestamp = fire_time.get()
        if timestamp is not None:
            self._delete_timer(timestamp, ctx)
            fire_time.clear()

    def register_next_fire_timestamp(
        self,
        time: int,
        window: TimeWindow,
        ctx: Trigger.TriggerContext,
        fire_timestamp_state: ReducingState[int],
    ) -> None:
        """Fire one interval after ``time``, but not after the window's end."""
        next_fire_timestamp = min(time + self.interval, window.max_timestamp())
        fire_timestamp_state.add(next_fire_timestamp)
        self._register_timer(next_fire_timestamp, ctx)

    def _start(self, now: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> None:
        fire_time = self._fire_time(ctx)
        if fire_time.get() is None:
            self.register_next_fire_timestamp(now - now % self.interval, window, ctx, fire_time)

    def _fire_if_due(self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        fire_time = self._fire_time(ctx)
        if fire_time.get() != time:
            return TriggerResult.CONTINUE
        fire_time.clear()
        self.register_next_fire_timestamp(time, window, ctx, fire_time)
        return TriggerResult.FIRE

    def _fire_time(self, ctx: Trigger.TriggerContext) -> ReducingState[int]:
        return cast("ReducingState[int]", ctx.get_partitioned_state(self.state_desc))

    @abstractmethod
    def _register_timer(self, time: int, ctx: Trigger.TriggerContext) -> None: ...

    @abstractmethod
    def _delete_timer(self, time: int, ctx: Trigger.TriggerContext) -> None: ...

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.interval})"


class ContinuousEventTimeTrigger(_ContinuousTrigger[T]):
    """Fires at every interval of event time, and at the end of the window."""

    @staticmethod
    def of(interval: Time | Duration) -> ContinuousEventTimeTrigger[Any]:
        return ContinuousEventTimeTrigger(milliseconds_of(interval, "interval"))

    def on_element(self, element: T, timestamp: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        if window.max_timestamp() <= ctx.get_current_watermark():
            return TriggerResult.FIRE
        ctx.register_event_time_timer(window.max_timestamp())
        self._start(timestamp, window, ctx)
        return TriggerResult.CONTINUE

    def on_event_time(self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        if time == window.max_timestamp():
            return TriggerResult.FIRE
        return self._fire_if_due(time, window, ctx)

    def _register_timer(self, time: int, ctx: Trigger.TriggerContext) -> None:
        ctx.register_event_time_timer(time)

    def _delete_timer(self, time: int, ctx: Trigger.TriggerContext) -> None:
        ctx.delete_event_time_timer(time)


class ContinuousProcessingTimeTrigger(_ContinuousTrigger[T]):
    """Fires at every interval of processing time."""

    @staticmethod
    def of(interval: Time | Duration) -> ContinuousProcessingTimeTrigger[Any]:
        return ContinuousProcessingTimeTrigger(milliseconds_of(interval, "interval"))

    def on_element(self, element: T, timestamp: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        self._start(ctx.get_current_processing_time(), window, ctx)
        return TriggerResult.CONTINUE

    def on_processing_time(self, time: int, window: TimeWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        return self._fire_if_due(time, window, ctx)

    def _register_timer(self, time: int, ctx: Trigger.TriggerContext) -> None:
        ctx.register_processing_time_timer(time)

    def _delete_timer(self, time: int, ctx: Trigger.TriggerContext) -> None:
        ctx.delete_processing_time_timer(time)


class PurgingTrigger(Trigger[T, Window]):
    """Makes another trigger empty the window whenever it fires."""

    def __init__(self, nested_trigger: Trigger[T, Any]) -> None:
        if not isinstance(nested_trigger, Trigger):
            raise ProgramError(f"PurgingTrigger expects a Trigger, got {nested_trigger!r}")
        self.nested_trigger = nested_trigger

    @staticmethod
    def of(nested_trigger: Trigger[Any, Any]) -> PurgingTrigger[Any]:
        return PurgingTrigger(nested_trigger)

    def on_element(self, element: T, timestamp: int, window: Window, ctx: Trigger.TriggerContext) -> TriggerResult:
        return self._purging(self.nested_trigger.on_element(element, timestamp, window, ctx))

    def on_event_time(self, time: int, window: Window, ctx: Trigger.TriggerContext) -> TriggerResult:
        return self._purging(self.nested_trigger.on_event_time(time, window, ctx))

    def on_processing_time(self, time: int, window: Window, ctx: Trigger.TriggerContext) -> TriggerResult:
        return self._purging(self.nested_trigger.on_processing_time(time, window, ctx))

    @staticmethod
    def _purging(result: TriggerResult) -> TriggerResult:
        return TriggerResult.FIRE_AND_PURGE if result.is_fire() else result

    def clear(self, window: Window, ctx: Trigger.TriggerContext) -> None:
        self.nested_trigger.clear(window, ctx)

    def can_merge(self) -> bool:
        return self.nested_trigger.can_merge()

    def on_merge(self, window: Window, ctx: Trigger.OnMergeContext) -> None:
        self.nested_trigger.on_merge(window, ctx)

    def __repr__(self) -> str:
        return f"PurgingTrigger({self.nested_trigger!r})"


class CountTrigger(_PassiveTrigger[T, CountWindow]):
    """Fires whenever the window has got this many elements since it fired last."""

    def __init__(self, window_size: int) -> None:
        require_positive(window_size, "the size of a CountTrigger")
        self._window_size = window_size
        self._count_state_descriptor = ReducingStateDescriptor("count", _Sum(), Types.LONG())

    @staticmethod
    def of(window_size: int) -> CountTrigger[Any]:
        return CountTrigger(window_size)

    def on_element(self, element: T, timestamp: int, window: CountWindow, ctx: Trigger.TriggerContext) -> TriggerResult:
        count = cast("ReducingState[int]", ctx.get_partitioned_state(self._count_state_descriptor))
        count.add(1)
        if count.get() < self._window_size:
            return TriggerResult.CONTINUE
        count.clear()
        return TriggerResult.FIRE

    def can_merge(self) -> bool:
        return True

    def on_merge(self, window: CountWindow, ctx: Trigger.OnMergeContext) -> None:
        ctx.merge_partitioned_state(self._count_state_descriptor)

    def clear(self, window: CountWindow, ctx: Trigger.TriggerContext) -> None:
        ctx.get_partitioned_state(self._count_state_descriptor).clear()

    def __repr__(self) -> str:
        return f"CountTrigger({self._window_size})"


class NeverTrigger(_PassiveTrigger[T, GlobalWindow]):
    """Never fires: what global windows have until they are given a trigger."""


class DeltaFunction(ABC, Generic[T]):
    """Measures how far one data point is from another."""

    @abstractmethod
    def get_delta(self, old_data_point: T, new_data_point: T) -> float:
        """The distance; what it means is up to the function."""


class DeltaTrigger(_PassiveTrigger[T, Window]):
    """Fires when an element is further than ``threshold`` from the one at which it fired last.

    Not in PyFlink. ``DeltaTrigger.of(10.0, lambda old, new: new.speed - old.speed, type_info)``
    """

    def __init__(
        self,
        threshold: float,
        delta_function: DeltaFunction[T] | Callable[[T, T], float],
        type_info: TypeInformation | None = None,
    ) -> None:
        self._threshold = threshold
        self._delta = delta_callable(delta_function, "DeltaTrigger")
        self._last_element_descriptor = ValueStateDescriptor("last-element", type_info)

    @staticmethod
    def of(
        threshold: float,
        delta_function: DeltaFunction[Any] | Callable[[Any, Any], float],
        type_info: TypeInformation | None = None,
    ) -> DeltaTrigger[Any]:
        return DeltaTrigger(threshold, delta_function, type_info)

    def on_element(self, element: T, timestamp: int, window: Window, ctx: Trigger.TriggerContext) -> TriggerResult:
        last = cast("ValueState[T | None]", ctx.get_partitioned_state(self._last_element_descriptor))
        reference = last.value()
        if reference is None:
            last.update(element)
            return TriggerResult.CONTINUE
        if self._delta(reference, element) <= self._threshold:
            return TriggerResult.CONTINUE
        last.update(element)
        return TriggerResult.FIRE

    def clear(self, window: Window, ctx: Trigger.TriggerContext) -> None:
        ctx.get_partitioned_state(self._last_element_descriptor).clear()

    def __repr__(self) -> str:
        return f"DeltaTrigger({self._threshold})"


def delta_callable(given: DeltaFunction[T] | Callable[[T, T], float], user: str) -> Callable[[T, T], float]:
    """A delta function as what is called per element."""
    if isinstance(given, DeltaFunction):
        return given.get_delta
    if isinstance(given, type) or not callable(given):
        raise ProgramError(f"{user} expects a DeltaFunction or a callable of two elements, got {given!r}")
    return given

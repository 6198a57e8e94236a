"""Process functions that join a stream with a broadcast one (the broadcast state pattern)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from penstock.functions.base import Function

if TYPE_CHECKING:
    from penstock.functions.state_descriptors import MapStateDescriptor, StateDescriptor
    from penstock.functions.state_interfaces import BroadcastState, ReadOnlyBroadcastState, State
    from penstock.functions.time_domain import TimeDomain
    from penstock.functions.timer_service import TimerService

__all__ = ["BaseBroadcastProcessFunction", "BroadcastProcessFunction", "KeyedBroadcastProcessFunction"]

IN1 = TypeVar("IN1")
IN2 = TypeVar("IN2")
OUT = TypeVar("OUT")
KEY = TypeVar("KEY")


class BaseBroadcastProcessFunction(Function):
    """What both broadcast process functions share: their contexts."""

    class BaseContext(ABC):
        """Time, as seen from either side."""

        @abstractmethod
        def timestamp(self) -> int:
            """The timestamp of the record being processed."""

        @abstractmethod
        def current_processing_time(self) -> int:
            """The clock of the machine, in epoch milliseconds."""

        @abstractmethod
        def current_watermark(self) -> int:
            """The watermark of this operator."""

    class Context(BaseContext):
        """The broadcast side's view: it may change broadcast state."""

        @abstractmethod
        def get_broadcast_state(self, state_descriptor: MapStateDescriptor) -> BroadcastState[Any, Any]:
            """The broadcast state of this name, readable and writable."""

    class ReadOnlyContext(BaseContext):
        """The other side's view: broadcast state can only be read, so that all subtasks agree on it."""

        @abstractmethod
        def get_broadcast_state(self, state_descriptor: MapStateDescriptor) -> ReadOnlyBroadcastState[Any, Any]:
            """The broadcast state of this name, readable only."""


class BroadcastProcessFunction(BaseBroadcastProcessFunction, Generic[IN1, IN2, OUT]):
    """Joins a stream with a broadcast stream: ``ds.connect(broadcast_stream).process(MyFunction())``.

    Every subtask sees all broadcast records and must treat them alike.
    """

    class Context(BaseBroadcastProcessFunction.Context, ABC):
        """What :meth:`BroadcastProcessFunction.process_broadcast_element` may ask."""

    class ReadOnlyContext(BaseBroadcastProcessFunction.ReadOnlyContext, ABC):
        """What :meth:`BroadcastProcessFunction.process_element` may ask."""

    @abstractmethod
    def process_element(self, value: IN1, ctx: BroadcastProcessFunction.ReadOnlyContext) -> Iterable[OUT] | None:
        """Called for each record of the stream that is not broadcast."""

    @abstractmethod
    def process_broadcast_element(self, value: IN2, ctx: BroadcastProcessFunction.Context) -> Iterable[OUT] | None:
        """Called in every subtask for each record of the broadcast stream."""


class KeyedBroadcastProcessFunction(BaseBroadcastProcessFunction, Generic[KEY, IN1, IN2, OUT]):
    """Joins a keyed stream with a broadcast stream; the keyed side has keyed state and timers."""

    class Context(BaseBroadcastProcessFunction.Context, ABC):
        """What :meth:`KeyedBroadcastProcessFunction.process_broadcast_element` may ask."""

        @abstractmethod
        def apply_to_keyed_state(
            self, state_descriptor: StateDescriptor, function: Callable[[Any, State], None]
        ) -> None:
            """Call ``function(key, state)`` for every key of this subtask that has this state.

            The broadcast side has no current key; this is its only way to keyed state. Not in PyFlink;
            Flink's Java API has it.
            """

    class ReadOnlyContext(BaseBroadcastProcessFunction.ReadOnlyContext, ABC):
        """What :meth:`KeyedBroadcastProcessFunction.process_element` may ask."""

        @abstractmethod
        def timer_service(self) -> TimerService:
            """Time and timers of the current key."""

        @abstractmethod
        def get_current_key(self) -> Any:
            """The key of the record being processed."""

    class OnTimerContext(ReadOnlyContext, ABC):
        """What :meth:`KeyedBroadcastProcessFunction.on_timer` may ask."""

        @abstractmethod
        def time_domain(self) -> TimeDomain:
            """Whether the firing timer is an event-time or a processing-time timer."""

        @abstractmethod
        def get_current_key(self) -> Any:
            """The key that had set the timer."""

    @abstractmethod
    def process_element(self, value: IN1, ctx: KeyedBroadcastProcessFunction.ReadOnlyContext) -> Iterable[OUT] | None:
        """Called for each record of the keyed stream."""

    @abstractmethod
    def process_broadcast_element(self, value: IN2, ctx: KeyedBroadcastProcessFunction.Context) -> Iterable[OUT] | None:
        """Called in every subtask for each record of the broadcast stream."""

    def on_timer(self, timestamp: int, ctx: KeyedBroadcastProcessFunction.OnTimerContext) -> Iterable[OUT] | None:
        """Called when a timer of the keyed side is due."""
        return None

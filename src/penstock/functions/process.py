"""The process functions: records one by one, with timestamps, timers and (when keyed) state."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from penstock.functions.base import Function

if TYPE_CHECKING:
    from penstock.functions.time_domain import TimeDomain
    from penstock.functions.timer_service import TimerService

__all__ = ["CoProcessFunction", "KeyedCoProcessFunction", "KeyedProcessFunction", "ProcessFunction"]


class _ElementContext(ABC):
    """What all process functions may ask while they handle a record; valid during that call only."""

    @abstractmethod
    def timer_service(self) -> TimerService:
        """Time and timers. Timers can be set on keyed streams only."""

    @abstractmethod
    def timestamp(self) -> int:
        """The record's (or the firing timer's) timestamp; the smallest long when it has none."""


class _KeyedContext(_ElementContext):
    @abstractmethod
    def get_current_key(self) -> Any:
        """The key of the record or timer being processed."""


class _KeyedTimerContext(_KeyedContext):
    @abstractmethod
    def time_domain(self) -> TimeDomain:
        """Whether the firing timer is an event-time or a processing-time timer."""


class ProcessFunction(Function):
    """Turns each record into any number of records, knowing its timestamp and the watermark.

    Yield records; yield ``(output_tag, record)`` for a side output.
    """

    class Context(_ElementContext, ABC):
        """What :meth:`ProcessFunction.process_element` may ask."""

    @abstractmethod
    def process_element(self, value: Any, ctx: ProcessFunction.Context) -> Iterable[Any] | None:
        """Called for each record."""


class KeyedProcessFunction(Function):
    """A process function on a keyed stream, with state and timers per key.

    Example::

        class CountAfterAMinute(KeyedProcessFunction):
            def open(self, runtime_context):
                self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

            def process_element(self, value, ctx):
                self.count.update((self.count.value() or 0) + 1)
                ctx.timer_service().register_event_time_timer(ctx.timestamp() + 60_000)

            def on_timer(self, timestamp, ctx):
                yield ctx.get_current_key(), self.count.value()
    """

    class Context(_KeyedContext, ABC):
        """What :meth:`KeyedProcessFunction.process_element` may ask."""

    class OnTimerContext(_KeyedTimerContext, Context, ABC):
        """What :meth:`KeyedProcessFunction.on_timer` may ask."""

    @abstractmethod
    def process_element(self, value: Any, ctx: KeyedProcessFunction.Context) -> Iterable[Any] | None:
        """Called for each record."""

    def on_timer(self, timestamp: int, ctx: KeyedProcessFunction.OnTimerContext) -> Iterable[Any] | None:
        """Called when a timer is due, with the key that had set it."""
        return None


class CoProcessFunction(Function):
    """A process function over two connected streams."""

    class Context(_ElementContext, ABC):
        """What the two ``process_element`` methods may ask."""

    @abstractmethod
    def process_element1(self, value: Any, ctx: CoProcessFunction.Context) -> Iterable[Any] | None:
        """Called for each record of the first stream."""

    @abstractmethod
    def process_element2(self, value: Any, ctx: CoProcessFunction.Context) -> Iterable[Any] | None:
        """Called for each record of the second stream."""


class KeyedCoProcessFunction(Function):
    """A process function over two connected keyed streams that share state and timers per key."""

    class Context(_KeyedContext, ABC):
        """What the two ``process_element`` methods may ask."""

    class OnTimerContext(_KeyedTimerContext, Context, ABC):
        """What :meth:`KeyedCoProcessFunction.on_timer` may ask."""

    @abstractmethod
    def process_element1(self, value: Any, ctx: KeyedCoProcessFunction.Context) -> Iterable[Any] | None:
        """Called for each record of the first stream."""

    @abstractmethod
    def process_element2(self, value: Any, ctx: KeyedCoProcessFunction.Context) -> Iterable[Any] | None:
        """Called for each record of the second stream."""

    def on_timer(self, timestamp: int, ctx: KeyedCoProcessFunction.OnTimerContext) -> Iterable[Any] | None:
        """Called when a timer is due, with the key that had set it."""
        return None

"""Evictors: which elements of a window are dropped before or after it is evaluated. Not in PyFlink."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from penstock.functions.window_time import milliseconds_of, require_positive
from penstock.functions.window_triggers import DeltaFunction, delta_callable

if TYPE_CHECKING:
    from penstock.common.time import Duration, Time
    from penstock.metrics import MetricGroup

__all__ = ["CountEvictor", "DeltaEvictor", "Evictor", "TimeEvictor", "TimestampedValue"]

T = TypeVar("T")
W = TypeVar("W")


class TimestampedValue(Generic[T]):
    """An element of a window with its timestamp, None when it has none."""

    __slots__ = ("timestamp", "value")

    def __init__(self, value: T, timestamp: int | None = None) -> None:
        self.value = value
        self.timestamp = timestamp

    def get_value(self) -> T:
        return self.value

    def get_timestamp(self) -> int | None:
        return self.timestamp

    def has_timestamp(self) -> bool:
        return self.timestamp is not None

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, TimestampedValue)
            and self.timestamp == other.timestamp
            and bool(self.value == other.value)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"TimestampedValue({self.value!r}, {self.timestamp})"


class Evictor(ABC, Generic[T, W]):
    """Removes elements from a window when it fires: ``windowed.evictor(CountEvictor.of(10))``.

    ``elements`` is the window's list in order of arrival; an evictor deletes from it in place
    (``del elements[:n]``). What it deletes is gone for later firings too.
    """

    class EvictorContext(ABC):
        """What an evictor may ask."""

        @abstractmethod
        def get_current_processing_time(self) -> int:
            """The clock of the machine, in epoch milliseconds."""

        @abstractmethod
        def get_metric_group(self) -> MetricGroup:
            """Where the operator's metrics are registered."""

        @abstractmethod
        def get_current_watermark(self) -> int:
            """The watermark of the operator."""

    @abstractmethod
    def evict_before(
        self,
        elements: list[TimestampedValue[T]],
        size: int,
        window: W,
        evictor_context: Evictor.EvictorContext,
    ) -> None:
        """Called before the window function; ``size`` is the number of elements."""

    @abstractmethod
    def evict_after(
        self,
        elements: list[TimestampedValue[T]],
        size: int,
        window: W,
        evictor_context: Evictor.EvictorContext,
    ) -> None:
        """Called after the window function; ``size`` is the number of elements."""


class _OneSidedEvictor(Evictor[T, W]):
    """The built-in evictors act either before or after the window function."""

    def __init__(self, do_evict_after: bool) -> None:
        self._do_evict_after = do_evict_after

    def evict_before(
        self,
        elements: list[TimestampedValue[T]],
        size: int,
        window: W,
        evictor_context: Evictor.EvictorContext,
    ) -> None:
        if not self._do_evict_after:
            self._evict(elements)

    def evict_after(
        self,
        elements: list[TimestampedValue[T]],
        size: int,
        window: W,
        evictor_context: Evictor.EvictorContext,
    ) -> None:
        if self._do_evict_after:
            self._evict(elements)

    @abstractmethod
    def _evict(self, elements: list[TimestampedValue[T]]) -> None: ...


class CountEvictor(_OneSidedEvictor[T, W]):
    """Keeps the last ``max_count`` elements."""

    def __init__(self, max_count: int, do_evict_after: bool = False) -> None:
        require_positive(max_count, "the max_count of a CountEvictor")
        super().__init__(do_evict_after)
        self._max_count = max_count

    @staticmethod
    def of(max_count: int, do_evict_after: bool = False) -> CountEvictor[Any, Any]:
        return CountEvictor(max_count, do_evict_after)

    def _evict(self, elements: list[TimestampedValue[T]]) -> None:
        if len(elements) > self._max_count:
            del elements[: len(elements) - self._max_count]

    def __repr__(self) -> str:
        return f"CountEvictor({self._max_count})"


class TimeEvictor(_OneSidedEvictor[T, W]):
    """Keeps the elements that are less than ``window_size`` older than the newest one.

    Elements without timestamps are left alone.
    """

    def __init__(self, window_size: int, do_evict_after: bool = False) -> None:
        super().__init__(do_evict_after)
        self._window_size = window_size

    @staticmethod
    def of(window_size: Time | Duration, do_evict_after: bool = False) -> TimeEvictor[Any, Any]:
        return TimeEvictor(milliseconds_of(window_size, "window_size"), do_evict_after)

    def _evict(self, elements: list[TimestampedValue[T]]) -> None:
        timestamps = [element.timestamp for element in elements if element.timestamp is not None]
        if not timestamps:
            return
        cutoff = max(timestamps) - self._window_size
        elements[:] = [element for element in elements if element.timestamp is None or element.timestamp > cutoff]

    def __repr__(self) -> str:
        return f"TimeEvictor({self._window_size})"


class DeltaEvictor(_OneSidedEvictor[T, W]):
    """Removes the elements that are ``threshold`` or further from the last one."""

    def __init__(
        self,
        threshold: float,
        delta_function: DeltaFunction[T] | Callable[[T, T], float],
        do_evict_after: bool = False,
    ) -> None:
        super().__init__(do_evict_after)
        self._threshold = threshold
        self._delta = delta_callable(delta_function, "DeltaEvictor")

    @staticmethod
    def of(
        threshold: float,
        delta_function: DeltaFunction[Any] | Callable[[Any, Any], float],
        do_evict_after: bool = False,
    ) -> DeltaEvictor[Any, Any]:
        return DeltaEvictor(threshold, delta_function, do_evict_after)

    def _evict(self, elements: list[TimestampedValue[T]]) -> None:
        if not elements:
            return
        last = elements[-1].value
        elements[:] = [element for element in elements if self._delta(element.value, last) < self._threshold]

    def __repr__(self) -> str:
        return f"DeltaEvictor({self._threshold})"

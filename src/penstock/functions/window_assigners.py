"""The built-in window assigners."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable
from math import gcd
from typing import TYPE_CHECKING, Any, TypeVar

from penstock.common.errors import ProgramError
from penstock.common.typeinfo import Types
from penstock.functions.state_descriptors import ValueStateDescriptor
from penstock.functions.window_assigner_base import (
    MergingWindowAssigner,
    SessionWindowTimeGapExtractor,
    WindowAssigner,
)
from penstock.functions.window_time import milliseconds_of, require_positive
from penstock.functions.window_triggers import (
    CountTrigger,
    EventTimeTrigger,
    NeverTrigger,
    ProcessingTimeTrigger,
    Trigger,
)
from penstock.functions.window_types import (
    MIN_LONG_VALUE,
    CountWindow,
    CountWindowSerializer,
    GlobalWindow,
    GlobalWindowSerializer,
    TimeWindow,
    TimeWindowSerializer,
)

if TYPE_CHECKING:
    from penstock.common.serializer import TypeSerializer
    from penstock.common.time import Duration, Time

__all__ = [
    "CountSlidingWindowAssigner",
    "CountTumblingWindowAssigner",
    "CumulativeEventTimeWindows",
    "DynamicEventTimeSessionWindows",
    "DynamicProcessingTimeSessionWindows",
    "EventTimeSessionWindows",
    "GlobalWindows",
    "MergingWindowAssigner",
    "ProcessingTimeSessionWindows",
    "SessionWindowTimeGapExtractor",
    "SlidingEventTimeWindows",
    "SlidingProcessingTimeWindows",
    "TumblingEventTimeWindows",
    "TumblingProcessingTimeWindows",
    "WindowAssigner",
]

T = TypeVar("T")

_start_of = TimeWindow.get_window_start_with_offset


class _EventTime:
    """The half of an event-time assigner that does not depend on its windows' shape."""

    def _time_of(self, timestamp: int, context: WindowAssigner.WindowAssignerContext) -> int:
        if timestamp is None or timestamp <= MIN_LONG_VALUE:
            raise ProgramError(
                f"{type(self).__name__} got an element without timestamp: call "
                "assign_timestamps_and_watermarks(...) with a timestamp assigner before the window, "
                "or use processing-time windows"
            )
        return timestamp

    def get_default_trigger(self, env: Any) -> Trigger[Any, TimeWindow]:
        return EventTimeTrigger()

    def get_window_serializer(self) -> TypeSerializer[TimeWindow]:
        return TimeWindowSerializer()

    def is_event_time(self) -> bool:
        return True


class _ProcessingTime:
    """The half of a processing-time assigner that does not depend on its windows' shape."""

    def _time_of(self, timestamp: int, context: WindowAssigner.WindowAssignerContext) -> int:
        return context.get_current_processing_time()

    def get_default_trigger(self, env: Any) -> Trigger[Any, TimeWindow]:
        return ProcessingTimeTrigger()

    def get_window_serializer(self) -> TypeSerializer[TimeWindow]:
        return TimeWindowSerializer()

    def is_event_time(self) -> bool:
        return False


class _Tumbling(WindowAssigner[T, TimeWindow]):
    def __init__(self, size: int, offset: int) -> None:
        if size <= 0 or abs(offset) >= size:
            raise ProgramError(
                f"{type(self).__name__} needs size > 0 and abs(offset) < size, got size={size} offset={offset}"
            )
        self._size = size
        self._offset = offset

    @abstractmethod
    def _time_of(self, timestamp: int, context: WindowAssigner.WindowAssignerContext) -> int: ...

    def assign_windows(
        self, element: T, timestamp: int, context: WindowAssigner.WindowAssignerContext
    ) -> Collection[TimeWindow]:
        start = _start_of(self._time_of(timestamp, context), self._offset, self._size)
        return [TimeWindow(start, start + self._size)]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._size}, {self._offset})"


class TumblingEventTimeWindows(_EventTime, _Tumbling[T]):
    """Windows of one size that follow each other without gap, by the elements' timestamps.

    ``of(Time.hours(1), Time.minutes(15))`` starts a window at a quarter past each hour. Windows are aligned
    to UTC: for days that start at midnight in UTC+08:00 use ``of(Time.days(1), Time.hours(-8))``.
    """

    @staticmethod
    def of(size: Time | Duration, offset: Time | Duration | None = None) -> TumblingEventTimeWindows[Any]:
        return TumblingEventTimeWindows(milliseconds_of(size, "size"), _offset_of(offset))


class TumblingProcessingTimeWindows(_ProcessingTime, _Tumbling[T]):
    """Windows of one size that follow each other without gap, by the machine's clock."""

    @staticmethod
    def of(size: Time | Duration, offset: Time | Duration | None = None) -> TumblingProcessingTimeWindows[Any]:
        return TumblingProcessingTimeWindows(milliseconds_of(size, "size"), _offset_of(offset))


class _Sliding(WindowAssigner[T, TimeWindow]):
    def __init__(self, size: int, slide: int, offset: int) -> None:
        if size <= 0 or slide <= 0 or abs(offset) >= slide:
            raise ProgramError(
                f"{type(self).__name__} needs size > 0 and abs(offset) < slide, "
                f"got size={size} slide={slide} offset={offset}"
            )
        self._size = size
        self._slide = slide
        self._offset = offset
        self._pane_size = gcd(size, slide)

    @abstractmethod
    def _time_of(self, timestamp: int, context: WindowAssigner.WindowAssignerContext) -> int: ...

    def assign_windows(
        self, element: T, timestamp: int, context: WindowAssigner.WindowAssignerContext
    ) -> Collection[TimeWindow]:
        time = self._time_of(timestamp, context)
        last_start = _start_of(time, self._offset, self._slide)
        size = self._size
        return [TimeWindow(start, start + size) for start in range(last_start, time - size, -self._slide)]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._size}, {self._slide}, {self._offset})"


class SlidingEventTimeWindows(_EventTime, _Sliding[T]):
    """Windows of one size that start every ``slide`` and so overlap, by the elements' timestamps."""

    @staticmethod
    def of(
        size: Time | Duration, slide: Time | Duration, offset: Time | Duration | None = None
    ) -> SlidingEventTimeWindows[Any]:
        return SlidingEventTimeWindows(
            milliseconds_of(size, "size"), milliseconds_of(slide, "slide"), _offset_of(offset)
        )


class SlidingProcessingTimeWindows(_ProcessingTime, _Sliding[T]):
    """Windows of one size that start every ``slide`` and so overlap, by the machine's clock."""

    @staticmethod
    def of(
        size: Time | Duration, slide: Time | Duration, offset: Time | Duration | None = None
    ) -> SlidingProcessingTimeWindows[Any]:
        return SlidingProcessingTimeWindows(
            milliseconds_of(size, "size"), milliseconds_of(slide, "slide"), _offset_of(offset)
        )


class CumulativeEventTimeWindows(_EventTime, WindowAssigner[T, TimeWindow]):
    """Windows that begin together and grow by ``step`` up to ``max_size``, by the elements' timestamps.

    Not in PyFlink's DataStream API; SQL's CUMULATE. ``of(Time.days(1), Time.hours(1))`` gives the totals of the day so
    far after each hour.
    """

    def __init__(self, max_size: int, step: int, offset: int) -> None:
        if step <= 0 or max_size <= 0 or max_size % step or abs(offset) >= max_size:
            raise ProgramError(
                f"CumulativeEventTimeWindows needs a max_size that is a multiple of step, and abs(offset) < max_size, "
                f"got max_size={max_size} step={step} offset={offset}"
            )
        self._size = max_size
        self._step = step
        self._offset = offset

    @staticmethod
    def of(
        max_size: Time | Duration, step: Time | Duration, offset: Time | Duration | None = None
    ) -> CumulativeEventTimeWindows[Any]:
        return CumulativeEventTimeWindows(
            milliseconds_of(max_size, "max_size"), milliseconds_of(step, "step"), _offset_of(offset)
        )

    def assign_windows(
        self, element: T, timestamp: int, context: WindowAssigner.WindowAssignerContext
    ) -> Collection[TimeWindow]:
        time = self._time_of(timestamp, context)
        start = _start_of(time, self._offset, self._size)
        first = _start_of(time, self._offset, self._step) + self._step
        return [TimeWindow(start, end) for end in range(first, start + self._size + 1, self._step)]

    def __repr__(self) -> str:
        return f"CumulativeEventTimeWindows({self._size}, {self._step}, {self._offset})"


class _Sessions(MergingWindowAssigner[T, TimeWindow]):
    """Each element opens a window as long as its gap; windows that touch become one session."""

    @abstractmethod
    def _time_of(self, timestamp: int, context: WindowAssigner.WindowAssignerContext) -> int: ...

    @abstractmethod
    def _gap_of(self, element: T) -> int: ...

    def assign_windows(
        self, element: T, timestamp: int, context: WindowAssigner.WindowAssignerContext
    ) -> Collection[TimeWindow]:
        time = self._time_of(timestamp, context)
        return [TimeWindow(time, time + self._gap_of(element))]

    def merge_windows(
        self, windows: Iterable[TimeWindow], callback: MergingWindowAssigner.MergeCallback[TimeWindow]
    ) -> None:
        TimeWindow.merge_windows(windows, callback)


class _FixedGapSessions(_Sessions[T]):
    def __init__(self, session_gap: int) -> None:
        require_positive(session_gap, f"the gap of {type(self).__name__}")
        self._session_gap = session_gap

    def _gap_of(self, element: T) -> int:
        return self._session_gap

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._session_gap})"


class _DynamicGapSessions(_Sessions[T]):
    def __init__(self, session_window_time_gap_extractor: SessionWindowTimeGapExtractor) -> None:
        self._session_window_time_gap_extractor = session_window_time_gap_extractor
        self._extract = _gap_extraction(session_window_time_gap_extractor, type(self).__name__)

    def _gap_of(self, element: T) -> int:
        gap = self._extract(element)
        if gap <= 0:
            raise ProgramError(f"{type(self).__name__}: the session gap must be positive, got {gap}")
        return gap

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class EventTimeSessionWindows(_EventTime, _FixedGapSessions[T]):
    """Sessions that end when no element came for ``gap`` of event time."""

    @staticmethod
    def with_gap(size: Time | Duration) -> EventTimeSessionWindows[Any]:
        return EventTimeSessionWindows(milliseconds_of(size, "gap"))

    @staticmethod
    def with_dynamic_gap(extractor: SessionWindowTimeGapExtractor) -> DynamicEventTimeSessionWindows[Any]:
        return DynamicEventTimeSessionWindows(extractor)


class ProcessingTimeSessionWindows(_ProcessingTime, _FixedGapSessions[T]):
    """Sessions that end when no element came for ``gap`` of processing time."""

    @staticmethod
    def with_gap(size: Time | Duration) -> ProcessingTimeSessionWindows[Any]:
        return ProcessingTimeSessionWindows(milliseconds_of(size, "gap"))

    @staticmethod
    def with_dynamic_gap(
        extractor: SessionWindowTimeGapExtractor,
    ) -> DynamicProcessingTimeSessionWindows[Any]:
        return DynamicProcessingTimeSessionWindows(extractor)


class DynamicEventTimeSessionWindows(_EventTime, _DynamicGapSessions[T]):
    """Event-time sessions whose gap each element decides."""

    @staticmethod
    def with_dynamic_gap(extractor: SessionWindowTimeGapExtractor) -> DynamicEventTimeSessionWindows[Any]:
        return DynamicEventTimeSessionWindows(extractor)


class DynamicProcessingTimeSessionWindows(_ProcessingTime, _DynamicGapSessions[T]):
    """Processing-time sessions whose gap each element decides."""

    @staticmethod
    def with_dynamic_gap(
        extractor: SessionWindowTimeGapExtractor,
    ) -> DynamicProcessingTimeSessionWindows[Any]:
        return DynamicProcessingTimeSessionWindows(extractor)


class _CountWindows(WindowAssigner[T, CountWindow]):
    """Numbers the elements of each key in keyed state."""

    _count_descriptor: ValueStateDescriptor
    _window_size: int

    def _next_number(self, context: WindowAssigner.WindowAssignerContext) -> int:
        state = context.get_runtime_context().get_state(self._count_descriptor)
        number: int = state.value() or 0
        state.update(number + 1)
        return number

    def get_default_trigger(self, env: Any) -> Trigger[T, CountWindow]:
        return CountTrigger(self._window_size)

    def get_window_serializer(self) -> TypeSerializer[CountWindow]:
        return CountWindowSerializer()

    def is_event_time(self) -> bool:
        return False


class CountTumblingWindowAssigner(_CountWindows[T]):
    """Windows of ``window_size`` elements of a key, one after the other."""

    def __init__(self, window_size: int) -> None:
        require_positive(window_size, "the window_size of CountTumblingWindowAssigner")
        self._window_size = window_size
        self._count_descriptor = ValueStateDescriptor("tumble-count-assigner", Types.LONG())

    @staticmethod
    def of(window_size: int) -> CountTumblingWindowAssigner[Any]:
        return CountTumblingWindowAssigner(window_size)

    def assign_windows(
        self, element: T, timestamp: int, context: WindowAssigner.WindowAssignerContext
    ) -> Collection[CountWindow]:
        return [CountWindow(self._next_number(context) // self._window_size)]

    def __repr__(self) -> str:
        return f"CountTumblingWindowAssigner({self._window_size})"


class CountSlidingWindowAssigner(_CountWindows[T]):
    """Windows of ``window_size`` elements of a key, a new one every ``window_slide`` elements."""

    def __init__(self, window_size: int, window_slide: int) -> None:
        require_positive(window_size, "the window_size of CountSlidingWindowAssigner")
        require_positive(window_slide, "the window_slide of CountSlidingWindowAssigner")
        self._window_size = window_size
        self._window_slide = window_slide
        self._count_descriptor = ValueStateDescriptor("slide-count-assigner", Types.LONG())

    @staticmethod
    def of(window_size: int, window_slide: int) -> CountSlidingWindowAssigner[Any]:
        return CountSlidingWindowAssigner(window_size, window_slide)

    def assign_windows(
        self, element: T, timestamp: int, context: WindowAssigner.WindowAssignerContext
    ) -> Collection[CountWindow]:
        number = self._next_number(context)
        newest = number // self._window_slide
        oldest = max(0, -((self._window_size - 1 - number) // self._window_slide))
        return [CountWindow(id) for id in range(newest, oldest - 1, -1)]

    def __repr__(self) -> str:
        return f"CountSlidingWindowAssigner({self._window_size}, {self._window_slide})"


class GlobalWindows(WindowAssigner[T, GlobalWindow]):
    """Puts all elements of a key into one window, which fires only if it is given a trigger."""

    def __init__(self) -> None:
        super().__init__()

    def assign_windows(
        self, element: T, timestamp: int, context: WindowAssigner.WindowAssignerContext
    ) -> Collection[GlobalWindow]:
        return [GlobalWindow.get()]

    @staticmethod
    def create() -> GlobalWindows[Any]:
        return GlobalWindows()

    def get_default_trigger(self, env: Any) -> Trigger[T, GlobalWindow]:
        return NeverTrigger()

    def get_window_serializer(self) -> TypeSerializer[GlobalWindow]:
        return GlobalWindowSerializer()

    def is_event_time(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "GlobalWindows()"


def _offset_of(offset: Time | Duration | None) -> int:
    return 0 if offset is None else milliseconds_of(offset, "offset")


def _gap_extraction(extractor: Any, user: str) -> Callable[[Any], int]:
    """A callable is welcome too, as everywhere where a function object is."""
    if isinstance(extractor, SessionWindowTimeGapExtractor):
        return extractor.extract
    if isinstance(extractor, type) or not callable(extractor):
        raise ProgramError(f"{user} expects a SessionWindowTimeGapExtractor or a callable, got {extractor!r}")
    callable_extractor: Callable[[Any], int] = extractor
    return callable_extractor

"""Joins of two streams: by window, grouped by window, by interval. Not in PyFlink; named as in Flink's Java API."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from penstock.common.errors import ProgramError
from penstock.common.time import Duration, Time
from penstock.common.typeinfo import TypeInformation
from penstock.datastream.functions import Function, KeySelector, WindowFunction, as_function
from penstock.datastream.keyed_stream import KeyedStream
from penstock.datastream.stream import DataStream
from penstock.datastream.window import WindowAssigner
from penstock.datastream.windowed_stream import WindowingChoices
from penstock.functions.join import (
    CoGroupedWindow,
    CoGroupFunction,
    FlatJoinFunction,
    JoinedWindow,
    JoinFunction,
    ProcessJoinFunction,
)
from penstock.functions.output_tag import OutputTag
from penstock.functions.window_time import milliseconds_of
from penstock.runtime.windows.settings import PARAMETER

__all__ = ["CoGroupedStreams", "IntervalJoin", "IntervalJoined", "JoinedStreams"]

Selector = Callable[[Any], Any] | KeySelector
W = TypeVar("W", bound="_WithWindow")


class _WithWindow(WindowingChoices):
    """Both keyed streams and a window: the last step before the function."""

    def __init__(self, first: KeyedStream, second: KeyedStream, window_assigner: WindowAssigner[Any, Any]) -> None:
        super().__init__(window_assigner)
        self._first = first
        self._second = second

    def _operator(
        self, name: str, function: WindowFunction[Any, Any, Any, Any], output_type: TypeInformation | None
    ) -> DataStream:
        return self._first._transform(
            "window_of_two",
            name,
            function,
            output_type=output_type,
            params={PARAMETER: self._settings()},
            other_inputs=(self._second,),
        )


class _Where(Generic[W]):
    """The key of the first stream is known."""

    def __init__(self, first: KeyedStream, second: DataStream, with_window: type[W]) -> None:
        self._first = first
        self._second = second
        self._with_window = with_window

    def equal_to(self, key_selector: Selector, key_type: TypeInformation | None = None) -> _EqualTo[W]:
        """The key of the second stream."""
        return _EqualTo(self._first, self._second.key_by(key_selector, key_type), self._with_window)


class _EqualTo(Generic[W]):
    """Both keys are known."""

    def __init__(self, first: KeyedStream, second: KeyedStream, with_window: type[W]) -> None:
        self._first = first
        self._second = second
        self._with_window = with_window

    def window(self, window_assigner: WindowAssigner[Any, Any]) -> W:
        """The windows in which records of both streams meet."""
        return self._with_window(self._first, self._second, window_assigner)


class JoinedWithWindow(_WithWindow):
    """A window join: ``trigger``, ``evictor`` and ``allowed_lateness`` are optional, ``apply`` ends it."""

    def apply(
        self,
        function: JoinFunction | FlatJoinFunction | Callable[[Any, Any], Any],
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Calls the function for every pair; a plain callable returns one record for each."""
        _require(function, (JoinFunction, FlatJoinFunction), "a JoinFunction, a FlatJoinFunction")
        return self._operator("Join", JoinedWindow(function), output_type)


class CoGroupedWithWindow(_WithWindow):
    """A window co-group: ``trigger``, ``evictor`` and ``allowed_lateness`` are optional, ``apply`` ends it."""

    def apply(
        self,
        function: CoGroupFunction | Callable[[list[Any], list[Any]], Any],
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Calls the function once per key and window with the records of both streams."""
        _require(function, (CoGroupFunction,), "a CoGroupFunction")
        return self._operator("CoGroup", CoGroupedWindow(function), output_type)


class JoinedStreams:
    """Inner join of the records that share key and window::

    orders.join(payments).where(lambda o: o[0]).equal_to(lambda p: p[0]).window(
        TumblingEventTimeWindows.of(Time.minutes(5))
    ).apply(lambda order, payment: (order[0], order[1] - payment[1]))
    """

    def __init__(self, input1: DataStream, input2: DataStream) -> None:
        self._first, self._second = _checked_pair(input1, input2, "join()")

    def where(self, key_selector: Selector, key_type: TypeInformation | None = None) -> _Where[JoinedWithWindow]:
        """The key of the first stream."""
        return _Where(self._first.key_by(key_selector, key_type), self._second, JoinedWithWindow)


class CoGroupedStreams:
    """Groups the records of both streams by key and window; keys that only one stream has are there too."""

    def __init__(self, input1: DataStream, input2: DataStream) -> None:
        self._first, self._second = _checked_pair(input1, input2, "co_group()")

    def where(self, key_selector: Selector, key_type: TypeInformation | None = None) -> _Where[CoGroupedWithWindow]:
        """The key of the first stream."""
        return _Where(self._first.key_by(key_selector, key_type), self._second, CoGroupedWithWindow)


class IntervalJoin:
    """Pairs each record with those of the other stream that are near it in event time::

    orders.key_by(order_id).interval_join(payments.key_by(order_id)).between(
        Time.seconds(0), Time.minutes(10)
    ).process(Matched())
    """

    def __init__(self, stream_one: KeyedStream, stream_two: KeyedStream) -> None:
        if not isinstance(stream_two, KeyedStream):
            raise ProgramError(f"interval_join() takes a KeyedStream, got {stream_two!r}: call key_by() on it first")
        self._left = stream_one
        self._right = stream_two

    def in_event_time(self) -> IntervalJoin:
        """Intervals are in event time; there is no other choice."""
        return self

    def between(self, lower_bound: Time | Duration, upper_bound: Time | Duration) -> IntervalJoined:
        """right.timestamp is in [left.timestamp + lower_bound, left.timestamp + upper_bound]."""
        lower = milliseconds_of(lower_bound, "lower_bound")
        upper = milliseconds_of(upper_bound, "upper_bound")
        return IntervalJoined(self._left, self._right, lower, upper)


class IntervalJoined:
    """An interval join with its bounds, inclusive unless said otherwise; ``process`` ends it."""

    def __init__(self, left: KeyedStream, right: KeyedStream, lower_bound: int, upper_bound: int) -> None:
        self._left = left
        self._right = right
        self._lower_bound, self._upper_bound = lower_bound, upper_bound
        self._lower_excluded = self._upper_excluded = False
        self._left_late: OutputTag | None = None
        self._right_late: OutputTag | None = None

    def lower_bound_exclusive(self) -> IntervalJoined:
        """The lower bound itself does not match."""
        self._lower_excluded = True
        return self

    def upper_bound_exclusive(self) -> IntervalJoined:
        """The upper bound itself does not match."""
        self._upper_excluded = True
        return self

    def side_output_left_late_data(self, output_tag: OutputTag) -> IntervalJoined:
        """Sends late records of the left stream to a side output instead of dropping them."""
        self._left_late = _checked_tag(output_tag, "side_output_left_late_data()")
        return self

    def side_output_right_late_data(self, output_tag: OutputTag) -> IntervalJoined:
        """Sends late records of the right stream to a side output instead of dropping them."""
        self._right_late = _checked_tag(output_tag, "side_output_right_late_data()")
        return self

    def process(
        self, process_join_function: ProcessJoinFunction, output_type: TypeInformation | None = None
    ) -> DataStream:
        """Calls the function for every pair; results carry the later of both timestamps."""
        function = as_function(process_join_function, ProcessJoinFunction, "process()")
        lower = self._lower_bound + self._lower_excluded
        upper = self._upper_bound - self._upper_excluded
        if lower > upper:
            raise ProgramError(
                f"the interval join matches nothing: from {self._lower_bound} to {self._upper_bound} ms "
                "with the bounds excluded as asked for"
            )
        return self._left._transform(
            "interval_join",
            "Interval Join",
            function,
            output_type=output_type,
            params={
                "lower_bound": lower,
                "upper_bound": upper,
                "late_tags": (_id_of(self._left_late), _id_of(self._right_late)),
            },
            other_inputs=(self._right,),
        )


def _checked_pair(first: DataStream, second: Any, operation: str) -> tuple[DataStream, DataStream]:
    if not isinstance(second, DataStream):
        raise ProgramError(f"{operation} takes a DataStream, got {second!r}")
    return first, second


def _checked_tag(tag: Any, operation: str) -> OutputTag:
    if not isinstance(tag, OutputTag):
        raise ProgramError(f"{operation} takes an OutputTag, got {tag!r}")
    return tag


def _id_of(tag: OutputTag | None) -> str | None:
    return None if tag is None else tag.tag_id


def _require(function: Any, kinds: tuple[type[Function], ...], wanted: str) -> None:
    if isinstance(function, kinds):
        return
    if isinstance(function, (type, Function)) or not callable(function):
        raise ProgramError(f"apply() takes {wanted} or a callable, got {function!r}")

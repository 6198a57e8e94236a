"""Streams whose records are gathered into windows, and what can be done with a window."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

from penstock.common.errors import ProgramError
from penstock.common.time import Duration, Time
from penstock.common.typeinfo import TypeInformation, Types
from penstock.datastream.functions import (
    AggregateFunction,
    AllWindowFunction,
    Function,
    NullByteKeySelector,
    ProcessAllWindowFunction,
    ProcessWindowFunction,
    ReduceFunction,
    WindowFunction,
    as_function,
)
from penstock.datastream.keyed_stream import KeyedStream
from penstock.datastream.stream import DataStream
from penstock.datastream.window import (
    CountSlidingWindowAssigner,
    CountTumblingWindowAssigner,
    Evictor,
    MergingWindowAssigner,
    PurgingTrigger,
    Trigger,
    WindowAssigner,
)
from penstock.functions.output_tag import OutputTag
from penstock.functions.rolling import (
    Maximum,
    MaximumBy,
    Minimum,
    MinimumBy,
    RollingAggregation,
    Sum,
)
from penstock.functions.window_count import Count, WithKey
from penstock.functions.window_time import milliseconds_of
from penstock.runtime.windows.settings import PARAMETER, WindowSettings

if TYPE_CHECKING:
    from penstock.datastream.stream_execution_environment import StreamExecutionEnvironment

__all__ = ["AllWindowedStream", "WindowedStream"]

_FunctionKinds = tuple[type[Function], ...]


class WindowingChoices:
    """Assigner, trigger, evictor and lateness of a window, checked when they are chosen."""

    def __init__(self, window_assigner: WindowAssigner[Any, Any]) -> None:
        if not isinstance(window_assigner, WindowAssigner):
            raise ProgramError(
                "a window needs a WindowAssigner such as TumblingEventTimeWindows.of(Time.seconds(5)), "
                f"got {window_assigner!r}"
            )
        self._assigner = window_assigner
        self._trigger: Trigger[Any, Any] | None = None
        self._evictor: Evictor[Any, Any] | None = None
        self._allowed_lateness = 0
        self._late_tag: OutputTag | None = None

    def trigger(self, trigger: Trigger[Any, Any]) -> Self:
        """Sets when the window is evaluated, instead of the assigner's own trigger."""
        if not isinstance(trigger, Trigger):
            raise ProgramError(f"trigger() takes a Trigger such as CountTrigger.of(10), got {trigger!r}")
        if isinstance(self._assigner, MergingWindowAssigner) and not trigger.can_merge():
            raise ProgramError(
                f"{type(trigger).__name__} cannot be used with merging windows ({type(self._assigner).__name__}): "
                "its can_merge() returns False"
            )
        self._trigger = trigger
        return self

    def evictor(self, evictor: Evictor[Any, Any]) -> Self:
        """Drops elements before or after the evaluation; all elements are kept until then (beyond PyFlink)."""
        if not isinstance(evictor, Evictor):
            raise ProgramError(f"evictor() takes an Evictor such as CountEvictor.of(10), got {evictor!r}")
        self._evictor = evictor
        return self

    def allowed_lateness(self, time_ms: int | Time | Duration) -> Self:
        """Keeps event-time windows this many milliseconds longer; late elements evaluate them again."""
        lateness = milliseconds_of(time_ms, "allowed_lateness") if not isinstance(time_ms, int) else time_ms
        if lateness < 0 or isinstance(time_ms, bool):
            raise ProgramError(f"allowed_lateness() takes milliseconds that are not negative, got {time_ms!r}")
        self._allowed_lateness = lateness
        return self

    def side_output_late_data(self, output_tag: OutputTag) -> Self:
        """Sends elements that come too late to a side output instead of dropping them."""
        if not isinstance(output_tag, OutputTag):
            raise ProgramError(f"side_output_late_data() takes an OutputTag, got {output_tag!r}")
        self._late_tag = output_tag
        return self

    def _settings(self, aggregation: ReduceFunction | AggregateFunction | None = None) -> WindowSettings:
        return WindowSettings(
            self._assigner,
            self._trigger or self._default_trigger(),
            self._evictor,
            self._allowed_lateness,
            None if self._late_tag is None else self._late_tag.tag_id,
            aggregation,
        )

    def _default_trigger(self) -> Trigger[Any, Any]:
        trigger = self._assigner.get_default_trigger(None)
        if isinstance(self._assigner, (CountTumblingWindowAssigner, CountSlidingWindowAssigner)):
            # A full count window gets no further element: what it holds would stay for ever.
            return PurgingTrigger.of(trigger)
        return trigger


class _Windowed(WindowingChoices):
    """What windows with and without keys share; they differ in the kinds of window functions."""

    _apply_kind: type[Function]
    _process_kind: type[Function]
    _parallel = True

    def __init__(self, stream: KeyedStream, window_assigner: WindowAssigner[Any, Any]) -> None:
        super().__init__(window_assigner)
        self._stream = stream

    def get_execution_environment(self) -> StreamExecutionEnvironment:
        return self._stream.get_execution_environment()

    def get_input_type(self) -> TypeInformation:
        """The type of the elements."""
        return self._stream._type_info

    def _reduce(
        self,
        reduce_function: Callable[[Any, Any], Any] | ReduceFunction,
        window_function: Any,
        output_type: TypeInformation | None,
    ) -> DataStream:
        function = as_function(reduce_function, ReduceFunction, "reduce()")
        if window_function is None and output_type is None:
            output_type = self.get_input_type()
        return self._operator(function, self._checked(window_function, "reduce()"), output_type)

    def _aggregate(
        self,
        aggregate_function: AggregateFunction,
        window_function: Any,
        accumulator_type: TypeInformation | None,
        output_type: TypeInformation | None,
    ) -> DataStream:
        function = as_function(aggregate_function, AggregateFunction, "aggregate()")
        if accumulator_type is not None and not isinstance(accumulator_type, TypeInformation):
            raise ProgramError(f"aggregate(): accumulator_type must be a TypeInformation, got {accumulator_type!r}")
        return self._operator(function, self._checked(window_function, "aggregate()"), output_type)

    def _checked(self, window_function: Any, operation: str) -> Function | None:
        if window_function is None or isinstance(window_function, (self._apply_kind, self._process_kind)):
            return window_function
        raise ProgramError(
            f"{operation}: the window function must be a {self._process_kind.__name__} or a "
            f"{self._apply_kind.__name__}, got {window_function!r}"
        )

    def _operator(
        self,
        aggregation: ReduceFunction | AggregateFunction | None,
        function: Function | None,
        output_type: TypeInformation | None,
    ) -> DataStream:
        settings = self._settings(aggregation)
        result = self._stream._transform(
            "window",
            type(self._assigner).__name__,
            function,
            output_type=output_type,
            params={PARAMETER: settings},
        )
        return result if self._parallel else result.force_non_parallel()

    def sum(self, position_to_sum: int | str = 0) -> DataStream:
        """The sum of a field over the window, in its first record (beyond PyFlink)."""
        return self._field(Sum, position_to_sum)

    def min(self, position_to_min: int | str = 0) -> DataStream:
        """The smallest value of a field in the window, in its first record (beyond PyFlink)."""
        return self._field(Minimum, position_to_min)

    def max(self, position_to_max: int | str = 0) -> DataStream:
        """The largest value of a field in the window, in its first record (beyond PyFlink)."""
        return self._field(Maximum, position_to_max)

    def min_by(self, position_to_min_by: int | str = 0) -> DataStream:
        """The record of the window with the smallest value of a field, the first of equal ones (beyond PyFlink)."""
        return self._field(MinimumBy, position_to_min_by)

    def max_by(self, position_to_max_by: int | str = 0) -> DataStream:
        """The record of the window with the largest value of a field, the first of equal ones (beyond PyFlink)."""
        return self._field(MaximumBy, position_to_max_by)

    def count(self) -> DataStream:
        """The number of records in the window: (key, count) with keys, else the count alone (beyond PyFlink)."""
        count_type = Types.LONG()
        if not self._parallel:
            return self._operator(Count(), None, count_type)
        key_type = self._stream._key_type
        return self._operator(Count(), WithKey(), None if key_type is None else Types.TUPLE([key_type, count_type]))

    def _field(self, aggregation: type[RollingAggregation], position: int | str) -> DataStream:
        return self._operator(aggregation(position, self.get_input_type()), None, self.get_input_type())


class WindowedStream(_Windowed):
    """The records of each key in windows; ``keyed_stream.window(assigner)`` makes it::

    counts = (
        events.key_by(lambda event: event.user)
        .window(TumblingEventTimeWindows.of(Time.seconds(10)))
        .aggregate(CountEvents())
    )
    """

    _apply_kind = WindowFunction
    _process_kind = ProcessWindowFunction

    def __init__(self, keyed_stream: KeyedStream, window_assigner: WindowAssigner[Any, Any]) -> None:
        super().__init__(keyed_stream, window_assigner)

    def reduce(
        self,
        reduce_function: Callable[[Any, Any], Any] | ReduceFunction,
        window_function: WindowFunction[Any, Any, Any, Any] | ProcessWindowFunction[Any, Any, Any, Any] | None = None,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Combines the elements when they arrive; the window function, if any, gets the one result."""
        return self._reduce(reduce_function, window_function, output_type)

    def aggregate(
        self,
        aggregate_function: AggregateFunction,
        window_function: WindowFunction[Any, Any, Any, Any] | ProcessWindowFunction[Any, Any, Any, Any] | None = None,
        accumulator_type: TypeInformation | None = None,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Keeps one accumulator per window; the window function, if any, gets the one result.

        Accumulators are kept as the Python objects that they are, whatever ``accumulator_type`` says.
        """
        return self._aggregate(aggregate_function, window_function, accumulator_type, output_type)

    def apply(
        self,
        window_function: WindowFunction[Any, Any, Any, Any],
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Evaluates all elements of the window with a WindowFunction."""
        return self._operator(None, as_function(window_function, WindowFunction, "apply()"), output_type)

    def process(
        self,
        process_window_function: ProcessWindowFunction[Any, Any, Any, Any],
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Evaluates all elements of the window with a function that sees time and state."""
        function: Function = as_function(process_window_function, ProcessWindowFunction, "process()")
        return self._operator(None, function, output_type)


class AllWindowedStream(_Windowed):
    """All records in windows, in one subtask; ``stream.window_all(assigner)`` makes it."""

    _apply_kind = AllWindowFunction
    _process_kind = ProcessAllWindowFunction
    _parallel = False

    def __init__(self, data_stream: DataStream, window_assigner: WindowAssigner[Any, Any]) -> None:
        super().__init__(KeyedStream(data_stream, NullByteKeySelector(), Types.BYTE()), window_assigner)

    def reduce(
        self,
        reduce_function: Callable[[Any, Any], Any] | ReduceFunction,
        window_function: AllWindowFunction[Any, Any, Any] | ProcessAllWindowFunction[Any, Any, Any] | None = None,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Combines the elements when they arrive; the window function, if any, gets the one result."""
        return self._reduce(reduce_function, window_function, output_type)

    def aggregate(
        self,
        aggregate_function: AggregateFunction,
        window_function: AllWindowFunction[Any, Any, Any] | ProcessAllWindowFunction[Any, Any, Any] | None = None,
        accumulator_type: TypeInformation | None = None,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Keeps one accumulator per window; the window function, if any, gets the one result."""
        return self._aggregate(aggregate_function, window_function, accumulator_type, output_type)

    def apply(
        self, window_function: AllWindowFunction[Any, Any, Any], output_type: TypeInformation | None = None
    ) -> DataStream:
        """Evaluates all elements of the window with an AllWindowFunction."""
        return self._operator(None, as_function(window_function, AllWindowFunction, "apply()"), output_type)

    def process(
        self,
        process_window_function: ProcessAllWindowFunction[Any, Any, Any],
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Evaluates all elements of the window with a function that sees state."""
        function: Function = as_function(process_window_function, ProcessAllWindowFunction, "process()")
        return self._operator(None, function, output_type)

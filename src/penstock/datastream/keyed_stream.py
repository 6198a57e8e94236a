"""KeyedStream: records with the same key meet in one subtask and share state."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING, Any, NoReturn

from penstock.common.errors import ProgramError
from penstock.common.typeinfo import TypeInformation, Types
from penstock.datastream.data_stream_sink import DataStreamSink
from penstock.datastream.functions import (
    FilterFunction,
    FlatMapFunction,
    KeyedProcessFunction,
    KeySelector,
    MapFunction,
    ProcessFunction,
    ReduceFunction,
    as_function,
)
from penstock.datastream.stream import DataStream
from penstock.functions.rolling import (
    Maximum,
    MaximumBy,
    Minimum,
    MinimumBy,
    RollingAggregation,
    Sum,
)
from penstock.runtime.partitioning import ByKey, Partitioning

if TYPE_CHECKING:
    from penstock.datastream.joined_streams import IntervalJoin
    from penstock.datastream.window import WindowAssigner
    from penstock.datastream.windowed_stream import WindowedStream

__all__ = ["KeyedStream"]


class KeyedStream(DataStream):
    """A stream whose records have keys; ``ds.key_by(...)`` makes it.

    Functions called here may use keyed state and timers, each key its own.
    """

    class AccumulateType(Enum):
        """The rolling aggregations of a keyed stream."""

        MIN = 1
        MAX = 2
        MIN_BY = 3
        MAX_BY = 4
        SUM = 5

    def __init__(
        self, origin_stream: DataStream, key_selector: KeySelector, key_type: TypeInformation | None = None
    ) -> None:
        by_key = ByKey(key_selector, key_type)
        upstreams = tuple(upstream.exchanged(by_key) for upstream in origin_stream._upstreams)
        super().__init__(origin_stream._env, upstreams, origin_stream._type_info)
        self._origin_stream = origin_stream
        self._key_selector = key_selector
        self._key_type = key_type

    def get_type(self) -> TypeInformation:
        """Of what travels and what the client gets: rows of key and record."""
        return Types.ROW_NAMED(["f0", "f1"], [self._key_type or Types.PICKLED_BYTE_ARRAY(), self._type_info])

    def cache(self) -> NoReturn:
        raise ProgramError("Cache for KeyedStream is not supported: cache the stream before key_by().")

    def _what_it_is(self) -> str:
        return "a KeyedStream"

    def _exchanged(self, partitioning: Partitioning) -> NoReturn:
        raise ProgramError(
            f"Cannot override partitioning for KeyedStream (key_by() is followed by {partitioning.label});"
            " exchange the stream before key_by(), or after the keyed operator."
        )

    # Functions that are objects may hold keyed state; plain callables cannot, and run without the key.

    def map(self, func: Callable[[Any], Any] | MapFunction, output_type: TypeInformation | None = None) -> DataStream:
        """Turns every record into one record."""
        if isinstance(func, MapFunction):
            return self._transform("keyed_map", "Map", func, output_type=output_type)
        return super().map(func, output_type)

    def flat_map(
        self, func: Callable[[Any], Any] | FlatMapFunction, output_type: TypeInformation | None = None
    ) -> DataStream:
        """Turns every record into any number of records."""
        if isinstance(func, FlatMapFunction):
            return self._transform("keyed_flat_map", "FlatMap", func, output_type=output_type)
        return super().flat_map(func, output_type)

    def filter(self, func: Callable[[Any], Any] | FilterFunction) -> DataStream:
        """Keeps the records for which the function is true."""
        if isinstance(func, FilterFunction):
            return self._transform("keyed_filter", "Filter", func, output_type=self._type_info)
        return super().filter(func)

    def process(  # type: ignore[override]
        self, func: KeyedProcessFunction, output_type: TypeInformation | None = None
    ) -> DataStream:
        """Calls a process function with keyed state and timers."""
        if isinstance(func, ProcessFunction) and not isinstance(func, KeyedProcessFunction):
            raise ProgramError(
                "KeyedProcessFunction is required for KeyedStream, got the ProcessFunction"
                f" {type(func).__name__}: subclass KeyedProcessFunction, or call process() before key_by()."
            )
        function = as_function(func, KeyedProcessFunction, "process()")
        return self._transform("keyed_process", "KEYED PROCESS", function, output_type=output_type)

    # Rolling aggregations

    def reduce(self, func: Callable[[Any, Any], Any] | ReduceFunction) -> DataStream:
        """Combines each record with what the key's records gave so far, and emits the result every time."""
        return self._rolling(as_function(func, ReduceFunction, "reduce()"))

    def sum(self, position_to_sum: int | str = 0) -> DataStream:
        """The sum of a field so far, in the key's first record."""
        return self._aggregate(Sum, position_to_sum)

    def min(self, position_to_min: int | str = 0) -> DataStream:
        """The smallest value of a field so far, in the key's first record."""
        return self._aggregate(Minimum, position_to_min)

    def max(self, position_to_max: int | str = 0) -> DataStream:
        """The largest value of a field so far, in the key's first record."""
        return self._aggregate(Maximum, position_to_max)

    def min_by(self, position_to_min_by: int | str = 0) -> DataStream:
        """The record with the smallest value of a field so far; the first of equal ones."""
        return self._aggregate(MinimumBy, position_to_min_by)

    def max_by(self, position_to_max_by: int | str = 0) -> DataStream:
        """The record with the largest value of a field so far; the first of equal ones."""
        return self._aggregate(MaximumBy, position_to_max_by)

    def _aggregate(self, aggregation: type[RollingAggregation], position: int | str) -> DataStream:
        return self._rolling(aggregation(position, self._type_info))

    def _rolling(self, function: ReduceFunction) -> DataStream:
        return self._transform("reduce", "Reduce", function, output_type=self._type_info)

    # Other ways to go on

    def key_by(
        self, key_selector: Callable[[Any], Any] | KeySelector, key_type: TypeInformation | None = None
    ) -> KeyedStream:
        """The same records under other keys."""
        return self._origin_stream.key_by(key_selector, key_type)

    def window(self, window_assigner: WindowAssigner[Any, Any]) -> WindowedStream:
        """Windows for each key."""
        from penstock.datastream.windowed_stream import WindowedStream

        return WindowedStream(self, window_assigner)

    def count_window(self, size: int, slide: int = 0) -> WindowedStream:
        """Windows of so many records for each key."""
        from penstock.datastream.window import CountSlidingWindowAssigner, CountTumblingWindowAssigner

        if slide == 0:
            return self.window(CountTumblingWindowAssigner(size))
        return self.window(CountSlidingWindowAssigner(size, slide))

    def interval_join(self, other: KeyedStream) -> IntervalJoin:
        """Pairs of records with the same key whose timestamps are near each other (beyond PyFlink)."""
        from penstock.datastream.joined_streams import IntervalJoin

        return IntervalJoin(self, other)

    # Ends: as in PyFlink, sinks and the program get Row(key, record), and print() and sink functions the record

    def print(self, sink_identifier: str | None = None) -> DataStreamSink:
        """Writes the records to standard output; as in PyFlink, the identifier is not shown here."""
        return super().print()

    def sink_to(self, sink: Any) -> DataStreamSink:
        """Ends in a sink of ``penstock.datastream.connectors``, which gets ``Row(key, record)``."""
        return self._with_keys().sink_to(sink)

    def _collected_stream(self) -> DataStream:
        return self._with_keys().set_parallelism(1)

    def _with_keys(self) -> DataStream:
        pair = Types.ROW([self._key_type or Types.PICKLED_BYTE_ARRAY(), self._type_info])
        return self._transform("key_and_value", "Key and value", output_type=pair)

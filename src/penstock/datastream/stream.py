"""DataStream: a stream of records, and every way to go on from it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn, Self, overload

from penstock.common.errors import ProgramError
from penstock.common.typeinfo import TupleTypeInfo, TypeInformation, Types
from penstock.common.watermark_strategy import WatermarkStrategy
from penstock.datastream.functions import (
    FilterFunction,
    FlatMapFunction,
    KeyedProcessFunction,
    KeySelector,
    MapFunction,
    Partitioner,
    ProcessFunction,
    as_function,
)
from penstock.datastream.operator_settings import warn_of_buffer_timeout
from penstock.datastream.projection import Projection
from penstock.datastream.state import MapStateDescriptor
from penstock.datastream.stream_ends import StreamEnds
from penstock.functions.field_key import FieldKey
from penstock.functions.output_tag import OutputTag
from penstock.graph.transformation import Chaining, Node, Upstream
from penstock.runtime.partitioning import (
    Broadcast,
    Custom,
    Forward,
    Partitioning,
    Rebalance,
    Rescale,
    Shuffle,
    ToFirst,
)

if TYPE_CHECKING:
    from penstock.common.execution_config import ExecutionConfig
    from penstock.datastream.cached_data_stream import CachedDataStream
    from penstock.datastream.connected_streams import (
        BroadcastConnectedStream,
        BroadcastStream,
        ConnectedStreams,
    )
    from penstock.datastream.joined_streams import CoGroupedStreams, JoinedStreams
    from penstock.datastream.keyed_stream import KeyedStream
    from penstock.datastream.stream_execution_environment import StreamExecutionEnvironment
    from penstock.datastream.window import WindowAssigner
    from penstock.datastream.windowed_stream import AllWindowedStream

__all__ = ["DataStream"]


class DataStream(StreamEnds):
    """A stream of records. Nothing runs before ``env.execute()``; every method describes one more step.

    Streams come from the sources of a :class:`StreamExecutionEnvironment`::

        env.from_collection([1, 2, 3], Types.INT()).map(lambda n: n * n, Types.INT()).print()
        env.execute()
    """

    # The operator that the stream comes out of

    def _operator_nodes(self, operation: str) -> tuple[Node, ...]:
        if not self._nodes:
            raise ProgramError(
                f"{operation} is not possible on {self._what_it_is()}, which is no operator:"
                " call it on the operator before or after it."
            )
        return self._nodes

    def _what_it_is(self) -> str:
        if len(self._upstreams) > 1:
            return "a union of streams"
        partitioning = self._upstreams[0].partitioning
        return "a stream" if partitioning is None else f"a stream with the exchange {partitioning.label}"

    def get_name(self) -> str:
        """The name of the operator that the stream comes out of."""
        return self._operator_nodes("get_name()")[0].name

    def set_max_parallelism(self, max_parallelism: int) -> Self:
        """Sets the number of key groups, the highest parallelism that the state can be spread over."""
        self._set_max_parallelism(max_parallelism)
        return self

    def force_non_parallel(self) -> Self:
        """Fixes the operator's parallelism and maximum parallelism at 1."""
        for node in self._operator_nodes("force_non_parallel()"):
            node.parallelism, node.max_parallelism, node.fixed_parallelism = 1, 1, True
        return self

    def set_buffer_timeout(self, timeout_millis: int) -> Self:
        """Accepted with a warning: there are no network buffers whose flushing could be timed."""
        self._operator_nodes("set_buffer_timeout()")
        warn_of_buffer_timeout(timeout_millis)
        return self

    def start_new_chain(self) -> Self:
        """Makes the operator the first of its task."""
        self._operator_nodes("start_new_chain()")[0].chaining = Chaining.HEAD
        return self

    def get_type(self) -> TypeInformation:
        """The type of the records."""
        return self._type_info

    def get_execution_environment(self) -> StreamExecutionEnvironment:
        return self._env

    def get_execution_config(self) -> ExecutionConfig:
        return self._env.get_config()

    # Operators

    def _transform(
        self,
        kind: str,
        name: str,
        function: Any = None,
        *,
        output_type: TypeInformation | None = None,
        params: dict[str, Any] | None = None,
        other_inputs: tuple[DataStream, ...] = (),
    ) -> DataStream:
        """The one way to create an operator after this stream; without output type it is untyped."""
        type_info = _checked_type(output_type, name)
        node = self._node_behind(kind, name, function, params, other_inputs)
        node.output_type = type_info
        return DataStream(self._env, (Upstream(node),), type_info, (node,))

    def map(self, func: Callable[[Any], Any] | MapFunction, output_type: TypeInformation | None = None) -> DataStream:
        """Turns every record into one record."""
        return self._transform("map", "Map", as_function(func, MapFunction, "map()"), output_type=output_type)

    def flat_map(
        self, func: Callable[[Any], Any] | FlatMapFunction, output_type: TypeInformation | None = None
    ) -> DataStream:
        """Turns every record into any number of records."""
        function = as_function(func, FlatMapFunction, "flat_map()")
        return self._transform("flat_map", "FlatMap", function, output_type=output_type)

    def filter(self, func: Callable[[Any], Any] | FilterFunction) -> DataStream:
        """Keeps the records for which the function is true."""
        function = as_function(func, FilterFunction, "filter()")
        return self._transform("filter", "Filter", function, output_type=self._type_info)

    def project(self, *field_indexes: int) -> DataStream:
        """Keeps some fields of a tuple stream, in the order given."""
        if not isinstance(self._type_info, TupleTypeInfo):
            raise ProgramError(
                f"Only Tuple DataStreams can be projected, this one has the type {self._type_info!r};"
                " declare Types.TUPLE(...) or use map()."
            )
        projection = Projection(field_indexes, self._type_info)
        return self._transform("map", "Projection", projection, output_type=projection.output_type)

    def process(self, func: ProcessFunction, output_type: TypeInformation | None = None) -> DataStream:
        """Calls a process function, which sees timestamps and side outputs; timers and state need keys."""
        function: Any = func
        if not isinstance(func, KeyedProcessFunction):
            function = as_function(func, ProcessFunction, "process()")
        return self._transform("process", "PROCESS", function, output_type=output_type)

    def assign_timestamps_and_watermarks(self, watermark_strategy: WatermarkStrategy) -> DataStream:
        """Gives records timestamps and the stream watermarks; what came from further up is replaced."""
        if not isinstance(watermark_strategy, WatermarkStrategy):
            raise ProgramError(
                "assign_timestamps_and_watermarks() takes a WatermarkStrategy such as"
                f" WatermarkStrategy.for_monotonous_timestamps(), got {watermark_strategy!r}"
            )
        stream = self._transform("timestamps", "Timestamps/Watermarks", watermark_strategy, output_type=self._type_info)
        if watermark_strategy.timestamp_assigner is None:
            # As in Flink: without user code the operator stays beside its input.
            stream._nodes[0].parallelism = self._upstreams[0].node.parallelism
        return stream

    def get_side_output(self, output_tag: OutputTag) -> DataStream:
        """The records that the operator's function yields as ``(output_tag, record)``."""
        if not isinstance(output_tag, OutputTag):
            raise ProgramError(f"get_side_output() takes an OutputTag, got {output_tag!r}")
        node = self._operator_nodes("get_side_output()")[0]
        known = node.side_output_types.setdefault(output_tag.tag_id, output_tag.type_info)
        if known != output_tag.type_info:
            raise ProgramError(
                f"The side output {output_tag.tag_id!r} of {node.name!r} was read with the type {known!r}"
                f" before, now with {output_tag.type_info!r}: use one tag for all."
            )
        side = DataStream(self._env, (Upstream(node, output_tag.tag_id),), output_tag.type_info)
        # An operator of its own, so that it can be named and set parallel as in PyFlink.
        return side._transform("pass", "Map", output_type=output_tag.type_info)

    # Several streams

    def union(self, *streams: DataStream) -> DataStream:
        """All records of this stream and the others, which have the same type."""
        upstreams = self._upstreams
        for stream in streams:
            if not isinstance(stream, DataStream):
                raise ProgramError(f"union() takes DataStreams, got {stream!r}")
            self._require_same_environment(stream, "union()")
            if stream._type_info != self._type_info:
                raise ProgramError(
                    f"Cannot union streams of different types: {self._type_info!r} and {stream._type_info!r}."
                    " Give both the same type with map(..., output_type=...)."
                )
            upstreams += stream._upstreams
        return DataStream(self._env, upstreams, self._type_info)

    @overload
    def connect(self, ds: DataStream) -> ConnectedStreams: ...

    @overload
    def connect(self, ds: BroadcastStream) -> BroadcastConnectedStream: ...

    def connect(self, ds: DataStream | BroadcastStream) -> ConnectedStreams | BroadcastConnectedStream:
        """Two streams of any types into one operator that tells them apart."""
        from penstock.datastream.connected_streams import (
            BroadcastConnectedStream,
            BroadcastStream,
            ConnectedStreams,
        )

        if isinstance(ds, BroadcastStream):
            return BroadcastConnectedStream(self, ds, ds.broadcast_state_descriptors)
        if not isinstance(ds, DataStream):
            raise ProgramError(f"connect() takes a DataStream or a BroadcastStream, got {ds!r}")
        return ConnectedStreams(self, ds)

    def join(self, other: DataStream) -> JoinedStreams:
        """Pairs of records with the same key in the same window (beyond PyFlink)."""
        from penstock.datastream.joined_streams import JoinedStreams

        return JoinedStreams(self, other)

    def co_group(self, other: DataStream) -> CoGroupedStreams:
        """The records of both streams with the same key in the same window (beyond PyFlink)."""
        from penstock.datastream.joined_streams import CoGroupedStreams

        return CoGroupedStreams(self, other)

    # Exchange strategies

    def key_by(
        self, key_selector: Callable[[Any], Any] | KeySelector, key_type: TypeInformation | None = None
    ) -> KeyedStream:
        """Brings records with the same key to the same subtask, where they share state.

        ``operator.itemgetter(0)`` as selector on records of a declared type makes no Python objects of them.
        """
        from penstock.datastream.keyed_stream import KeyedStream

        by_field = FieldKey.of(key_selector, self._type_info)
        selector = by_field or as_function(key_selector, KeySelector, "key_by()")
        if key_type is not None:
            _checked_type(key_type, "key_by()")
        return KeyedStream(self, selector, key_type)

    def _exchanged(self, partitioning: Partitioning) -> DataStream:
        upstreams = tuple(upstream.exchanged(partitioning) for upstream in self._upstreams)
        return DataStream(self._env, upstreams, self._type_info)

    def shuffle(self) -> DataStream:
        """Sends each record to a random subtask of the next operator."""
        return self._exchanged(Shuffle())

    def rebalance(self) -> DataStream:
        """Sends records in turn to all subtasks of the next operator."""
        return self._exchanged(Rebalance())

    def rescale(self) -> DataStream:
        """Sends records in turn to a fixed share of the next operator's subtasks."""
        return self._exchanged(Rescale())

    def forward(self) -> DataStream:
        """Sends records to the subtask with the same number; the next operator needs the same parallelism."""
        return self._exchanged(Forward())

    def global_(self) -> DataStream:
        """Sends all records to the first subtask of the next operator (beyond PyFlink)."""
        return self._exchanged(ToFirst())

    @overload
    def broadcast(self) -> DataStream: ...

    @overload
    def broadcast(
        self,
        broadcast_state_descriptor: MapStateDescriptor,
        *other_broadcast_state_descriptors: MapStateDescriptor,
    ) -> BroadcastStream: ...

    def broadcast(
        self,
        broadcast_state_descriptor: MapStateDescriptor | None = None,
        *other_broadcast_state_descriptors: MapStateDescriptor,
    ) -> DataStream | BroadcastStream:
        """Sends every record to all subtasks; with descriptors, to be connected as broadcast state."""
        if broadcast_state_descriptor is None:
            return self._exchanged(Broadcast())
        from penstock.datastream.connected_streams import BroadcastStream

        return BroadcastStream(self, [broadcast_state_descriptor, *other_broadcast_state_descriptors])

    def partition_custom(
        self,
        partitioner: Callable[[Any, int], int] | Partitioner,
        key_selector: Callable[[Any], Any] | KeySelector,
    ) -> DataStream:
        """Lets a function of the key and the number of subtasks choose the subtask."""
        return self._exchanged(
            Custom(
                as_function(partitioner, Partitioner, "partition_custom()"),
                as_function(key_selector, KeySelector, "partition_custom()"),
            )
        )

    # Windows

    def window_all(self, window_assigner: WindowAssigner[Any, Any]) -> AllWindowedStream:
        """Windows over the whole stream, in one subtask."""
        from penstock.datastream.windowed_stream import AllWindowedStream

        return AllWindowedStream(self, window_assigner)

    def cache(self) -> CachedDataStream:
        """Accepted with a warning: every job computes the stream again, as PyFlink does on a cluster of its own."""
        from penstock.datastream.cached_data_stream import CachedDataStream

        warnings.warn(
            "cache() has no effect: no results are kept between jobs, each computes the stream again. To compute it"
            " once, write it to files with a FileSink, or let one job have several sinks.",
            stacklevel=2,
        )
        return CachedDataStream(self)

    def __iter__(self) -> NoReturn:
        raise ProgramError("A DataStream has no records before the program runs: use ds.execute_and_collect().")


def _checked_type(given: TypeInformation | None, operation: str) -> TypeInformation:
    if given is None:
        return Types.PICKLED_BYTE_ARRAY()
    if isinstance(given, TypeInformation):
        return given
    hint = f"; call it: Types.{given.__name__}()" if hasattr(Types, getattr(given, "__name__", "")) else ""
    raise ProgramError(
        f"{operation}: a type is declared with TypeInformation such as Types.STRING(), got {given!r}{hint}"
    )

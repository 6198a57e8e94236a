"""Two streams that lead into one operator, each with its own type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.common.errors import ProgramError
from penstock.common.typeinfo import TypeInformation
from penstock.datastream.functions import (
    BroadcastProcessFunction,
    CoFlatMapFunction,
    CoMapFunction,
    CoProcessFunction,
    KeyedBroadcastProcessFunction,
    KeyedCoProcessFunction,
    KeySelector,
    as_function,
)
from penstock.datastream.keyed_stream import KeyedStream
from penstock.datastream.state import MapStateDescriptor
from penstock.datastream.stream import DataStream
from penstock.runtime.partitioning import Broadcast

__all__ = ["BroadcastConnectedStream", "BroadcastStream", "ConnectedStreams"]


class ConnectedStreams:
    """Two streams, of whose records one function knows where they come from; ``a.connect(b)`` makes it.

    When both are keyed, functions share keyed state between the two.
    """

    def __init__(self, stream1: DataStream, stream2: DataStream) -> None:
        self.stream1 = stream1
        self.stream2 = stream2

    def key_by(
        self,
        key_selector1: Callable[[Any], Any] | KeySelector,
        key_selector2: Callable[[Any], Any] | KeySelector,
        key_type: TypeInformation | None = None,
    ) -> ConnectedStreams:
        """Keys both streams; records with equal keys meet, from whichever stream they come."""
        return ConnectedStreams(
            self.stream1.key_by(key_selector1, key_type), self.stream2.key_by(key_selector2, key_type)
        )

    def map(self, func: CoMapFunction, output_type: TypeInformation | None = None) -> DataStream:
        """Turns each record of either stream into one record; None is dropped."""
        return self._transform("co_map", "Co-Map", as_function(func, CoMapFunction, "map()"), output_type)

    def flat_map(self, func: CoFlatMapFunction, output_type: TypeInformation | None = None) -> DataStream:
        """Turns each record of either stream into any number of records."""
        function = as_function(func, CoFlatMapFunction, "flat_map()")
        return self._transform("co_flat_map", "Co-Flat Map", function, output_type)

    def process(
        self, func: CoProcessFunction | KeyedCoProcessFunction, output_type: TypeInformation | None = None
    ) -> DataStream:
        """Calls a process function for the records of both; keyed streams give it state and timers."""
        if isinstance(func, KeyedCoProcessFunction):
            if not self._keyed:
                raise ProgramError(
                    f"The KeyedCoProcessFunction {type(func).__name__} needs two keyed streams: call"
                    " connect(...).key_by(selector1, selector2), or use a CoProcessFunction."
                )
            return self._transform("co_process", "Keyed Co-Process", func, output_type)
        function = as_function(func, CoProcessFunction, "process()")
        return self._transform("co_process", "Co-Process", function, output_type)

    @property
    def _keyed(self) -> bool:
        return isinstance(self.stream1, KeyedStream) and isinstance(self.stream2, KeyedStream)

    def _transform(self, kind: str, name: str, function: Any, output_type: TypeInformation | None) -> DataStream:
        kind = f"keyed_{kind}" if self._keyed else kind
        return self.stream1._transform(kind, name, function, output_type=output_type, other_inputs=(self.stream2,))


class BroadcastStream:
    """A stream that all subtasks of the operator it is connected to get, and keep as broadcast state."""

    def __init__(self, input_stream: DataStream, broadcast_state_descriptors: list[MapStateDescriptor]) -> None:
        for descriptor in broadcast_state_descriptors:
            if not isinstance(descriptor, MapStateDescriptor):
                raise ProgramError(f"broadcast() takes MapStateDescriptors, got {descriptor!r}")
        # Fails for a KeyedStream, as in PyFlink: every subtask gets every record, keys mean nothing.
        self._stream = input_stream._exchanged(Broadcast())
        self.input_stream = input_stream
        self.broadcast_state_descriptors = list(broadcast_state_descriptors)


class BroadcastConnectedStream:
    """A stream and a broadcast stream to look things up in: ``a.connect(b.broadcast(descriptor))``."""

    def __init__(
        self,
        non_broadcast_stream: DataStream,
        broadcast_stream: BroadcastStream,
        broadcast_state_descriptors: list[MapStateDescriptor],
    ) -> None:
        self.non_broadcast_stream = non_broadcast_stream
        self.broadcast_stream = broadcast_stream
        self.broadcast_state_descriptors = list(broadcast_state_descriptors)

    def process(
        self,
        func: BroadcastProcessFunction[Any, Any, Any] | KeyedBroadcastProcessFunction[Any, Any, Any, Any],
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Calls a function that writes broadcast state from one side and reads it from the other."""
        keyed = isinstance(self.non_broadcast_stream, KeyedStream)
        if keyed and isinstance(func, BroadcastProcessFunction):
            raise ProgramError(
                f"BroadcastProcessFunction should be applied to non-keyed DataStream: {type(func).__name__}"
                " got a KeyedStream. Subclass KeyedBroadcastProcessFunction, or connect before key_by()."
            )
        if not keyed and isinstance(func, KeyedBroadcastProcessFunction):
            raise ProgramError(
                f"KeyedBroadcastProcessFunction should be applied to keyed DataStream: {type(func).__name__}"
                " got a stream without keys. Call key_by() first, or subclass BroadcastProcessFunction."
            )
        expected: Any = KeyedBroadcastProcessFunction if keyed else BroadcastProcessFunction
        return self.non_broadcast_stream._transform(
            "keyed_broadcast" if keyed else "broadcast",
            "Keyed-Co-Process-Broadcast" if keyed else "Co-Process-Broadcast",
            as_function(func, expected, "process()"),
            output_type=output_type,
            params={"descriptors": list(self.broadcast_state_descriptors)},
            other_inputs=(self.broadcast_stream._stream,),
        )

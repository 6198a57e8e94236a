"""All function classes of the DataStream API, under the module path that PyFlink programs import."""

from __future__ import annotations

from penstock.datastream.async_functions import (
    AsyncFunction,
    AsyncFunctionDescriptor,
    AsyncRetryPredicate,
    AsyncRetryStrategy,
)
from penstock.datastream.broadcast_functions import (
    BaseBroadcastProcessFunction,
    BroadcastProcessFunction,
    KeyedBroadcastProcessFunction,
)
from penstock.datastream.element_functions import (
    AggregateFunction,
    CoFlatMapFunction,
    CoMapFunction,
    FilterFunction,
    FlatMapFunction,
    KeySelector,
    MapFunction,
    NullByteKeySelector,
    Partitioner,
    ReduceFunction,
)
from penstock.datastream.function_base import Function, KeyedStateStore, RuntimeContext
from penstock.datastream.function_wrappers import (
    FilterFunctionWrapper,
    FlatMapFunctionWrapper,
    FunctionWrapper,
    KeySelectorFunctionWrapper,
    MapFunctionWrapper,
    PartitionerFunctionWrapper,
    ReduceFunctionWrapper,
    as_function,
)
from penstock.datastream.process_functions import (
    CoProcessFunction,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    ProcessFunction,
)
from penstock.datastream.source_sink_functions import JavaFunctionWrapper, SinkFunction, SourceFunction
from penstock.datastream.window_functions import (
    AllWindowFunction,
    PassThroughAllWindowFunction,
    PassThroughWindowFunction,
    ProcessAllWindowFunction,
    ProcessWindowFunction,
    WindowFunction,
)

__all__ = [
    "AggregateFunction",
    "AllWindowFunction",
    "AsyncFunction",
    "AsyncFunctionDescriptor",
    "AsyncRetryPredicate",
    "AsyncRetryStrategy",
    "BaseBroadcastProcessFunction",
    "BroadcastProcessFunction",
    "CoFlatMapFunction",
    "CoMapFunction",
    "CoProcessFunction",
    "FilterFunction",
    "FilterFunctionWrapper",
    "FlatMapFunction",
    "FlatMapFunctionWrapper",
    "Function",
    "FunctionWrapper",
    "JavaFunctionWrapper",
    "KeySelector",
    "KeySelectorFunctionWrapper",
    "KeyedBroadcastProcessFunction",
    "KeyedCoProcessFunction",
    "KeyedProcessFunction",
    "KeyedStateStore",
    "MapFunction",
    "MapFunctionWrapper",
    "NullByteKeySelector",
    "Partitioner",
    "PartitionerFunctionWrapper",
    "PassThroughAllWindowFunction",
    "PassThroughWindowFunction",
    "ProcessAllWindowFunction",
    "ProcessFunction",
    "ProcessWindowFunction",
    "ReduceFunction",
    "ReduceFunctionWrapper",
    "RuntimeContext",
    "SinkFunction",
    "SourceFunction",
    "WindowFunction",
    "as_function",
]

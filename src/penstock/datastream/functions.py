"""All function classes of the DataStream API, under the module path that PyFlink programs import."""

from __future__ import annotations

from penstock.functions.async_io import (
    AsyncFunction,
    AsyncFunctionDescriptor,
    AsyncRetryPredicate,
    AsyncRetryStrategy,
)
from penstock.functions.base import Function, KeyedStateStore, RuntimeContext
from penstock.functions.broadcast import (
    BaseBroadcastProcessFunction,
    BroadcastProcessFunction,
    KeyedBroadcastProcessFunction,
)
from penstock.functions.element import (
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
from penstock.functions.mergeable import mergeable
from penstock.functions.process import (
    CoProcessFunction,
    KeyedCoProcessFunction,
    KeyedProcessFunction,
    ProcessFunction,
)
from penstock.functions.source_sink import JavaFunctionWrapper, SinkFunction, SourceFunction
from penstock.functions.window_functions import (
    AllWindowFunction,
    PassThroughAllWindowFunction,
    PassThroughWindowFunction,
    ProcessAllWindowFunction,
    ProcessWindowFunction,
    WindowFunction,
)
from penstock.functions.wrappers import (
    FilterFunctionWrapper,
    FlatMapFunctionWrapper,
    FunctionWrapper,
    KeySelectorFunctionWrapper,
    MapFunctionWrapper,
    PartitionerFunctionWrapper,
    ReduceFunctionWrapper,
    as_function,
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
    "mergeable",
]

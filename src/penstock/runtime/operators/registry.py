"""Every operator of the runtime by the kind that graph nodes name."""

from __future__ import annotations

from penstock.runtime.operators import broadcast, keyed, process, sinks, sources, stateless, watermarks
from penstock.runtime.operators.async_io import AsyncOperator
from penstock.runtime.operators.base import Operator
from penstock.runtime.operators.calc import CalcOperator
from penstock.runtime.operators.cep import CepOperator
from penstock.runtime.operators.hybrid_source import HybridSourceOperator
from penstock.runtime.operators.interval_join import IntervalJoinOperator
from penstock.runtime.windows.operator import WindowOperator
from penstock.runtime.windows.two_inputs import WindowOfTwoOperator

OPERATORS: dict[str, type[Operator]] = {
    "source": sources.SourceOperator,
    "split_source": sources.SplitSourceOperator,
    "hybrid_source": HybridSourceOperator,
    # one record at a time
    "map": stateless.MapOperator,
    "filter": stateless.FilterOperator,
    "flat_map": stateless.FlatMapOperator,
    "co_map": stateless.CoMapOperator,
    "co_flat_map": stateless.CoFlatMapOperator,
    "pass": stateless.PassOperator,
    "calc": CalcOperator,
    "async": AsyncOperator,
    # keyed
    "keyed_map": keyed.KeyedMapOperator,
    "keyed_filter": keyed.KeyedFilterOperator,
    "keyed_flat_map": keyed.KeyedFlatMapOperator,
    "keyed_co_map": keyed.KeyedCoMapOperator,
    "keyed_co_flat_map": keyed.KeyedCoFlatMapOperator,
    "reduce": keyed.ReduceOperator,
    "key_and_value": keyed.KeyAndValueOperator,
    # process functions
    "process": process.ProcessOperator,
    "co_process": process.CoProcessOperator,
    "keyed_process": process.KeyedProcessOperator,
    "keyed_co_process": process.KeyedCoProcessOperator,
    "broadcast": broadcast.BroadcastOperator,
    "keyed_broadcast": broadcast.KeyedBroadcastOperator,
    # time
    "timestamps": watermarks.TimestampsAndWatermarksOperator,
    # windows
    "window": WindowOperator,
    "window_of_two": WindowOfTwoOperator,
    "interval_join": IntervalJoinOperator,
    # patterns
    "cep": CepOperator,
    # sinks
    "sink": sinks.SinkOperator,
    "sink_function": sinks.SinkFunctionOperator,
}

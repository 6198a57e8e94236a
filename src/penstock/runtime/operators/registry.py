"""Every operator of the runtime by the kind that graph nodes name."""

from __future__ import annotations

from penstock.runtime.operators import broadcast, keyed, process, sinks, sources, stateless, watermarks
from penstock.runtime.operators.async_io import AsyncOperator
from penstock.runtime.operators.base import Operator
from penstock.runtime.operators.calc import CalcOperator
from penstock.runtime.operators.cep import CepOperator
from penstock.runtime.operators.hybrid_source import HybridSourceOperator
from penstock.runtime.operators.interval_join import IntervalJoinOperator
from penstock.runtime.table.async_lookup import AsyncLookupJoinOperator
from penstock.runtime.table.calc import TableCalcOperator
from penstock.runtime.table.correlate import CorrelateOperator
from penstock.runtime.table.expand import ExpandOperator, ReplicationOperator
from penstock.runtime.table.group_aggregate import GroupAggregateOperator
from penstock.runtime.table.interval_join import TableIntervalJoinOperator
from penstock.runtime.table.join import JoinOperator
from penstock.runtime.table.last_row import EarliestRowOperator, FirstRowOperator, LastRowOperator
from penstock.runtime.table.lookup_join import LookupJoinOperator
from penstock.runtime.table.match_recognize import MatchRecognizeOperator
from penstock.runtime.table.materialize import DropBeforeOperator, SinkMaterializeOperator
from penstock.runtime.table.not_null import NotNullOperator
from penstock.runtime.table.over import OverOperator
from penstock.runtime.table.rank import RankOperator
from penstock.runtime.table.session_aggregate import SessionAggregateOperator
from penstock.runtime.table.streams import StreamToTableOperator, TableToStreamOperator
from penstock.runtime.table.table_aggregate import TableAggregateOperator
from penstock.runtime.table.temporal_join import TemporalJoinOperator
from penstock.runtime.table.temporal_sort import TemporalSortOperator
from penstock.runtime.table.watermarks import TableWatermarkOperator
from penstock.runtime.table.window_aggregate import WindowAggregateOperator
from penstock.runtime.table.window_assignment import WindowAssignmentOperator
from penstock.runtime.table.window_join import WindowJoinOperator
from penstock.runtime.table.window_rank import WindowRankOperator
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
    # tables
    "table_calc": TableCalcOperator,
    "table_watermarks": TableWatermarkOperator,
    "table_not_null": NotNullOperator,
    "stream_to_table": StreamToTableOperator,
    "table_to_stream": TableToStreamOperator,
    "table_join": JoinOperator,
    "table_group_aggregate": GroupAggregateOperator,
    "table_flat_aggregate": TableAggregateOperator,
    "table_expand": ExpandOperator,
    "table_correlate": CorrelateOperator,
    "table_replication": ReplicationOperator,
    "table_window_assignment": WindowAssignmentOperator,
    "table_window_aggregate": WindowAggregateOperator,
    "table_session_aggregate": SessionAggregateOperator,
    "table_interval_join": TableIntervalJoinOperator,
    "table_temporal_join": TemporalJoinOperator,
    "table_lookup_join": LookupJoinOperator,
    "table_async_lookup_join": AsyncLookupJoinOperator,
    "table_window_join": WindowJoinOperator,
    "table_window_rank": WindowRankOperator,
    "table_match": MatchRecognizeOperator,
    "table_over": OverOperator,
    "table_temporal_sort": TemporalSortOperator,
    "table_rank": RankOperator,
    "table_first_row": FirstRowOperator,
    "table_last_row": LastRowOperator,
    "table_earliest_row": EarliestRowOperator,
    "table_materialize": SinkMaterializeOperator,
    "table_drop_before": DropBeforeOperator,
    # sinks
    "sink": sinks.SinkOperator,
    "sink_function": sinks.SinkFunctionOperator,
}

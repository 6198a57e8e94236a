"""Every operator of the runtime by the kind that graph nodes name."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping

from penstock.runtime.operators.base import Operator

# Modules below penstock.runtime, loaded when a program needs them: together they take longer than a small job.
_PLACES = {
    "source": "operators.sources:SourceOperator",
    "split_source": "operators.sources:SplitSourceOperator",
    "hybrid_source": "operators.hybrid_source:HybridSourceOperator",
    # one record at a time
    "map": "operators.stateless:MapOperator",
    "filter": "operators.stateless:FilterOperator",
    "flat_map": "operators.stateless:FlatMapOperator",
    "co_map": "operators.stateless:CoMapOperator",
    "co_flat_map": "operators.stateless:CoFlatMapOperator",
    "pass": "operators.stateless:PassOperator",
    "calc": "operators.calc:CalcOperator",
    "async": "operators.async_io:AsyncOperator",
    # keyed
    "keyed_map": "operators.keyed:KeyedMapOperator",
    "keyed_filter": "operators.keyed:KeyedFilterOperator",
    "keyed_flat_map": "operators.keyed:KeyedFlatMapOperator",
    "keyed_co_map": "operators.keyed:KeyedCoMapOperator",
    "keyed_co_flat_map": "operators.keyed:KeyedCoFlatMapOperator",
    "reduce": "operators.keyed:ReduceOperator",
    "key_and_value": "operators.keyed:KeyAndValueOperator",
    # process functions
    "process": "operators.process:ProcessOperator",
    "co_process": "operators.process:CoProcessOperator",
    "keyed_process": "operators.process:KeyedProcessOperator",
    "keyed_co_process": "operators.process:KeyedCoProcessOperator",
    "broadcast": "operators.broadcast:BroadcastOperator",
    "keyed_broadcast": "operators.broadcast:KeyedBroadcastOperator",
    # time
    "timestamps": "operators.watermarks:TimestampsAndWatermarksOperator",
    # windows
    "window": "windows.operator:WindowOperator",
    "window_of_two": "windows.two_inputs:WindowOfTwoOperator",
    "interval_join": "operators.interval_join:IntervalJoinOperator",
    # patterns
    "cep": "operators.cep:CepOperator",
    # tables
    "table_calc": "table.calc:TableCalcOperator",
    "table_watermarks": "table.watermarks:TableWatermarkOperator",
    "table_not_null": "table.not_null:NotNullOperator",
    "stream_to_table": "table.streams:StreamToTableOperator",
    "table_to_stream": "table.streams:TableToStreamOperator",
    "table_join": "table.join:JoinOperator",
    "table_group_aggregate": "table.group_aggregate:GroupAggregateOperator",
    "table_flat_aggregate": "table.table_aggregate:TableAggregateOperator",
    "table_expand": "table.expand:ExpandOperator",
    "table_correlate": "table.correlate:CorrelateOperator",
    "table_replication": "table.expand:ReplicationOperator",
    "table_session_assignment": "table.session_assignment:SessionAssignmentOperator",
    "table_window_assignment": "table.window_assignment:WindowAssignmentOperator",
    "table_window_aggregate": "table.window_aggregate:WindowAggregateOperator",
    "table_row_window": "table.row_window:RowWindowOperator",
    "table_session_aggregate": "table.session_aggregate:SessionAggregateOperator",
    "table_interval_join": "table.interval_join:TableIntervalJoinOperator",
    "table_temporal_join": "table.temporal_join:TemporalJoinOperator",
    "table_lookup_join": "table.lookup_join:LookupJoinOperator",
    "table_window_join": "table.window_join:WindowJoinOperator",
    "table_window_rank": "table.window_rank:WindowRankOperator",
    "table_match": "table.match_recognize:MatchRecognizeOperator",
    "table_batch_over": "table.batch_over:BatchOverOperator",
    "table_over": "table.over:OverOperator",
    "table_sorted_over": "table.sorted_over:SortedOverOperator",
    "table_temporal_sort": "table.temporal_sort:TemporalSortOperator",
    "table_rank": "table.rank:RankOperator",
    "table_first_row": "table.last_row:FirstRowOperator",
    "table_last_row": "table.last_row:LastRowOperator",
    "table_earliest_row": "table.last_row:EarliestRowOperator",
    "table_materialize": "table.materialize:SinkMaterializeOperator",
    "table_conflicts": "table.conflicts:ConflictOperator",
    "table_to_changelog": "table.changelog_columns:ToChangelogOperator",
    "table_from_changelog": "table.changelog_columns:FromChangelogOperator",
    "table_drop_before": "table.materialize:DropBeforeOperator",
    "table_async_lookup_join": "table.async_lookup:AsyncLookupJoinOperator",
    # sinks
    "sink": "operators.sinks:SinkOperator",
    "sink_function": "operators.sinks:SinkFunctionOperator",
}


class _Operators(Mapping[str, type[Operator]]):
    def __getitem__(self, kind: str) -> type[Operator]:
        module, _, name = _PLACES[kind].partition(":")
        operator: type[Operator] = getattr(importlib.import_module(f"penstock.runtime.{module}"), name)
        return operator

    def __iter__(self) -> Iterator[str]:
        return iter(_PLACES)

    def __len__(self) -> int:
        return len(_PLACES)


OPERATORS = _Operators()

"""Top-N, LIMIT, deduplication, and the operators that the changelog pass puts between others."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.columns.typed.nodes import SortKey, TimeAttribute
from penstock.runtime.table.conflicts import ConflictParams
from penstock.runtime.table.last_row import Keep, KeepParams
from penstock.runtime.table.materialize import MaterializeParams
from penstock.runtime.table.rank import RankParams, Strategy
from penstock.table.logical import builder
from penstock.table.logical import nodes as plan
from penstock.table.logical.changelog import INSERTS
from penstock.table.logical.rank_strategy import strategy_of
from penstock.table.logical.window_columns import has_window, window_columns
from penstock.table.physical.aggregates import time_to_live
from penstock.table.physical.table_stream import TableStream
from penstock.table.physical.windows import window_rank

if TYPE_CHECKING:
    from penstock.table.physical.planner import Planner


def rank(relation: plan.Rank, planner: Planner) -> TableStream:
    if has_window(window_columns(relation.source), relation.partition_by):
        return window_rank(
            relation,
            relation.partition_by,
            relation.order_by,
            (relation.start, relation.end),
            relation.numbered,
            planner,
        )
    source = planner.plan(relation.source)
    strategy, row_key = strategy_of(relation)
    if not source.updating:
        strategy, row_key = Strategy.APPEND.value, ()
    params = RankParams(
        source.row_type,
        relation.order_by,
        Strategy(strategy),
        relation.start,
        relation.end,
        relation.numbered,
        before=planner.wants_before(relation),
        row_key=row_key,
        one_is_update=not relation.limit,
        ttl=time_to_live(planner),
        only_final=planner.batch,
    )
    stream = planner.operator(
        relation,
        "table_rank",
        [source],
        {"rank": params},
        keys=[relation.partition_by],
        name=_rank_name(relation),
    )
    return replace(stream, kinds=INSERTS) if planner.batch else stream


def _rank_name(relation: plan.Rank) -> str:
    if not relation.limit:
        return "Rank"
    return "SortLimit" if relation.order_by else "Limit"


def deduplicate(relation: plan.Deduplicate, planner: Planner) -> TableStream:
    if has_window(window_columns(relation.source), relation.keys):
        time = builder.references(relation.source)[relation.time_column]
        order = SortKey(time, not relation.last, True)
        return window_rank(relation, relation.keys, (order,), (1, 1), False, planner)
    source = planner.plan(relation.source)
    rowtime = relation.source.fields[relation.time_column].time is TimeAttribute.ROWTIME
    keep = {
        (True, True): Keep.LATEST,
        (True, False): Keep.EARLIEST,
        (False, True): Keep.LAST,
        (False, False): Keep.FIRST,
    }[rowtime, relation.last]
    params = KeepParams(
        source.row_type, keep, relation.time_column, planner.wants_before(relation), time_to_live(planner)
    )
    return planner.operator(
        relation, _KINDS[keep], [source], {"keep": params}, keys=[relation.keys], name="Deduplicate"
    )


_KINDS = {
    Keep.FIRST: "table_first_row",
    Keep.EARLIEST: "table_earliest_row",
    Keep.LAST: "table_last_row",
    Keep.LATEST: "table_last_row",
    Keep.UPSERT: "table_last_row",
}


def normalize(relation: plan.ChangelogNormalize, planner: Planner) -> TableStream:
    source = planner.plan(relation.source)
    params = KeepParams(source.row_type, Keep.UPSERT, None, planner.wants_before(relation), time_to_live(planner))
    return planner.operator(
        relation, "table_last_row", [source], {"keep": params}, keys=[relation.keys], name="ChangelogNormalize"
    )


def drop_update_before(relation: plan.DropUpdateBefore, planner: Planner) -> TableStream:
    source = planner.plan(relation.source)
    return planner.operator(
        relation, "table_drop_before", [source], {"row_type": source.row_type}, name="DropUpdateBefore"
    )


def materialize(relation: plan.SinkMaterialize, planner: Planner) -> TableStream:
    source = planner.plan(relation.source)
    if relation.conflict == "DEDUPLICATE":
        params = {"materialize": MaterializeParams(source.row_type, time_to_live(planner))}
        return planner.operator(
            relation, "table_materialize", [source], params, keys=[relation.keys], name="SinkMaterializer"
        )
    identity = min(source.upsert_keys, key=lambda key: (len(key), sorted(key)), default=None)
    conflicts = ConflictParams(
        source.row_type,
        relation.keys,
        None if identity is None else tuple(sorted(identity)),
        relation.conflict == "ERROR",
    )
    return planner.operator(
        relation, "table_conflicts", [source], {"conflicts": conflicts}, keys=[relation.keys], name="SinkMaterializer"
    )

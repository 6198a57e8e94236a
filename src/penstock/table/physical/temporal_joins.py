"""Joins with versions of rows: those in state, and those of a table outside."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.common.errors import NotSupportedError
from penstock.common.time import Time
from penstock.functions.async_io import AsyncFunctionDescriptor
from penstock.runtime.table.async_lookup import AsyncLookup
from penstock.runtime.table.interval_join import TimedSide
from penstock.runtime.table.lookup_cache import CacheSettings
from penstock.runtime.table.lookup_join import LookupJoinParams
from penstock.runtime.table.temporal_join import TemporalJoinParams
from penstock.runtime.table.whole_table import Reloads
from penstock.table.logical import nodes as plan
from penstock.table.logical.join_keys import join_keys
from penstock.table.logical.lookup_keys import lookup_keys
from penstock.table.physical.lookup_hints import LookupHint
from penstock.table.physical.table_stream import TableStream
from penstock.table.sql.errors import SqlValidationError

if TYPE_CHECKING:
    from penstock.table.physical.planner import Planner


def temporal_join(relation: plan.TemporalJoin, planner: Planner) -> TableStream:
    """The version of a row that is valid at the time of the left row, or the last one."""
    joined = plan.JoinRelation(relation.fields, relation.left, relation.right, relation.kind, relation.condition)
    keys = join_keys(joined)
    missing = [relation.right.names[place] for place in relation.key if place not in keys.right]
    if missing or any(keys.nulls_match):
        raise SqlValidationError(
            "A temporal join compares the whole key of the versioned table by =, but there is no such condition for"
            f" {', '.join(missing) or 'it'}.",
            relation.position,
        )
    left, right = planner.plan(relation.left), planner.plan(relation.right)
    params = TemporalJoinParams(
        relation.kind,
        TimedSide(left.row_type, keys.left, relation.time_column),
        TimedSide(right.row_type, keys.right, relation.version_time or 0),
        keys.rest,
        relation.event_time,
        planner.session,
    )
    return planner.operator(
        relation,
        "table_temporal_join",
        [left, right],
        {"join": params},
        keys=[keys.left, keys.right],
        name="TemporalJoin",
    )


def lookup_join(relation: plan.LookupJoin, planner: Planner) -> TableStream:
    """Rows of a table outside, as they are when the left row comes."""
    keys, scan = lookup_keys(relation), relation.table
    how = LookupHint.of(relation.hint, planner)
    stream = planner.plan(relation.left)
    table = scan.definition.handle.lookup(scan, [scan.names[place] for place in keys.right], planner)
    params = LookupJoinParams(
        relation.kind,
        stream.row_type,
        keys.left,
        table.row_type,
        table.function,
        keys.rest,
        table.cache,
        how.retries,
        table.computed,
        planner.session,
    )
    if isinstance(table.cache, Reloads) and (how.asynchronous or how.retries):
        raise NotSupportedError(
            f"'lookup.cache' = 'FULL' of {'.'.join(scan.path)} has all rows: leave 'async' and 'retry-predicate' out of"
            " LOOKUP."
        )
    shuffled = [keys.left] if how.shuffle and not stream.updating else None
    if not how.asynchronous:
        return planner.operator(
            relation, "table_lookup_join", [stream], {"join": params}, keys=shuffled, name="LookupJoin"
        )
    modes = AsyncFunctionDescriptor.OutputMode
    descriptor = AsyncFunctionDescriptor(
        AsyncLookup(table.function, keys.left, table.cache if isinstance(table.cache, CacheSettings) else None),
        Time.milliseconds(how.timeout_ms),
        how.capacity,
        how.strategy(),
        # Changes of one row must not overtake each other.
        modes.UNORDERED if how.unordered and not stream.updating else modes.ORDERED,
    )
    return planner.operator(
        relation,
        "table_async_lookup_join",
        [stream],
        {"join": params},
        keys=shuffled,
        function=descriptor,
        name="AsyncLookupJoin",
    )

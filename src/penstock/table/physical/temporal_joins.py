"""Joins with versions of rows: those in state, and those of a table outside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.common.errors import NotSupportedError, ProgramError
from penstock.common.option_values import parse_boolean, parse_duration
from penstock.common.options import value_of
from penstock.common.time import Time
from penstock.functions.async_io import AsyncFunctionDescriptor, AsyncRetryStrategy
from penstock.runtime.table.async_lookup import AsyncLookup, nothing_found
from penstock.runtime.table.interval_join import TimedSide
from penstock.runtime.table.lookup_join import LookupJoinParams, Retries
from penstock.runtime.table.temporal_join import TemporalJoinParams
from penstock.table.logical import nodes as plan
from penstock.table.logical.join_keys import join_keys
from penstock.table.logical.lookup_keys import lookup_keys
from penstock.table.physical.table_stream import TableStream
from penstock.table.sql.errors import SqlValidationError, suggestion
from penstock.table.syntax.queries import Hint

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
    shuffled = [keys.left] if how.shuffle and not stream.updating else None
    if not how.asynchronous:
        return planner.operator(
            relation, "table_lookup_join", [stream], {"join": params}, keys=shuffled, name="LookupJoin"
        )
    modes = AsyncFunctionDescriptor.OutputMode
    descriptor = AsyncFunctionDescriptor(
        AsyncLookup(table.function, keys.left, table.cache),
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


@dataclass(frozen=True)
class LookupHint:
    """What LOOKUP(..) and the options of the session say about a lookup join."""

    asynchronous: bool
    unordered: bool
    capacity: int
    timeout_ms: int
    retries: Retries | None
    shuffle: bool

    @staticmethod
    def of(hint: Hint | None, planner: Planner) -> LookupHint:
        given = dict(hint.pairs) if hint is not None else {}
        known = (
            "table", "async", "output-mode", "capacity", "timeout", "retry-predicate", "retry-strategy",
            "fixed-delay", "max-attempts", "shuffle",
        )  # fmt: skip
        for key in given:
            if key not in known:
                raise ProgramError(f"The hint LOOKUP has no option '{key}'.{suggestion(key, known)}")
        mode = given.get("output-mode") or str(value_of(planner.options, "table.exec.async-lookup.output-mode"))
        if mode.upper() not in ("ORDERED", "ALLOW_UNORDERED"):
            raise ProgramError(f"'output-mode' of LOOKUP is ordered or allow_unordered, not '{mode}'.")
        try:
            return LookupHint(
                parse_boolean(given.get("async", "false")),
                mode.upper() == "ALLOW_UNORDERED",
                int(given.get("capacity") or value_of(planner.options, "table.exec.async-lookup.buffer-capacity")),
                parse_duration(given["timeout"])
                if "timeout" in given
                else int(value_of(planner.options, "table.exec.async-lookup.timeout")),
                _retries(given),
                parse_boolean(given.get("shuffle", "false")),
            )
        except ValueError as error:
            raise ProgramError(f"The hint LOOKUP: {error}") from None

    def strategy(self) -> AsyncRetryStrategy:  # type: ignore[type-arg]
        if self.retries is None:
            return AsyncRetryStrategy.no_restart()
        return AsyncRetryStrategy.fixed_delay(self.retries.attempts, self.retries.delay_ms, nothing_found, None)


def _retries(given: dict[str, str]) -> Retries | None:
    parts = [given.get(key) for key in ("retry-predicate", "retry-strategy", "fixed-delay", "max-attempts")]
    if not any(parts):
        return None
    predicate, strategy, delay, attempts = parts
    if predicate is None or strategy is None or delay is None or attempts is None:
        raise ProgramError(
            "LOOKUP retries need all of 'retry-predicate' = 'lookup_miss', 'retry-strategy' = 'fixed_delay',"
            " 'fixed-delay' and 'max-attempts'."
        )
    if predicate != "lookup_miss" or strategy != "fixed_delay":
        raise NotSupportedError("LOOKUP retries on 'lookup_miss' with 'fixed_delay' only.")
    return Retries(int(attempts), parse_duration(delay))

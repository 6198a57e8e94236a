"""What a plan keeps in state, and what its author may want to change: EXPLAIN ESTIMATED_COST and PLAN_ADVICE."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from penstock.columns.typesystem.arrow_mapping import to_arrow_type
from penstock.table.logical import nodes as plan
from penstock.table.logical.changelog import INSERTS, kinds
from penstock.table.logical.join_keys import join_keys
from penstock.table.logical.time_bounds import is_interval_join
from penstock.table.logical.window_columns import has_window, is_window_join, window_columns

_TEXT_BYTES = 24  # a guess: nobody knows the values


def state_text(node: plan.Relation) -> str:
    """`state=[one entry for each k, about 24 bytes]`; nothing for a node that keeps nothing."""
    found = _kept(node)
    return f"state=[{found}]" if found else ""


def _kept(node: plan.Relation) -> str | None:
    match node:
        case plan.Aggregation() if has_window(window_columns(node.source), node.keys):
            return f"one entry for each group of every open window, about {_bytes(node)} bytes"
        case plan.Aggregation():
            return f"one entry for each {_names(node.source, node.keys) or 'table'}, about {_bytes(node)} bytes"
        case plan.RowWindowAggregation():
            return f"one entry for each open window of {_names(node.source, node.keys) or 'the table'}"
        case plan.TableAggregation():
            return f"an accumulator for each {_names(node.source, node.keys) or 'table'}"
        case plan.JoinRelation() if is_interval_join(node):
            return f"rows of both sides while others may be near them, {_sides(node)}"
        case plan.JoinRelation() if is_window_join(node):
            return f"rows of both sides in open windows, {_sides(node)}"
        case plan.JoinRelation():
            return f"all rows of both sides, {_sides(node)}"
        case plan.TemporalJoin():
            waiting = "rows of the left until the watermark, " if node.event_time else ""
            return f"{waiting}versions of the right that may be asked for, {_sides(node)}"
        case plan.Rank():
            some = f"the first {node.end} rows" if kinds(node.source) == INSERTS else "all rows"
            return (
                f"{some} of each {_names(node.source, node.partition_by) or 'table'}, about {_bytes(node)} bytes each"
            )
        case plan.Deduplicate() | plan.ChangelogNormalize():
            return f"one row for each {_names(node.source, node.keys)}, about {_bytes(node)} bytes"
        case plan.SinkMaterialize():
            return f"all rows of each {_names(node.source, node.keys)}, about {_bytes(node)} bytes each"
        case plan.OverAggregation():
            return f"rows that later windows reach, about {_bytes(node.source)} bytes each"
        case plan.Match():
            return "rows of patterns that have begun"
        case plan.Sort():
            return f"rows until the watermark, about {_bytes(node)} bytes each"
    return None


def _names(source: plan.Relation, places: tuple[int, ...]) -> str:
    return ", ".join(source.names[place] for place in places)


def _sides(node: plan.JoinRelation | plan.TemporalJoin) -> str:
    return f"about {_bytes(node.left)} and {_bytes(node.right)} bytes each"


def _bytes(node: plan.Relation) -> int:
    return sum(_width(to_arrow_type(field.data_type)) for field in node.fields)


def _width(kind: pa.DataType) -> int:
    try:
        return max(1, int(kind.bit_width) // 8)
    except ValueError:
        return _TEXT_BYTES


def advice(root: plan.Relation, ttl: bool, mini_batch: bool) -> list[str]:
    """Sentences, each about one node, in the order of the plan."""
    return [sentence for node in _all(root) for sentence in _advice(node, ttl, mini_batch)]


def _all(node: plan.Relation) -> Iterator[plan.Relation]:
    yield node
    for source in node.inputs():
        yield from _all(source)


def _advice(node: plan.Relation, ttl: bool, mini_batch: bool) -> Iterator[str]:
    if isinstance(node, plan.JoinRelation) and not is_interval_join(node) and not is_window_join(node):
        if not join_keys(node).left:
            yield "A join without an equality runs in one subtask: compare a column of each side by =."
        if not ttl and node.state_ttl == (None, None):
            yield (
                "A join keeps all rows of both sides for ever: set table.exec.state.ttl, hint STATE_TTL, or bound the"
                " times of both sides."
            )
    if isinstance(node, plan.Aggregation) and not has_window(window_columns(node.source), node.keys):
        if not mini_batch:
            yield (
                "A group tells every single change: table.exec.mini-batch.enabled, .allow-latency and .size tell many"
                " at once."
            )
        if not ttl and node.state_ttl is None and node.keys:
            yield "Groups are kept for ever: set table.exec.state.ttl or hint STATE_TTL if old ones do not matter."
    if isinstance(node, plan.SinkMaterialize):
        yield (
            "No key of the query is the primary key of the sink, which therefore keeps all rows: give it the columns"
            " by which the query tells rows apart."
        )

"""How a Top-N keeps up with its input: rows only come, or become better under their key, or may be taken back."""

from __future__ import annotations

from penstock.columns.typed.nodes import InputRef, SortKey
from penstock.table.logical import nodes as plan
from penstock.table.logical.changelog import INSERTS, kinds
from penstock.table.logical.upsert_keys import upsert_keys

APPEND, UPDATE, RETRACT = "AppendFastStrategy", "UpdateFastStrategy", "RetractStrategy"


def strategy_of(node: plan.Rank) -> tuple[str, tuple[int, ...]]:
    """The strategy, and for updates the columns that identify a row."""
    given = kinds(node.source)
    if given == INSERTS:
        return APPEND, ()
    keys = [key for key in upsert_keys(node.source) if key and key >= frozenset(node.partition_by)]
    if keys and "D" not in given and node.order_by and all(_improves(node.source, key) for key in node.order_by):
        return UPDATE, tuple(sorted(min(keys, key=sorted)))
    return RETRACT, ()


def _improves(source: plan.Relation, key: SortKey) -> bool:
    """Whether updates of a row only move it forward in this order."""
    if not isinstance(key.operand, InputRef):
        return False
    direction = direction_of(source, key.operand.index)
    return direction == 0 or (direction == 1 and not key.ascending) or (direction == -1 and key.ascending)


def direction_of(node: plan.Relation, column: int) -> int | None:
    """1: updates only raise the column, -1: they only lower it, 0: they leave it; None: anything."""
    match node:
        case plan.Project():
            one = node.expressions[column]
            return direction_of(node.source, one.index) if isinstance(one, InputRef) else None
        case plan.Filter():
            return direction_of(node.source, column)
        case plan.Aggregation() if kinds(node.source) == INSERTS:
            if column < len(node.keys):
                return 0
            function = node.calls[column - len(node.keys)].function
            return {"count": 1, "max": 1, "min": -1}.get(function)
    return 0 if kinds(node) == INSERTS else None

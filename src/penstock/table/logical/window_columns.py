"""Which columns of a relation tell the window that a row belongs to."""

from __future__ import annotations

from penstock.columns.typed.nodes import InputRef, Invoke
from penstock.table.logical import nodes as plan
from penstock.table.logical.conditions import conjuncts

WindowColumns = dict[int, str]  # column -> start, end or time


def window_columns(node: plan.Relation) -> WindowColumns:
    """Columns that hold bounds of windows which nobody has changed on the way; empty without windows."""
    match node:
        case plan.WindowAssignment():
            first = len(node.source.fields)
            return {first: "start", first + 1: "end", first + 2: "time"}
        case plan.Project():
            below = window_columns(node.source)
            return {
                place: below[one.index]
                for place, one in enumerate(node.expressions)
                if isinstance(one, InputRef) and one.index in below
            }
        case plan.Filter() | plan.OverAggregation() | plan.Sort() | plan.Rank() | plan.Deduplicate():
            return window_columns(node.inputs()[0])
        case plan.Expand():  # its copies of keys that are in every grouping set
            below, first = window_columns(node.source), len(node.source.fields)
            whole = [place for place in range(len(node.keys)) if all(place in one for one in node.sets)]
            return {first + place: below[node.keys[place]] for place in whole if node.keys[place] in below}
        case plan.Aggregation() if has_window(window_columns(node.source), node.keys):
            below = window_columns(node.source)
            return {place: below[key] for place, key in enumerate(node.keys) if key in below}
        case plan.JoinRelation() if is_window_join(node):
            found = dict(window_columns(node.left))
            if node.kind not in ("SEMI", "ANTI"):
                width = len(node.left.fields)
                found |= {width + place: name for place, name in window_columns(node.right).items()}
            return found
    return {}


def has_window(columns: WindowColumns, keys: tuple[int, ...] | list[int]) -> bool:
    """Whether keys name the whole window."""
    return {"start", "end"} <= {columns[key] for key in keys if key in columns}


def is_window_join(node: plan.JoinRelation) -> bool:
    """Whether both sides have windows, and the condition equates their starts and their ends."""
    left, right = window_columns(node.left), window_columns(node.right)
    if not left or not right:
        return False
    width = len(node.left.fields)
    equal = set()
    for one in conjuncts(node.condition):
        if isinstance(one, Invoke) and one.function == "equals":
            places = sorted(part.index for part in one.arguments if isinstance(part, InputRef))
            if len(places) == 2 and places[0] in left and left[places[0]] == right.get(places[1] - width):
                equal.add(left[places[0]])
    return {"start", "end"} <= equal

"""INTERSECT and EXCEPT by other relations: as joins of whole rows, and with ALL by counting them."""

from __future__ import annotations

from penstock.columns.typed.nodes import Aggregate, Constant, InputRef, Invoke, Typed, shifted
from penstock.columns.typesystem.scalars import BigIntType, BooleanType
from penstock.table.logical import builder
from penstock.table.logical import nodes as plan
from penstock.table.logical.conditions import all_of, call

_COUNT = BigIntType(False)


def joined_set_operation(node: plan.Relation) -> plan.Relation | None:
    """Rows of the left for which the right has an equal one, or none; each once."""
    if not isinstance(node, plan.SetRelation) or node.kind == "UNION" or node.keep_all:
        return None
    left, right = builder.references(node.left), builder.references(node.right)
    width = len(left)
    equal = [call("isNotDistinctFrom", one, shifted(other, width)) for one, other in zip(left, right, strict=True)]
    kind = "SEMI" if node.kind == "INTERSECT" else "ANTI"
    joined = builder.joined(node.left, node.right, kind, all_of(equal), node.position)
    return _as(node, builder.distinct(joined))


def counted_set_operation(node: plan.Relation) -> plan.Relation | None:
    """Each row as often as it is left over (EXCEPT ALL), or as it is on both sides (INTERSECT ALL)."""
    if not isinstance(node, plan.SetRelation) or node.kind == "UNION" or not node.keep_all:
        return None
    width = len(node.fields)
    marks = [_marked(side, place) for place, side in enumerate((node.left, node.right))]
    together = plan.SetRelation(marks[0].fields, "UNION", True, *marks)
    places = builder.references(together)[width:]
    sums = [Aggregate(_COUNT, "sum", (place,)) for place in places]
    counted = builder.aggregated(together, range(width), sums)
    columns = builder.references(counted)
    ours, theirs = columns[width:]
    zero = Constant(_COUNT, 0)
    if node.kind == "EXCEPT":
        times: Typed = Invoke(_COUNT, "minus", (ours, theirs))
    else:
        times = Invoke(_COUNT, "case", (_less(ours, theirs), ours, theirs))
    wanted = builder.project(counted, [*columns[:width], times], [*node.names, "$times"])
    repeated = builder.references(wanted)[width]
    kept = builder.filtered(wanted, _less(zero, repeated), node.position)
    return plan.Replication(node.fields, kept, position=node.position)


def _less(one: Typed, other: Typed) -> Typed:
    return Invoke(BooleanType(False), "lessThan", (one, other))


def _marked(side: plan.Relation, place: int) -> plan.Relation:
    """The rows of a side with a one in its column of counts."""
    marks = [Constant(_COUNT, int(place == number)) for number in range(2)]
    return builder.project(side, [*builder.references(side), *marks], [*side.names, "$left", "$right"])


def _as(node: plan.Relation, found: plan.Relation) -> plan.Relation:
    """With the names and types of the set operation."""
    columns = builder.references(found)
    assert all(isinstance(one, InputRef) for one in columns)
    return plan.Project(node.fields, found, tuple(columns), position=node.position)

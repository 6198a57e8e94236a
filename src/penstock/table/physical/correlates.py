"""Lateral rows: those that a table function or UNNEST makes of each row of the left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.columns.typed.nodes import Constant, InputRef, OuterRef, Typed, shifted
from penstock.columns.typesystem.scalars import IntType
from penstock.common.errors import NotSupportedError
from penstock.runtime.table.calc import CalcParams, Compute, Keep, Step
from penstock.runtime.table.correlate import CorrelateParams
from penstock.table.logical import nodes as plan
from penstock.table.logical.conditions import replaced
from penstock.table.logical.explain import line_of
from penstock.table.physical.table_stream import TableStream

if TYPE_CHECKING:
    from penstock.table.physical.planner import Planner


def correlation(relation: plan.Correlation, planner: Planner) -> TableStream:
    """Renamings of the right become a projection after it."""
    right, expressions = _unwrapped(relation.right)
    if not isinstance(right, (plan.Unnest, plan.TableFunctionScan)):
        raise NotSupportedError(f"{line_of(relation)} cannot be run yet: only UNNEST and table functions are lateral.")
    outer = relation.kind == "LEFT"
    condition = None if _always(relation.condition) else relation.condition
    if condition is not None and outer:
        raise NotSupportedError("LEFT JOIN with a table function or UNNEST takes ON TRUE: filter in a subquery.")
    source = planner.plan(relation.left)
    arguments = right.operands if isinstance(right, plan.Unnest) else right.arguments
    width = len(relation.left.fields)
    params = CorrelateParams(
        source.row_type,
        tuple(_over_left(one) for one in arguments),
        right.function if isinstance(right, plan.TableFunctionScan) else None,
        tuple(field.data_type for field in right.fields),
        outer,
        isinstance(right, plan.Unnest) and right.ordinality,
        planner.session,
    )
    made = (*relation.fields[:width], *(_as_null(field, outer) for field in right.fields))
    stream = planner.operator(
        relation, "table_correlate", [source], {"correlate": params}, fields=made, name="Correlate"
    )
    if expressions is None and condition is None:
        return stream
    steps: list[Step] = []
    if expressions is not None:
        left = [InputRef(field.data_type, place, field.name) for place, field in enumerate(relation.fields[:width])]
        steps.append(Compute((*left, *(shifted(one, width) for one in expressions))))
    if condition is not None:
        steps.append(Keep(condition))
    calc = CalcParams(stream.row_type, tuple(steps), planner.session)
    return planner.operator(relation, "table_calc", [stream], {"calc": calc}, name="Calc")


def alone(relation: plan.Unnest | plan.TableFunctionScan, planner: Planner) -> TableStream:
    """Without a row on the left, as in `FROM UNNEST(ARRAY[1, 2])`: one that holds nothing stands there."""
    zero = Constant(IntType(False), 0)
    one = plan.Values((plan.Field("ZERO", zero.data_type),), ((zero,),))
    joined = plan.Correlation((*one.fields, *relation.fields), one, relation, "INNER")
    expressions = tuple(
        InputRef(field.data_type, place, field.name, field.time) for place, field in enumerate(relation.fields, 1)
    )
    return planner.plan(plan.Project(relation.fields, joined, expressions))


def _unwrapped(right: plan.Relation) -> tuple[plan.Relation, tuple[Typed, ...] | None]:
    if isinstance(right, plan.Project):
        return right.source, right.expressions
    return right, None


def _always(condition: Typed | None) -> bool:
    return condition is None or (isinstance(condition, Constant) and condition.value is True)


def _over_left(node: Typed) -> Typed:
    def inner(part: Typed) -> Typed | None:
        if isinstance(part, OuterRef):
            return InputRef(part.data_type, part.index, part.name, part.time)
        return None

    return replaced(node, inner)


def _as_null(field: plan.Field, outer: bool) -> plan.Field:
    return plan.Field(field.name, field.data_type.nullable()) if outer else field

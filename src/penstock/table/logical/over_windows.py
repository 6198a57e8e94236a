"""OVER: the window of rows that a function looks at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from penstock.columns.functions.function import Role
from penstock.columns.typed.nodes import Aggregate, Bound, Constant, OverCall
from penstock.columns.typesystem import families
from penstock.columns.typesystem.base import DataType
from penstock.columns.typesystem.intervals import DayTimeIntervalType
from penstock.common.errors import NotSupportedError
from penstock.table.logical.builder import NEVER_NULL
from penstock.table.resolution.calls import find_function, signature
from penstock.table.resolution.python_calls import python_aggregate, python_function
from penstock.table.resolution.resolver import Resolver
from penstock.table.sql.errors import SqlValidationError, suggestion
from penstock.table.syntax import expressions as syntax

_NEEDS_ORDER = frozenset({"row_number", "rank", "dense_rank", "ntile", "percent_rank", "cume_dist", "lag", "lead"})


def over_call(over: syntax.Over, resolver: Resolver, named: Mapping[str, syntax.WindowSpec]) -> OverCall:
    """A checked call over its window; names of the WINDOW clause are followed."""
    spec = _spec(over.window, named, over)
    call = over.call
    if not isinstance(call, syntax.Call):
        return _frame(spec, resolver, _python_aggregate(call, resolver))
    function = find_function(call.function, call.position)
    if function.role not in (Role.AGGREGATE, Role.OVER):
        raise SqlValidationError(
            f"{call.function} is no aggregate function, so that OVER cannot follow.", over.position
        )
    star = any(isinstance(argument, syntax.Star) for argument in call.arguments)
    arguments = () if star else tuple(resolver.resolve(argument) for argument in call.arguments)
    converted, result = signature(function, arguments, call.options, call.position, resolver.scope.sql)
    where = None if call.where is None else resolver.boolean(call.where, "FILTER")
    if function.name in _NEEDS_ORDER and not spec.order_by:
        raise SqlValidationError(f"{call.function} OVER needs ORDER BY.", over.position)
    inner = Aggregate(result, function.name, converted, call.distinct, where, (), call.options)
    found = _frame(spec, resolver, inner)
    if function.role is Role.AGGREGATE and function.name not in NEVER_NULL:
        sees_its_row = _at_least_current(found.lower, True) and _at_least_current(found.upper, False) and where is None
        if not (sees_its_row and resolver.scope.sql):
            nullable = result.nullable()
            return replace(found, data_type=nullable, call=replace(inner, data_type=nullable))
    return found


def _python_aggregate(call: syntax.InlineCall, resolver: Resolver) -> Aggregate:
    """Functions of whole Series: a frame is one."""
    function = python_function(call.function, call.position)
    if function.kind != "aggregate":
        raise SqlValidationError(
            f"{function.name} is no aggregate function, so that OVER cannot follow.", call.position
        )
    if not function.pandas:
        raise NotSupportedError(
            f"{function.name} takes row after row, and a window of OVER also loses rows: as in Flink only functions of"
            ' whole Series can be used with OVER. Declare it with udaf(.., func_type="pandas").'
        )
    if call.distinct or call.where is not None:
        raise NotSupportedError(
            f"{function.name} gets the rows of its OVER window as they are, without DISTINCT and FILTER:"
            " leave these rows out in a subquery, or in the function."
        )
    arguments = [resolver.resolve(argument) for argument in call.arguments]
    return python_aggregate(function, arguments, False, None, call.position)


def _frame(spec: syntax.WindowSpec, resolver: Resolver, inner: Aggregate) -> OverCall:
    order = tuple(resolver.sort_key(item) for item in spec.order_by)
    partition = tuple(resolver.resolve(one) for one in spec.partition_by)
    by_rows = spec.unit == "ROWS"
    near = None if by_rows or len(order) != 1 else order[0].operand.data_type
    lower = _bound(spec.lower, resolver, near) if spec.lower else Bound("unbounded")
    upper = _bound(spec.upper, resolver, near) if spec.upper else Bound("current")
    if not order and spec.unit is None:
        upper = Bound("unbounded", before=False)
    return OverCall(inner.data_type, inner, partition, order, by_rows, lower, upper)


def _at_least_current(bound: Bound, lower: bool) -> bool:
    """Whether the frame reaches the row itself from that side."""
    return bound.kind == "current" or bound.before == lower


def _spec(
    window: syntax.WindowSpec | str, named: Mapping[str, syntax.WindowSpec], over: syntax.Over
) -> syntax.WindowSpec:
    name = window if isinstance(window, str) else window.base
    if name is None:
        assert isinstance(window, syntax.WindowSpec)
        return window
    if name not in named:
        raise SqlValidationError(f"There is no window {name!r}.{suggestion(name, named)}", over.position)
    base = _spec(named[name], named, over)
    if isinstance(window, str):
        return base
    return syntax.WindowSpec(
        None,
        window.partition_by or base.partition_by,
        window.order_by or base.order_by,
        window.unit or base.unit,
        window.lower or base.lower,
        window.upper or base.upper,
    )


def _bound(bound: syntax.FrameBound, resolver: Resolver, near: DataType | None) -> Bound:
    """`near` is the type of the column whose distance RANGE measures; None for a number of rows."""
    if bound.offset is None:
        return Bound(bound.kind, bound.before)
    node = resolver.resolve(bound.offset)
    interval = isinstance(node.data_type, DayTimeIntervalType)
    temporal = near is not None and not families.is_number(near)
    if not isinstance(node, Constant) or interval != temporal:
        wanted = "an interval, as INTERVAL '1' HOUR" if temporal else "a whole number of rows"
        raise SqlValidationError(f"The bound of the window must be {wanted}.", bound.offset.position)
    return Bound(bound.kind, bound.before, node.value)

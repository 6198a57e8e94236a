"""Typed calls by name: argument checks, implied casts and the result's type come from the registry."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

from penstock.columns.functions.function import MISSING, Function, Role, SignatureError, Site
from penstock.columns.functions.registry import builtin, sql_names
from penstock.columns.typed.nodes import Constant, Convert, Invoke, Typed
from penstock.columns.typesystem import families
from penstock.columns.typesystem.base import DataType
from penstock.columns.typesystem.casting import cast_advice, explicitly_castable
from penstock.columns.typesystem.merging import common_type
from penstock.table.sql.errors import SqlValidationError, suggestion
from penstock.table.syntax.position import Position

_SIGNS = {
    "plus": "+", "minus": "-", "times": "*", "divide": "/", "mod": "%", "equals": "=", "notEquals": "<>",
    "lessThan": "<", "lessThanOrEqual": "<=", "greaterThan": ">", "greaterThanOrEqual": ">=", "concatenate": "||",
    "and": "AND", "or": "OR", "not": "NOT", "in": "IN", "at": "[..]", "array": "ARRAY", "map": "MAP",
    "minusPrefix": "-", "plusPrefix": "+", "similar": "SIMILAR TO", "ifThenElse": "IF",
}  # fmt: skip


def shown_name(function: Function) -> str:
    return _SIGNS.get(function.name) or (function.sql[0] if function.sql else function.name)


def find_function(name: str, position: Position | None = None) -> Function:
    found = builtin(name)
    if found is None:
        hint = suggestion(name, sql_names(), 0)
        raise SqlValidationError(f"There is no function {name}.{hint if 'mean' in hint else ''}", position)
    return found


def typed_call(
    function: Function,
    arguments: Sequence[Typed],
    options: tuple[tuple[str, Any], ...] = (),
    position: Position | None = None,
    sql: bool = True,
) -> Invoke:
    """A checked call; what the rules ask for is cast."""
    converted, result = signature(function, arguments, options, position, sql)
    return Invoke(result, function.name, converted, options)


def signature(
    function: Function,
    arguments: Sequence[Typed],
    options: tuple[tuple[str, Any], ...],
    position: Position | None,
    sql: bool,
) -> tuple[tuple[Typed, ...], DataType]:
    literals = tuple(node.value if isinstance(node, Constant) else MISSING for node in arguments)
    site = Site(tuple(node.data_type for node in arguments), literals, options, sql)
    try:
        wanted = function.arguments(site)
        result = function.result(Site(wanted, literals, options, sql))
    except SignatureError as error:
        given = ", ".join(data_type.as_summary_string() for data_type in site.types)
        raise SqlValidationError(f"{shown_name(function)} cannot be applied to ({given}): {error}", position) from None
    return tuple(implied(node, target) for node, target in zip(arguments, wanted, strict=True)), result


def implied(node: Typed, target: DataType) -> Typed:
    """The node as another type, without a cast when only nullability differs."""
    if node.data_type.same_but_nullability(target):
        return node
    if isinstance(node, Constant) and node.value is None:
        return Constant(target.nullable(), None)
    return Convert(target.with_nullability(node.data_type.is_nullable), node)


def conversion(node: Typed, target: DataType, safe: bool, position: Position | None) -> Typed:
    """CAST and TRY_CAST."""
    source = node.data_type
    if not explicitly_castable(source, target):
        raise SqlValidationError(
            f"CAST cannot convert {source.as_summary_string()} to {target.nullable().as_summary_string()}:"
            f" {cast_advice(source, target)}",
            position,
        )
    result = target.with_nullability(source.is_nullable or safe or families.is_null(source))
    if isinstance(node, Constant) and node.value is None:
        return Constant(result.nullable(), None)
    return Convert(result, node, safe)


def case_of(
    conditions: Sequence[Typed], values: Sequence[Typed], default: Typed | None, position: Position | None
) -> Typed:
    """CASE; without ELSE null."""
    outcomes = [*values, default] if default is not None else list(values)
    types = [_type_where(node, test) for node, test in zip_longest(outcomes, conditions)]
    target = common_type(types)
    if target is None:
        shown = ", ".join(node.data_type.as_summary_string() for node in outcomes)
        raise SqlValidationError(f"The branches of CASE have no common type: {shown}. CAST them to one.", position)
    if default is None:
        target = target.nullable()
    arguments: list[Typed] = []
    for condition, value in zip(conditions, values, strict=True):
        arguments += [condition, implied(value, target)]
    arguments.append(Constant(target.nullable(), None) if default is None else implied(default, target))
    return Invoke(target, "case", tuple(arguments))


def _type_where(value: Typed, condition: Typed | None) -> DataType:
    """WHEN x IS NOT NULL THEN x is not null."""
    kept = isinstance(condition, Invoke) and condition.function == "isNotNull" and condition.arguments == (value,)
    return value.data_type.not_null() if kept else value.data_type


def is_aggregate(function: Function) -> bool:
    return function.role in (Role.AGGREGATE, Role.OVER)

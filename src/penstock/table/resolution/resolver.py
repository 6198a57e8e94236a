"""From written expressions to typed ones: names are looked up in a scope, calls in the registry."""

from __future__ import annotations

from typing import Any, Protocol

from penstock.columns.functions.function import Role
from penstock.columns.functions.mathematics import MILLISECONDS, MONTHS
from penstock.columns.typed.nodes import (
    Aggregate,
    Constant,
    Convert,
    InputRef,
    Invoke,
    SortKey,
    TimeAttribute,
    Typed,
    walk,
)
from penstock.columns.typesystem import families, scalars
from penstock.columns.typesystem.base import DataType
from penstock.columns.typesystem.intervals import YearMonthIntervalType
from penstock.columns.typesystem.nested import RowType
from penstock.table.resolution.calls import (
    case_of,
    conversion,
    find_function,
    implied,
    is_aggregate,
    shown_name,
    signature,
    typed_call,
)
from penstock.table.resolution.python_calls import python_aggregate, python_call, python_function
from penstock.table.sql.errors import SqlValidationError, suggestion
from penstock.table.syntax import expressions as syntax
from penstock.table.syntax.position import Position

_JSON_CALLS = frozenset({"JSON_OBJECT", "JSON_ARRAY", "JSON"})


class Scope(Protocol):
    """What an expression may refer to."""

    @property
    def sql(self) -> bool: ...

    def column(self, parts: tuple[str, ...], position: Position | None) -> tuple[Typed, tuple[str, ...]]:
        """The column, and the parts of the name after it, which are fields of rows."""
        ...

    def aggregate(self, call: Aggregate, position: Position | None) -> Typed: ...

    def over(self, call: syntax.Over, resolver: Resolver) -> Typed: ...

    def subquery(self, expression: syntax.Expr, resolver: Resolver) -> Typed: ...

    def special(self, call: syntax.Call, resolver: Resolver) -> Typed | None:
        """A call that the place gives a meaning of its own, as TUMBLE_START in a grouped query."""
        ...


class Resolver:
    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    def resolve(self, expression: syntax.Expr) -> Typed:
        match expression:
            case syntax.Literal(value, data_type):
                return Constant(value_type(data_type), value)
            case syntax.Name(parts):
                return self._name(parts, expression.position)
            case syntax.Call():
                return self._call(expression)
            case syntax.CastTo(operand, data_type, safe):
                return self._cast(self.resolve(operand), data_type, safe, expression.position)
            case syntax.Case():
                return self._case(expression)
            case syntax.FieldOf(operand, name):
                return field_of(self.resolve(operand), name, expression.position)
            case syntax.Aliased(operand, _):
                return self.resolve(operand)
            case syntax.Over():
                return self.scope.over(expression, self)
            case (
                syntax.ScalarQuery()
                | syntax.InQuery()
                | syntax.InTable()
                | syntax.ExistsQuery()
                | syntax.QuantifiedQuery()
            ):
                return self.scope.subquery(expression, self)
            case syntax.Star():
                raise SqlValidationError("* can stand only in SELECT and COUNT(*).", expression.position)
            case syntax.InlineCall():
                return self._python(expression)
        raise SqlValidationError(f"{type(expression).__name__} cannot stand here.", expression.position)

    def _cast(self, operand: Typed, data_type: DataType, safe: bool, position: Position | None) -> Typed:
        """A number as an interval counts the interval's unit: CAST(5 AS INTERVAL HOUR) is five hours."""
        if families.is_interval(data_type) and families.is_integer(operand.data_type):
            unit = Constant(value_type(data_type).not_null(), _unit_amount(data_type, position))
            return self.checked("times", [operand, unit], position)
        return conversion(operand, value_type(data_type), safe, position)

    def boolean(self, expression: syntax.Expr, clause: str) -> Typed:
        found = self.resolve(expression)
        if families.is_null(found.data_type):
            return implied(found, scalars.BooleanType())
        if not families.is_boolean(found.data_type):
            raise SqlValidationError(
                f"{clause} needs a condition, but this is {found.data_type.as_summary_string()}.", expression.position
            )
        return found

    def _name(self, parts: tuple[str, ...], position: Position | None) -> Typed:
        found, fields = self.scope.column(parts, position)
        for name in fields:
            found = field_of(found, name, position)
        return found

    def _call(self, call: syntax.Call) -> Typed:
        special = self.scope.special(call, self)
        if special is not None:
            return special
        rewrite = _REWRITES.get(call.function)
        if rewrite is not None:
            return rewrite(self, call)
        function = find_function(call.function, call.position)
        if is_aggregate(function):
            return self._aggregate(call)
        if call.distinct or call.where is not None or call.order_by:
            raise SqlValidationError(
                f"{shown_name(function)} is no aggregate function: DISTINCT, FILTER and ORDER BY need one.",
                call.position,
            )
        if function.role in (Role.WINDOW, Role.TABLE):
            raise SqlValidationError(
                f"{shown_name(function)} cannot be called here: it belongs into GROUP BY or FROM.", call.position
            )
        arguments = [self.resolve(argument) for argument in self._positional(call)]
        options = _options(call.options)
        if function.name in ("JSON_OBJECT", "JSON_ARRAY"):
            raw = tuple(place for place, node in enumerate(arguments) if _is_json(node))
            options = (*options, ("raw", raw))
        if function.name == "JSON_VALUE":
            arguments += self._defaults(call)
        if function.name == "CURRENT_WATERMARK" and not (arguments and _is_rowtime(arguments[0])):
            raise SqlValidationError("CURRENT_WATERMARK takes a rowtime attribute.", call.position)
        return typed_call(function, arguments, options, call.position, self.scope.sql)

    def _python(self, call: syntax.InlineCall) -> Typed:
        function = python_function(call.function, call.position)
        arguments = [self.resolve(argument) for argument in call.arguments]
        if function.kind in ("table", "table_aggregate"):
            raise SqlValidationError(
                f"{function.name} gives rows: it belongs into FROM, join_lateral() or flat_map().", call.position
            )
        if function.kind != "aggregate":
            return python_call(function, arguments, call.position)
        where = None if call.where is None else self.boolean(call.where, "FILTER")
        return self.scope.aggregate(
            python_aggregate(function, arguments, call.distinct, where, call.position), call.position
        )

    def _positional(self, call: syntax.Call) -> tuple[syntax.Expr, ...]:
        if any(isinstance(argument, syntax.Named) for argument in call.arguments):
            raise SqlValidationError(
                f"{call.function} takes its arguments by position: leave the names out.", call.position
            )
        return call.arguments

    def _defaults(self, call: syntax.Call) -> list[Typed]:
        """DEFAULT x ON EMPTY and ON ERROR become arguments, so that they are typed and may be columns."""
        returning = call.option("returning") or scalars.VarCharType(scalars.MAX_LENGTH)
        found = [call.option(f"on_{case}") or ("NULL", None) for case in ("empty", "error")]
        if all(kind != "DEFAULT" for kind, _ in found):
            return []
        return [
            self.resolve(value) if value is not None else Constant(returning.nullable(), None) for _, value in found
        ]

    def _aggregate(self, call: syntax.Call) -> Typed:
        function = find_function(call.function, call.position)
        star = any(isinstance(argument, syntax.Star) for argument in call.arguments)
        if star and function.name != "count":
            raise SqlValidationError(f"{shown_name(function)}(*) is not known: only COUNT takes *.", call.position)
        arguments = () if star else tuple(self.resolve(argument) for argument in call.arguments)
        if function.name == "PERCENTILE":
            arguments = tuple(_constant_array(argument) for argument in arguments)
        converted, result = signature(function, arguments, _options(call.options), call.position, self.scope.sql)
        where = None if call.where is None else self.boolean(call.where, "FILTER")
        if any(isinstance(part, Aggregate) for argument in converted for part in walk(argument)):
            raise SqlValidationError("Aggregate functions cannot be nested: use a subquery.", call.position)
        order = tuple(self.sort_key(item) for item in call.order_by)
        made = Aggregate(result, function.name, converted, call.distinct, where, order, _options(call.options))
        return self.scope.aggregate(made, call.position)

    def sort_key(self, order: syntax.Order) -> SortKey:
        """Nulls are the smallest values: first in ascending, last in descending order."""
        nulls_first = order.ascending if order.nulls_first is None else order.nulls_first
        return SortKey(self.resolve(order.operand), order.ascending, nulls_first)

    def _case(self, case: syntax.Case) -> Typed:
        conditions, values = [], []
        for tests, value in case.branches:
            if case.operand is None:
                conditions.append(self.boolean(tests[0], "WHEN"))
            else:
                operand = case.operand
                equal = [self._call(syntax.Call("equals", (operand, test), position=test.position)) for test in tests]
                conditions.append(_joined(equal))
            values.append(self.resolve(value))
        default = None if case.default is None else self.resolve(case.default)
        return case_of(conditions, values, default, case.position)

    def checked(self, name: str, arguments: list[Typed], position: Position | None) -> Typed:
        return typed_call(find_function(name, position), arguments, (), position, self.scope.sql)


def _constant_array(node: Typed) -> Typed:
    """ARRAY[..] of constants as one constant, which is the same for all rows."""
    if not isinstance(node, Invoke) or node.function != "array":
        return node
    items = [part.operand if isinstance(part, Convert) else part for part in node.arguments]
    values = [part.value for part in items if isinstance(part, Constant)]
    return Constant(node.data_type, values) if len(values) == len(items) else node


def _is_rowtime(node: Typed) -> bool:
    return isinstance(node, InputRef) and node.time is TimeAttribute.ROWTIME


def value_type(data_type: DataType) -> DataType:
    """Intervals of all resolutions are months or milliseconds once they are values."""
    if not families.is_interval(data_type):
        return data_type
    target = MONTHS if isinstance(data_type, YearMonthIntervalType) else MILLISECONDS
    return target.with_nullability(data_type.is_nullable)


_UNIT_AMOUNTS = {"DAY": 86_400_000, "HOUR": 3_600_000, "MINUTE": 60_000, "SECOND": 1_000, "YEAR": 12, "MONTH": 1}


def _unit_amount(data_type: DataType, position: Position | None) -> int:
    unit = data_type.nullable().as_summary_string().removeprefix("INTERVAL ").partition("(")[0]
    if unit not in _UNIT_AMOUNTS or " TO " in data_type.as_summary_string():
        raise SqlValidationError("A number becomes an interval only of one unit, as INTERVAL HOUR.", position)
    return _UNIT_AMOUNTS[unit]


def field_of(operand: Typed, name: str, position: Position | None) -> Typed:
    row = operand.data_type
    if not isinstance(row, RowType):
        raise SqlValidationError(f"{row.as_summary_string()} has no field {name!r}: only rows have fields.", position)
    if name not in row.names:
        raise SqlValidationError(f"There is no field {name!r} in the row.{suggestion(name, row.names)}", position)
    index = row.names.index(name)
    return typed_call(find_function("get"), [operand], (("index", index), ("name", name)), position)


def _options(options: tuple[tuple[str, Any], ...]) -> tuple[tuple[str, Any], ...]:
    """Without expressions, which have become arguments."""
    return tuple(
        (name, (value[0], None)) if isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], syntax.Expr)
        else (name, value)
        for name, value in options
    )  # fmt: skip


def _is_json(node: Typed) -> bool:
    return isinstance(node, Invoke) and node.function in _JSON_CALLS


def _joined(conditions: list[Typed]) -> Typed:
    if len(conditions) == 1:
        return conditions[0]
    return typed_call(find_function("or"), conditions)


def _between(resolver: Resolver, call: syntax.Call) -> Typed:
    """a >= low AND a <= high."""
    value, low, high = (resolver.resolve(argument) for argument in call.arguments)
    inside = _inside(resolver, value, low, high, call.position)
    if call.function == "betweenSymmetric":
        swapped = _inside(resolver, value, high, low, call.position)
        return resolver.checked("or", [inside, swapped], call.position)
    return resolver.checked("not", [inside], call.position) if call.function == "notBetween" else inside


def _inside(resolver: Resolver, value: Typed, low: Typed, high: Typed, position: Position | None) -> Typed:
    above = resolver.checked("greaterThanOrEqual", [value, low], position)
    below = resolver.checked("lessThanOrEqual", [value, high], position)
    return resolver.checked("and", [above, below], position)


def _plus(resolver: Resolver, call: syntax.Call) -> Typed:
    """In the Table API a text plus anything is a longer text."""
    arguments = [resolver.resolve(argument) for argument in call.arguments]
    if resolver.scope.sql or not families.is_text(arguments[0].data_type):
        return resolver.checked("plus", arguments, call.position)
    if not families.is_text(arguments[1].data_type):
        text = scalars.VarCharType(scalars.MAX_LENGTH)
        arguments[1] = conversion(arguments[1], text, False, call.position)
    return resolver.checked("concatenate", arguments, call.position)


def _if(resolver: Resolver, call: syntax.Call) -> Typed:
    arguments = [resolver.resolve(argument) for argument in call.arguments]
    converted, result = signature(find_function("IF"), arguments, (), call.position, resolver.scope.sql)
    made = case_of([converted[0]], [converted[1]], converted[2], call.position)
    assert isinstance(made, Invoke)
    return Invoke(result, "case", made.arguments)


def _ifnull(resolver: Resolver, call: syntax.Call) -> Typed:
    return resolver.resolve(syntax.Call("COALESCE", call.arguments, position=call.position))


def _nullif(resolver: Resolver, call: syntax.Call) -> Typed:
    arguments = [resolver.resolve(argument) for argument in call.arguments]
    equal = resolver.checked("equals", arguments, call.position)
    return case_of([equal], [Constant(arguments[0].data_type.nullable(), None)], arguments[0], call.position)


def _by_index(resolver: Resolver, call: syntax.Call) -> Typed:
    """A field of a row by its position from 0, as Expression.get(0) asks for it."""
    operand = resolver.resolve(call.arguments[0])
    index = call.arguments[1].value if isinstance(call.arguments[1], syntax.Literal) else None
    row = operand.data_type
    if not isinstance(row, RowType) or not isinstance(index, int) or not 0 <= index < len(row):
        raise SqlValidationError(f"{row.as_summary_string()} has no field number {index}.", call.position)
    return field_of(operand, row.names[index], call.position)


_REWRITES = {
    "getByIndex": _by_index,
    "plus": _plus,
    "between": _between,
    "notBetween": _between,
    "betweenSymmetric": _between,
    "ifThenElse": _if,
    "IF": _if,
    "if": _if,
    "IFNULL": _ifnull,
    "ifnull": _ifnull,
    "NULLIF": _nullif,
    "nullif": _nullif,
}

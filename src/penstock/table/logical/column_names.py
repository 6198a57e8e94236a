"""Names of columns that were given none, in the Table API: programs refer to them, so they are Flink's."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, is_dataclass

from penstock.table.resolution.calls import find_function, is_aggregate
from penstock.table.resolution.python_calls import python_function
from penstock.table.sql.errors import SqlValidationError
from penstock.table.syntax import expressions as syntax

Test = Callable[[syntax.Expr], bool]


def names_of(expressions: Sequence[syntax.Expr], counted: Test = lambda _: False, first: int = 0) -> list[str]:
    """What a group is asked for is EXPR$0, EXPR$1, .. in the order in which it is met; what is neither that nor a
    column, its field or its cast is called by its place: _c0, _c1, .."""
    numbers: dict[syntax.Expr, int] = {}
    for expression in expressions:
        for part in _parts(expression, counted):
            numbers.setdefault(part, len(numbers))
    return [_name(expression, numbers) or f"_c{place}" for place, expression in enumerate(expressions, first)]


def of_groups(expression: syntax.Expr) -> bool:
    """A call of an aggregate function."""
    if isinstance(expression, syntax.InlineCall):
        return python_function(expression.function, None).kind == "aggregate"
    if not isinstance(expression, syntax.Call):
        return False
    try:
        return is_aggregate(find_function(expression.function, None))
    except SqlValidationError:  # as for the properties of a window
        return False


def _parts(expression: syntax.Expr, counted: Test) -> Iterator[syntax.Expr]:
    if counted(expression):
        yield expression
        return
    if isinstance(expression, syntax.Over) or not is_dataclass(expression):
        return
    for field in fields(expression):
        value = getattr(expression, field.name)
        for inner in value if isinstance(value, tuple) else (value,):
            if isinstance(inner, syntax.Expr):
                yield from _parts(inner, counted)


def _name(expression: syntax.Expr, numbers: dict[syntax.Expr, int]) -> str | None:
    if expression in numbers:
        return f"EXPR${numbers[expression]}"
    match expression:
        case syntax.Aliased(_, given):
            return given[0]
        case syntax.Name(parts):
            return parts[-1]
        case syntax.FieldOf(operand, name):
            of_row = _name(operand, numbers)
            return None if of_row is None else f"{of_row}${name}"
        case syntax.CastTo(operand, data_type, False) if isinstance(operand, syntax.Name) or operand in numbers:
            return f"{_name(operand, numbers)}-{data_type.as_summary_string()}"
    return None

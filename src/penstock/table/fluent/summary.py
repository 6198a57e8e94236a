"""Expressions as text: Flink's summary, `plus(a, 1)`."""

from __future__ import annotations

from penstock.columns.typesystem import families
from penstock.table.syntax import expressions as syntax


def summary_of(node: syntax.Expr) -> str:
    match node:
        case syntax.Name(parts):
            return ".".join(parts)
        case syntax.Literal(value, data_type):
            if value is None:
                return "null"
            if isinstance(value, bool):
                return "true" if value else "false"
            return f"'{value}'" if families.is_text(data_type) else str(value)
        case syntax.Call(function, arguments):
            distinct = "distinct " if node.distinct else ""
            listed = ", ".join(summary_of(argument) for argument in arguments)
            return f"{function}({distinct}{listed})"
        case syntax.CastTo(operand, data_type, safe):
            return f"{'TRY_CAST' if safe else 'cast'}({summary_of(operand)}, {data_type.as_summary_string()})"
        case syntax.Aliased(operand, names):
            return f"as({', '.join([summary_of(operand), *(repr(name) for name in names)])})"
        case syntax.Order(operand, ascending):
            return f"{'asc' if ascending else 'desc'}({summary_of(operand)})"
        case syntax.FieldOf(operand, name):
            return f"get({summary_of(operand)}, '{name}')"
        case syntax.Over(call, window):
            return f"over({summary_of(call)}, {window})"
        case syntax.Named(name, value):
            return f"{name} => {summary_of(value)}"
        case syntax.Star(qualifier):
            return ".".join([*qualifier, "*"])
    return type(node).__name__

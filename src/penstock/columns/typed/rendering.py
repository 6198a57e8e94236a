"""Typed expressions as text, for plans and messages: `(a + 1) > 5`."""

from __future__ import annotations

from penstock.columns.kernels.cast_to_text import texts_of
from penstock.columns.kernels.datum import constant
from penstock.columns.typed.nodes import (
    Aggregate,
    Constant,
    Convert,
    InputRef,
    Invoke,
    OuterRef,
    OverCall,
    SortKey,
    SubqueryTest,
    SubqueryValue,
    Typed,
)
from penstock.columns.typed.python_call import PythonCall
from penstock.columns.typesystem import families

_INFIX = {
    "plus": "+", "minus": "-", "times": "*", "divide": "/", "mod": "%", "equals": "=", "notEquals": "<>",
    "lessThan": "<", "lessThanOrEqual": "<=", "greaterThan": ">", "greaterThanOrEqual": ">=", "concatenate": "||",
    "and": "AND", "or": "OR", "LIKE": "LIKE", "similar": "SIMILAR TO", "isDistinctFrom": "IS DISTINCT FROM",
    "isNotDistinctFrom": "IS NOT DISTINCT FROM",
}  # fmt: skip
_POSTFIX = {
    "isNull": "IS NULL", "isNotNull": "IS NOT NULL", "isTrue": "IS TRUE", "isFalse": "IS FALSE",
    "isNotTrue": "IS NOT TRUE", "isNotFalse": "IS NOT FALSE",
}  # fmt: skip


def rendered(node: Typed) -> str:
    match node:
        case InputRef():
            return node.name
        case OuterRef():
            return f"$outer.{node.name}"
        case Constant():
            return _constant(node)
        case Convert():
            name = "TRY_CAST" if node.safe else "CAST"
            return f"{name}({rendered(node.operand)} AS {node.data_type.as_summary_string()})"
        case Invoke():
            return _invoke(node)
        case PythonCall():
            return f"{node.function.name}({', '.join(rendered(argument) for argument in node.arguments)})"
        case Aggregate():
            return _aggregate(node)
        case OverCall():
            return f"{_aggregate(node.call)} OVER ({_window(node)})"
        case SubqueryValue():
            return "(subquery)"
        case SubqueryTest():
            left = ", ".join(rendered(operand) for operand in node.operands)
            return f"{left} IN (subquery)" if node.comparison else "EXISTS (subquery)"
    return type(node).__name__


def _constant(node: Constant) -> str:
    if node.value is None:
        return "NULL"
    text = texts_of(constant(node.value, node.data_type), node.data_type, "UTC").as_py()
    if families.is_text(node.data_type):
        return "'" + str(text).replace("'", "''") + "'"
    if families.is_moment(node.data_type) or families.is_interval(node.data_type):
        return f"{node.data_type.nullable().as_summary_string().partition('(')[0]} '{text}'"
    return str(text)


def _invoke(node: Invoke) -> str:
    parts = [rendered(argument) for argument in node.arguments]
    if node.function in _INFIX and len(parts) >= 2:
        return "(" + f" {_INFIX[node.function]} ".join(parts) + ")"
    if node.function in _POSTFIX:
        return f"{parts[0]} {_POSTFIX[node.function]}"
    options = dict(node.options)
    if node.function == "case":
        pairs = zip(parts[0:-1:2], parts[1::2], strict=True)
        return f"CASE {' '.join(f'WHEN {test} THEN {value}' for test, value in pairs)} ELSE {parts[-1]} END"
    if node.function == "get":
        return f"{parts[0]}.{options['name']}"
    if node.function == "at":
        return f"{parts[0]}[{parts[1]}]"
    if node.function == "in":
        return f"{parts[0]} IN ({', '.join(parts[1:])})"
    if node.function == "not":
        return f"NOT {parts[0]}"
    if node.function in ("minusPrefix", "plusPrefix"):
        return f"{'-' if node.function == 'minusPrefix' else '+'}{parts[0]}"
    if "unit" in options:
        return f"{node.function.upper()}({', '.join([options['unit'], *parts])})"
    return f"{node.function.upper()}({', '.join(parts)})"


def _aggregate(node: Aggregate) -> str:
    inner = ", ".join(rendered(argument) for argument in node.arguments) or ("*" if node.function == "count" else "")
    text = f"{node.function.upper()}({'DISTINCT ' if node.distinct else ''}{inner})"
    return text if node.where is None else f"{text} FILTER ({rendered(node.where)})"


def _window(node: OverCall) -> str:
    parts = []
    if node.partition_by:
        parts.append("PARTITION BY " + ", ".join(rendered(one) for one in node.partition_by))
    if node.order_by:
        parts.append("ORDER BY " + ", ".join(rendered_key(key) for key in node.order_by))
    parts.append(f"{'ROWS' if node.by_rows else 'RANGE'} BETWEEN {_bound(node.lower)} AND {_bound(node.upper)}")
    return " ".join(parts)


def _bound(bound: object) -> str:
    kind = getattr(bound, "kind", "current")
    if kind == "current":
        return "CURRENT ROW"
    amount = "UNBOUNDED" if kind == "unbounded" else str(getattr(bound, "amount", ""))
    return f"{amount} {'PRECEDING' if getattr(bound, 'before', True) else 'FOLLOWING'}"


def rendered_key(key: SortKey) -> str:
    return f"{rendered(key.operand)} {'ASC' if key.ascending else 'DESC'}"

"""The functions with which expressions begin: ``col``, ``lit``, ``call``, and those without a first argument."""

from __future__ import annotations

from typing import Any

from penstock.columns.typesystem import scalars
from penstock.columns.typesystem.base import DataType
from penstock.common.errors import ProgramError
from penstock.table.expression import Expression, JsonOnNull, TimePointUnit
from penstock.table.fluent.literals import literal, node_of
from penstock.table.sql.dialect import parse_expression
from penstock.table.syntax.expressions import Call, Descriptor, Expr, InlineCall, Literal, Name, Star

__all__ = [
    "CURRENT_RANGE", "CURRENT_ROW", "UNBOUNDED_RANGE", "UNBOUNDED_ROW",
    "and_", "array", "atan2", "call", "call_sql", "coalesce", "col", "concat", "concat_ws", "convert_tz",
    "current_database", "current_date", "current_time", "current_timestamp", "current_watermark", "date_format",
    "descriptor", "e", "from_unixtime", "if_then_else", "json", "json_array", "json_array_agg", "json_object",
    "json_object_agg", "json_string", "lag", "lead", "lit", "local_time", "local_timestamp", "log", "map_",
    "map_from_arrays", "negative", "not_", "null_of", "object_of", "or_", "pi", "rand", "rand_integer", "range_", "row",
    "row_interval", "source_watermark", "temporal_overlaps", "timestamp_diff", "to_date", "to_timestamp",
    "to_timestamp_ltz", "unix_timestamp", "uuid", "with_all_columns", "with_columns", "without_columns",
]  # fmt: skip


def _expression(node: Expr) -> Expression[Any]:
    return Expression(node)


def _call(function: str, *arguments: Any, **options: Any) -> Expression[Any]:
    """A call; arguments that are None are left out at the end."""
    given = list(arguments)
    while given and given[-1] is None:
        given.pop()
    return _expression(Call(function, tuple(node_of(item) for item in given), options=tuple(options.items())))


def col(name: str) -> Expression[Any]:
    """The column of that name."""
    return _expression(Name((name,)))


def lit(v: Any, data_type: DataType | None = None) -> Expression[Any]:
    """A constant, with the type that Flink gives it or with the one that is asked for.

    >>> str(lit(5))
    '5'
    """
    return _expression(literal(v, data_type))


def range_(start: str | int, end: str | int) -> Expression[Any]:
    """Columns from one to another, by name or by position from 1: for with_columns and without_columns."""
    bounds = [Name((end_,)) if isinstance(end_, str) else node_of(end_) for end_ in (start, end)]
    return _expression(Call("rangeTo", tuple(bounds)))


def and_(predicate0: Any, predicate1: Any, *predicates: Any) -> Expression[bool]:
    return _call("and", predicate0, predicate1, *predicates)


def or_(predicate0: Any, predicate1: Any, *predicates: Any) -> Expression[bool]:
    return _call("or", predicate0, predicate1, *predicates)


def not_(expression: Any) -> Expression[bool]:
    return _call("not", expression)


def current_database() -> Expression[Any]:
    return _call("currentDatabase")


def current_date() -> Expression[Any]:
    return _call("currentDate")


def current_time() -> Expression[Any]:
    return _call("currentTime")


def current_timestamp() -> Expression[Any]:
    return _call("currentTimestamp")


def current_watermark(rowtimeAttribute: Any) -> Expression[Any]:
    return _call("CURRENT_WATERMARK", rowtimeAttribute)


def local_time() -> Expression[Any]:
    return _call("localTime")


def local_timestamp() -> Expression[Any]:
    return _call("localTimestamp")


def to_date(date_str: Any, format: Any = None) -> Expression[Any]:
    return _call("toDate", date_str, format)


def to_timestamp(timestamp_str: Any, format: Any = None) -> Expression[Any]:
    return _call("toTimestamp", timestamp_str, format)


def to_timestamp_ltz(*args: Any) -> Expression[Any]:
    """From a count and a precision, or from text with an optional pattern and zone."""
    if not 1 <= len(args) <= 3:
        raise ProgramError(f"to_timestamp_ltz takes one to three arguments, not {len(args)}")
    return _call("TO_TIMESTAMP_LTZ", *args)


def temporal_overlaps(
    left_time_point: Any, left_temporal: Any, right_time_point: Any, right_temporal: Any
) -> Expression[Any]:
    """Whether two spans have a moment in common; each is a moment with an end or a length."""
    return _call("temporalOverlaps", left_time_point, left_temporal, right_time_point, right_temporal)


def date_format(timestamp: Any, format: Any) -> Expression[Any]:
    return _call("dateFormat", timestamp, format)


def timestamp_diff(time_point_unit: TimePointUnit, time_point1: Any, time_point2: Any) -> Expression[Any]:
    return _call("timestampDiff", time_point1, time_point2, unit=time_point_unit.name)


def convert_tz(date_str: Any, tz_from: Any, tz_to: Any) -> Expression[Any]:
    return _call("convertTz", date_str, tz_from, tz_to)


def from_unixtime(unixtime: Any, format: Any = None) -> Expression[Any]:
    return _call("fromUnixtime", unixtime, format)


def unix_timestamp(date_str: Any = None, format: Any = None) -> Expression[Any]:
    return _call("unixTimestamp", date_str, format)


def array(head: Any, *tail: Any) -> Expression[Any]:
    return _expression(Call("array", tuple(node_of(item) for item in (head, *tail))))


def row(head: Any, *tail: Any) -> Expression[Any]:
    return _expression(Call("row", tuple(node_of(item) for item in (head, *tail))))


def map_(key: Any, value: Any, *tail: Any) -> Expression[Any]:
    return _expression(Call("map", tuple(node_of(item) for item in (key, value, *tail))))


def map_from_arrays(key: Any, value: Any) -> Expression[Any]:
    return _call("MAP_FROM_ARRAYS", key, value)


def descriptor(*column_names: str) -> Expression[Any]:
    """Columns named to a table function."""
    return _expression(Descriptor(column_names))


def object_of(class_name: str, *args: Any) -> Expression[Any]:
    return _call("OBJECT_OF", class_name, *args)


def row_interval(rows: int) -> Expression[Any]:
    """So many rows: the size of a count window or of an OVER window."""
    return _expression(Call("rowInterval", (Literal(rows, scalars.BigIntType(False)),)))


def pi() -> Expression[float]:
    return _call("pi")


def e() -> Expression[float]:
    return _call("e")


def rand(seed: Any = None) -> Expression[float]:
    return _call("rand", seed)


def rand_integer(bound: Any, seed: Any = None) -> Expression[Any]:
    return _call("randInteger", bound) if seed is None else _call("randInteger", seed, bound)


def atan2(y: Any, x: Any) -> Expression[float]:
    return _call("atan2", y, x)


def negative(v: Any) -> Expression[Any]:
    return _call("minusPrefix", v)


def concat(first: Any, *others: Any) -> Expression[str]:
    return _expression(Call("concat", tuple(node_of(item) for item in (first, *others))))


def concat_ws(separator: Any, first: Any, *others: Any) -> Expression[str]:
    return _expression(Call("concat_ws", tuple(node_of(item) for item in (separator, first, *others))))


def uuid() -> Expression[str]:
    return _call("uuid")


def null_of(data_type: DataType) -> Expression[Any]:
    return _expression(Literal(None, data_type.nullable()))


def log(v: Any, base: Any = None) -> Expression[float]:
    return _call("log", v) if base is None else _call("log", base, v)


def source_watermark() -> Expression[Any]:
    return _call("SOURCE_WATERMARK")


def if_then_else(condition: Any, if_true: Any, if_false: Any) -> Expression[Any]:
    return _expression(Call("ifThenElse", (node_of(condition), node_of(if_true), node_of(if_false))))


def coalesce(*args: Any) -> Expression[Any]:
    return _expression(Call("COALESCE", tuple(node_of(item) for item in args)))


def with_all_columns() -> Expression[Any]:
    return _expression(Star())


def with_columns(head: Any, *tails: Any) -> Expression[Any]:
    return _call("withColumns", head, *tails)


def without_columns(head: Any, *tails: Any) -> Expression[Any]:
    return _call("withoutColumns", head, *tails)


def json(value: Any) -> Expression[Any]:
    return _call("JSON", value)


def json_string(value: Any) -> Expression[Any]:
    return _call("JSON_STRING", value)


def json_object(on_null: JsonOnNull = JsonOnNull.NULL, *args: Any) -> Expression[Any]:
    """An object of keys and values in turn."""
    return _expression(Call("JSON_OBJECT", tuple(map(node_of, args)), options=(("on_null", on_null.name),)))


def json_object_agg(on_null: JsonOnNull, key_expr: Any, value_expr: Any) -> Expression[Any]:
    arguments = (node_of(key_expr), node_of(value_expr))
    return _expression(Call("JSON_OBJECTAGG", arguments, options=(("on_null", on_null.name),)))


def json_array(on_null: JsonOnNull = JsonOnNull.ABSENT, *args: Any) -> Expression[Any]:
    return _expression(Call("JSON_ARRAY", tuple(map(node_of, args)), options=(("on_null", on_null.name),)))


def json_array_agg(on_null: JsonOnNull, item_expr: Any) -> Expression[Any]:
    return _expression(Call("JSON_ARRAYAGG", (node_of(item_expr),), options=(("on_null", on_null.name),)))


def lag(expr: Any, offset: int = 1, default: Any = None) -> Expression[Any]:
    return _call("lag", expr, offset, default)


def lead(expr: Any, offset: int = 1, default: Any = None) -> Expression[Any]:
    return _call("lead", expr, offset, default)


def call(f: Any, *args: Any) -> Expression[Any]:
    """A function by name, or a Python function as it is."""
    arguments = tuple(node_of(item) for item in args)
    return _expression(Call(f, arguments) if isinstance(f, str) else InlineCall(f, arguments))


def call_sql(sql_expression: str) -> Expression[Any]:
    """An expression written in SQL."""
    if not isinstance(sql_expression, str):
        raise ProgramError("call_sql takes the text of a SQL expression.")
    return _expression(parse_expression(sql_expression))


UNBOUNDED_ROW: Expression[Any] = _call("UNBOUNDED_ROW")
"""All rows before the current one, by their number; for Over windows."""
UNBOUNDED_RANGE: Expression[Any] = _call("UNBOUNDED_RANGE")
"""All rows before the current one, by their time; for Over windows."""
CURRENT_ROW: Expression[Any] = _call("CURRENT_ROW")
"""Up to the current row; for Over windows."""
CURRENT_RANGE: Expression[Any] = _call("CURRENT_RANGE")
"""Up to the current row and those of the same time; for Over windows."""

"""Python values in expressions: what type a literal gets, and what becomes of other expressions."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

from penstock.columns.typesystem import scalars
from penstock.columns.typesystem.base import DataType
from penstock.columns.typesystem.intervals import DayTimeIntervalType
from penstock.columns.typesystem.python_values import plain_value
from penstock.common.errors import ProgramError
from penstock.common.types import Row
from penstock.table.syntax.expressions import Call, Expr, Literal

_SPAN = DayTimeIntervalType(DayTimeIntervalType.DayTimeResolution.SECOND, fractional_precision=3)


def node_of(value: Any) -> Expr:
    """An expression as it is, anything else as a literal."""
    node = getattr(value, "_node", None)
    if isinstance(node, Expr):
        return node
    return value if isinstance(value, Expr) else literal(value)


def literal(value: Any, data_type: DataType | None = None) -> Expr:
    if isinstance(value, (list, tuple, Row)) and data_type is None:
        members = tuple(node_of(item) for item in value)
        return Call("array" if isinstance(value, list) else "row", members)
    if isinstance(value, dict) and data_type is None:
        return Call("map", tuple(node_of(item) for pair in value.items() for item in pair))
    wanted = data_type if data_type is not None else literal_type(value)
    if value is None and not wanted.is_nullable:
        raise ProgramError(f"A literal of type {wanted.as_summary_string()} cannot be None")
    return Literal(plain_value(value, wanted), wanted)


def literal_type(value: Any) -> DataType:
    """The type that Flink gives a value of Python: int is INT or BIGINT, str CHAR of its length."""
    match value:
        case None:
            return scalars.NullType()
        case bool():
            return scalars.BooleanType(False)
        case int():
            return scalars.IntType(False) if -(2**31) <= value < 2**31 else scalars.BigIntType(False)
        case float():
            return scalars.DoubleType(False)
        case str():
            return scalars.CharType(len(value), False)
        case bytes() | bytearray():
            return scalars.BinaryType(len(value), False)
        case Decimal():
            return _decimal_type(value)
        case datetime.datetime():
            make = scalars.TimestampType if value.tzinfo is None else scalars.LocalZonedTimestampType
            return make(6 if value.microsecond % 1000 else 3 if value.microsecond else 0, False)
        case datetime.date():
            return scalars.DateType(False)
        case datetime.time():
            return scalars.TimeType(6 if value.microsecond % 1000 else 3 if value.microsecond else 0, False)
        case datetime.timedelta():
            return _SPAN.not_null()
    raise ProgramError(
        f"{value!r} cannot be a literal: {type(value).__name__} has no SQL type. Give the type with lit(value, type)."
    )


def _decimal_type(value: Decimal) -> DataType:
    digits = value.as_tuple()
    scale = max(0, -int(digits.exponent))
    precision = max(len(digits.digits) + max(0, int(digits.exponent)), scale, 1)
    return scalars.DecimalType(precision, scale, False)

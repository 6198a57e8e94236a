"""Columns and the values of Python programs: dates are dates, rows are Rows, a FLOAT has few digits."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from penstock.columns.kernels.datum import from_plain, plain_values
from penstock.columns.kernels.failure import ValueFailure
from penstock.columns.typesystem import families, scalars
from penstock.columns.typesystem.arrow_mapping import to_arrow_type, unit_of
from penstock.columns.typesystem.base import DataType
from penstock.columns.typesystem.intervals import DayTimeIntervalType
from penstock.columns.typesystem.nested import ArrayType, MapType, MultisetType, RowType
from penstock.columns.typesystem.python_values import plain_value
from penstock.common.types import Row

_AS_THEY_ARE = (
    scalars.BooleanType, scalars.TinyIntType, scalars.SmallIntType, scalars.IntType, scalars.BigIntType,
    scalars.DoubleType, scalars.CharType, scalars.VarCharType, scalars.BinaryType, scalars.VarBinaryType,
)  # fmt: skip
_MICROS_PER_TICK = {"s": 1_000_000, "ms": 1_000, "us": 1}
_MILLISECOND = datetime.timedelta(milliseconds=1)


def to_python(column: pa.Array, data_type: DataType) -> list[Any]:
    """The values of a column as programs see them."""
    if isinstance(data_type, _AS_THEY_ARE):
        return list(column.to_pylist())
    return [_shown(value, data_type) for value in plain_values(column, data_type)]


def _shown(value: Any, data_type: DataType) -> Any:
    if value is None:
        return None
    if isinstance(data_type, scalars.FloatType):
        return float(_shortest(value))
    if families.is_moment(data_type):
        return data_type.from_sql_type(_as_sql(value, data_type))
    if isinstance(data_type, DayTimeIntervalType):
        return value * _MILLISECOND
    if isinstance(data_type, MultisetType):
        return {_shown(item, data_type.element_type): count for item, count in value.items()}
    if isinstance(data_type, ArrayType):
        return [_shown(item, data_type.element_type) for item in value]
    if isinstance(data_type, MapType):
        return {_shown(k, data_type.key_type): _shown(v, data_type.value_type) for k, v in value.items()}
    if isinstance(data_type, RowType):
        return Row(*(_shown(item, part) for item, part in zip(value, data_type.children(), strict=True)))
    if isinstance(data_type, scalars.RawType):
        return data_type.from_sql_type(value)
    return value


def _shortest(value: float) -> str:
    import numpy as np

    return str(np.float32(value))


def _as_sql(ticks: int, data_type: DataType) -> int:
    """Whole numbers in the column's unit as from_sql_type takes them: days, or microseconds."""
    if isinstance(data_type, scalars.DateType):
        return ticks
    unit = unit_of(int(getattr(data_type, "precision", 6)))
    return ticks // 1_000 if unit == "ns" else ticks * _MICROS_PER_TICK[unit]


def from_python(values: Sequence[Any], data_type: DataType, name: str = "a column") -> pa.Array:
    """The column of values that a program gave; one that does not fit its type is named."""
    try:
        if isinstance(data_type, _AS_THEY_ARE):
            return pa.array(values, to_arrow_type(data_type))
        return from_plain([plain_value(value, data_type) for value in values], data_type)
    except (pa.ArrowException, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise ValueFailure(
            f"{name} is {data_type.as_summary_string()}: {_misfit(values, data_type)} ({error})"
        ) from error


def _misfit(values: Sequence[Any], data_type: DataType) -> str:
    for value in values:
        try:
            from_plain([plain_value(value, data_type)], data_type)
        except Exception:
            return f"{value!r} does not fit it"
    return "some value does not fit it"

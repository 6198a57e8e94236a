"""Groups of types that functions ask for: numbers, texts, moments, and so on."""

from __future__ import annotations

from penstock.columns.typesystem.base import DataType, IntegralType, NumericType
from penstock.columns.typesystem.intervals import DayTimeIntervalType, YearMonthIntervalType
from penstock.columns.typesystem.nested import ArrayType, MapType, MultisetType, RowType
from penstock.columns.typesystem.scalars import (
    BinaryType,
    BooleanType,
    CharType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    LocalZonedTimestampType,
    NullType,
    TimestampType,
    TimeType,
    VarBinaryType,
    VarCharType,
)

INTERVALS = (DayTimeIntervalType, YearMonthIntervalType)
TEXTS = (CharType, VarCharType)
BYTES = (BinaryType, VarBinaryType)
TIMESTAMPS = (TimestampType, LocalZonedTimestampType)
MOMENTS = (DateType, TimeType, TimestampType, LocalZonedTimestampType)


def is_text(data_type: DataType) -> bool:
    return isinstance(data_type, TEXTS)


def is_bytes(data_type: DataType) -> bool:
    return isinstance(data_type, BYTES)


def is_number(data_type: DataType) -> bool:
    return isinstance(data_type, NumericType)


def is_integer(data_type: DataType) -> bool:
    return isinstance(data_type, IntegralType)


def is_exact_number(data_type: DataType) -> bool:
    return isinstance(data_type, (IntegralType, DecimalType))


def is_floating(data_type: DataType) -> bool:
    return isinstance(data_type, (FloatType, DoubleType))


def is_boolean(data_type: DataType) -> bool:
    return isinstance(data_type, BooleanType)


def is_moment(data_type: DataType) -> bool:
    return isinstance(data_type, MOMENTS)


def is_timestamp(data_type: DataType) -> bool:
    return isinstance(data_type, TIMESTAMPS)


def is_interval(data_type: DataType) -> bool:
    return isinstance(data_type, INTERVALS)


def is_null(data_type: DataType) -> bool:
    return isinstance(data_type, NullType)


def is_collection(data_type: DataType) -> bool:
    return isinstance(data_type, (ArrayType, MapType, MultisetType))


def is_row(data_type: DataType) -> bool:
    return isinstance(data_type, RowType)


def is_comparable(data_type: DataType) -> bool:
    """Whether values have an order, so that < and MAX make sense."""
    return isinstance(data_type, (NumericType, BooleanType, *TEXTS, *BYTES, *MOMENTS, *INTERVALS, NullType))

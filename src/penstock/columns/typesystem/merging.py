"""The common type of several: what CASE, UNION, ARRAY[..] and comparisons bring their operands to."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from penstock.columns.typesystem import families, scalars
from penstock.columns.typesystem.base import DataType, IntegralType
from penstock.columns.typesystem.decimals import as_decimal, of_union
from penstock.columns.typesystem.intervals import DayTimeIntervalType, YearMonthIntervalType
from penstock.columns.typesystem.nested import ArrayType, MapType, MultisetType, RowField, RowType


def common_type(types: Sequence[DataType]) -> DataType | None:
    """The narrowest type that holds the values of all, or None when there is none; NULL takes any type."""
    typed = [data_type for data_type in types if not families.is_null(data_type)]
    if not typed:
        return scalars.NullType() if types else None
    nullable = any(data_type.is_nullable for data_type in types)
    merged: DataType | None = typed[0]
    for other in typed[1:]:
        if merged is None:
            return None
        merged = _merge(merged, other)
    return None if merged is None else merged.with_nullability(nullable)


def _merge(left: DataType, right: DataType) -> DataType | None:
    if left.same_but_nullability(right):
        return left
    for rule in _RULES:
        merged = rule(left, right)
        if merged is not None:
            return merged
    return None


def _numbers(left: DataType, right: DataType) -> DataType | None:
    if not (families.is_number(left) and families.is_number(right)):
        return None
    if isinstance(left, IntegralType) and isinstance(right, IntegralType):
        return left if left.WIDTH >= right.WIDTH else right
    first, second = as_decimal(left), as_decimal(right)
    if first is not None and second is not None:
        return of_union(first, second)
    if isinstance(left, scalars.DoubleType) or isinstance(right, scalars.DoubleType):
        return scalars.DoubleType()
    # FLOAT with a decimal: neither holds the other.
    mixed = isinstance(left, scalars.DecimalType) or isinstance(right, scalars.DecimalType)
    return scalars.DoubleType() if mixed else scalars.FloatType()


def _texts(left: DataType, right: DataType) -> DataType | None:
    if isinstance(left, families.TEXTS) and isinstance(right, families.TEXTS):
        return scalars.VarCharType(max(left.length, right.length))
    return None


def _bytes(left: DataType, right: DataType) -> DataType | None:
    if isinstance(left, families.BYTES) and isinstance(right, families.BYTES):
        return scalars.VarBinaryType(max(left.length, right.length))
    return None


def _moments(left: DataType, right: DataType) -> DataType | None:
    if not (families.is_moment(left) and families.is_moment(right)):
        return None
    precision = max(_digits(left), _digits(right))
    if isinstance(left, scalars.TimeType) and isinstance(right, scalars.TimeType):
        return scalars.TimeType(precision)
    if isinstance(left, scalars.TimeType) or isinstance(right, scalars.TimeType):
        timestamp = families.is_timestamp(left) or families.is_timestamp(right)
        if not timestamp:
            return None
    if any(isinstance(side, scalars.LocalZonedTimestampType) for side in (left, right)):
        return scalars.LocalZonedTimestampType(precision)
    return scalars.TimestampType(precision)


def _digits(data_type: DataType) -> int:
    return int(getattr(data_type, "precision", 0))


def _intervals(left: DataType, right: DataType) -> DataType | None:
    if isinstance(left, DayTimeIntervalType) and isinstance(right, DayTimeIntervalType):
        return _day_time(left, right)
    if isinstance(left, YearMonthIntervalType) and isinstance(right, YearMonthIntervalType):
        resolution = left.resolution if left.resolution == right.resolution else _YEARS.YEAR_TO_MONTH
        precision = max(left.precision, right.precision) if resolution != _YEARS.MONTH else 2
        return YearMonthIntervalType(resolution, precision)
    return None


_YEARS = YearMonthIntervalType.YearMonthResolution
_UNITS = ("DAY", "HOUR", "MINUTE", "SECOND")


def _day_time(left: DayTimeIntervalType, right: DayTimeIntervalType) -> DayTimeIntervalType:
    """From the largest unit of either to the smallest of either."""
    units = [unit for side in (left, right) for unit in side.resolution.name.split("_TO_")]
    upper, lower = min(units, key=_UNITS.index), max(units, key=_UNITS.index)
    name = upper if upper == lower else f"{upper}_TO_{lower}"
    days = [side.day_precision for side in (left, right) if "DAY" in side.resolution.name]
    fractions = [side.fractional_precision for side in (left, right) if "SECOND" in side.resolution.name]
    return DayTimeIntervalType(
        DayTimeIntervalType.DayTimeResolution[name], max(days, default=2), max(fractions, default=6)
    )


def _nested(left: DataType, right: DataType) -> DataType | None:
    if type(left) is not type(right):
        return None
    inner = [common_type(pair) for pair in zip(left.children(), right.children(), strict=False)]
    if len(left.children()) != len(right.children()) or any(part is None for part in inner):
        return None
    parts = [part for part in inner if part is not None]
    if isinstance(left, (ArrayType, MultisetType)):
        return type(left)(parts[0])
    if isinstance(left, MapType):
        return MapType(parts[0], parts[1])
    if type(left) is RowType:
        return RowType([RowField(field.name, part) for field, part in zip(left.fields, parts, strict=True)])
    return None


_RULES: tuple[Callable[[DataType, DataType], DataType | None], ...] = (
    _numbers,
    _texts,
    _bytes,
    _moments,
    _intervals,
    _nested,
)

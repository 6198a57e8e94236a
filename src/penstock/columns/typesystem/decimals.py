"""How many digits decimals have: those that arithmetic gives by Flink's table, which is SQL Server's, and others."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Context, Decimal

from penstock.columns.typesystem.base import DataType
from penstock.columns.typesystem.scalars import (
    BigIntType,
    DecimalType,
    IntType,
    SmallIntType,
    TinyIntType,
)

MAX_PRECISION = 38
_EXACT = Context(prec=100, rounding=ROUND_HALF_UP)
_LEAST_SCALE = 6  # of a division, and of what is cut when a result has too many digits

_DIGITS: dict[type[DataType], int] = {TinyIntType: 3, SmallIntType: 5, IntType: 10, BigIntType: 19}


def fit(value: Decimal | None, result: DecimalType, rounding: str = ROUND_HALF_UP) -> Decimal | None:
    """A number with the digits of a type, or None when it has too many in front of the point."""
    if value is None or not value.is_finite() or value.adjusted() > 60:
        return None
    rounded = value.quantize(Decimal(1).scaleb(-result.scale), rounding, _EXACT)
    return rounded if abs(rounded) < Decimal(10) ** (result.precision - result.scale) else None


def as_decimal(data_type: DataType) -> DecimalType | None:
    """The decimal type that holds all values of an exact number's type."""
    if isinstance(data_type, DecimalType):
        return data_type
    digits = _DIGITS.get(type(data_type))
    return None if digits is None else DecimalType(digits, 0, data_type.is_nullable)


def of_sum(left: DecimalType, right: DecimalType) -> DecimalType:
    scale = max(left.scale, right.scale)
    whole = max(left.precision - left.scale, right.precision - right.scale)
    return _bounded(whole + scale + 1, scale)


def of_product(left: DecimalType, right: DecimalType) -> DecimalType:
    return _bounded(left.precision + right.precision + 1, left.scale + right.scale)


def of_quotient(left: DecimalType, right: DecimalType) -> DecimalType:
    scale = max(_LEAST_SCALE, left.scale + right.precision + 1)
    return _bounded(left.precision - left.scale + right.scale + scale, scale)


def of_remainder(left: DecimalType, right: DecimalType) -> DecimalType:
    scale = max(left.scale, right.scale)
    whole = min(left.precision - left.scale, right.precision - right.scale)
    return _bounded(whole + scale, scale)


def of_union(left: DecimalType, right: DecimalType) -> DecimalType:
    """The type that both can be written in; digits in front of the point win."""
    scale = max(left.scale, right.scale)
    whole = max(left.precision - left.scale, right.precision - right.scale)
    precision = min(whole + scale, MAX_PRECISION)
    return DecimalType(precision, max(precision - whole, 0), left.is_nullable or right.is_nullable)


def of_rounding(precision: int, scale: int, places: int) -> DecimalType:
    """The type of ROUND(decimal, places)."""
    if places >= scale:
        return DecimalType(precision, scale)
    if places < 0:
        return DecimalType(min(MAX_PRECISION, 1 + precision - scale), 0)
    return DecimalType(min(MAX_PRECISION, 1 + precision - scale + places), places)


def of_total(data_type: DecimalType) -> DecimalType:
    """The type of SUM."""
    return DecimalType(MAX_PRECISION, data_type.scale)


def of_average(data_type: DecimalType) -> DecimalType:
    """The type of AVG: a total divided by a BIGINT, with Flink's least scale of 6."""
    return DecimalType(MAX_PRECISION, max(_LEAST_SCALE, data_type.scale))


def _bounded(precision: int, scale: int) -> DecimalType:
    """Cuts digits after the point, but never below six of them, when there are more than 38 in all."""
    if precision <= MAX_PRECISION:
        return DecimalType(precision, scale)
    whole = precision - scale
    return DecimalType(MAX_PRECISION, max(MAX_PRECISION - whole, min(scale, _LEAST_SCALE)))

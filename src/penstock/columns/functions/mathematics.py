"""Arithmetic and mathematics."""

from __future__ import annotations

import math
from collections.abc import Callable

from penstock.columns.functions import results
from penstock.columns.functions.arguments import EXACT, INTEGER, NUMBER, TEXT, TEXT_OR_INTEGER, takes
from penstock.columns.functions.function import MISSING, Function, SignatureError, Site
from penstock.columns.kernels import arithmetic, calendar, encodings
from penstock.columns.kernels.datum import Datum, Invocation, Kernel, constant
from penstock.columns.typesystem import decimals, families, scalars
from penstock.columns.typesystem.base import DataType
from penstock.columns.typesystem.data_types import DataTypes
from penstock.columns.typesystem.intervals import DayTimeIntervalType, YearMonthIntervalType
from penstock.columns.typesystem.merging import common_type

_DOUBLE = DataTypes.DOUBLE()
_STRING = DataTypes.STRING()
# What every interval is once it is a value.
MILLISECONDS = DayTimeIntervalType(DayTimeIntervalType.DayTimeResolution.SECOND, fractional_precision=3)
MONTHS = YearMonthIntervalType(YearMonthIntervalType.YearMonthResolution.MONTH)


def _two(site: Site) -> tuple[DataType, ...]:
    """Two numbers, or a combination of moments and intervals; an untyped NULL takes the other's type."""
    if len(site.types) != 2:
        raise SignatureError("it takes two values")
    left, right = site.types
    if families.is_null(left) or families.is_null(right):
        known = right if families.is_null(left) else left
        left = known.nullable() if families.is_null(left) else left
        right = known.nullable() if families.is_null(right) else right
    return left, right


def _numbers_or_time(allowed: Callable[[DataType, DataType], bool]) -> Callable[[Site], tuple[DataType, ...]]:
    def rule(site: Site) -> tuple[DataType, ...]:
        left, right = _two(site)
        numbers = families.is_number(left) and families.is_number(right)
        if not numbers and not allowed(left, right):
            raise SignatureError(
                f"it does not take {left.as_summary_string()} and {right.as_summary_string()}:"
                " numbers, or moments and intervals, go together"
            )
        return left, right

    return rule


def _same_interval(left: DataType, right: DataType) -> bool:
    return families.is_interval(left) and type(left) is type(right)


def _addable(left: DataType, right: DataType) -> bool:
    crossed = families.is_moment(left) and families.is_interval(right)
    return crossed or (families.is_interval(left) and families.is_moment(right)) or _same_interval(left, right)


def _subtractable(left: DataType, right: DataType) -> bool:
    return (families.is_moment(left) and families.is_interval(right)) or _same_interval(left, right)


def _multipliable(left: DataType, right: DataType) -> bool:
    crossed = families.is_interval(left) and families.is_number(right)
    return crossed or (families.is_number(left) and families.is_interval(right))


def _arithmetic_type(
    of_decimals: Callable[[scalars.DecimalType, scalars.DecimalType], DataType],
) -> Callable[[Site], DataType]:
    def rule(site: Site) -> DataType:
        left, right = site.types
        for data_type in (left, right):
            if families.is_moment(data_type):
                return data_type
        if families.is_interval(left) or families.is_interval(right):
            span = left if families.is_interval(left) else right
            return MONTHS if isinstance(span, YearMonthIntervalType) else MILLISECONDS
        if families.is_floating(left) and families.is_floating(right):
            return left
        decimal = isinstance(left, scalars.DecimalType) or isinstance(right, scalars.DecimalType)
        first, second = decimals.as_decimal(left), decimals.as_decimal(right)
        if decimal and first is not None and second is not None:
            return of_decimals(first, second)
        found = common_type((left, right))
        assert found is not None
        return found

    return rule


def _remainder_arguments(site: Site) -> tuple[DataType, ...]:
    left, right = _two(site)
    if not (families.is_exact_number(left) and families.is_exact_number(right)):
        raise SignatureError("it takes exact numbers: CAST floating ones to DECIMAL")
    return left, right


def _remainder_type(site: Site) -> DataType:
    left, right = site.types
    if families.is_integer(left) and families.is_integer(right):
        return right
    first, second = decimals.as_decimal(left), decimals.as_decimal(right)
    assert first is not None and second is not None
    return decimals.of_remainder(first, second)


def _by_time(moments: Kernel, intervals: Kernel, numbers: Kernel) -> Kernel:
    def kernel(call: Invocation) -> Datum:
        if families.is_moment(call.result_type):
            return moments(call)
        return intervals(call) if families.is_interval(call.result_type) else numbers(call)

    return kernel


_plus = _by_time(calendar.plus_interval, calendar.interval_sum, arithmetic.plus)
_minus = _by_time(calendar.minus_interval, calendar.interval_difference, arithmetic.minus)
_times = _by_time(calendar.plus_interval, calendar.interval_product, arithmetic.times)


def _whole_type(site: Site) -> DataType:
    given = site.types[0]
    return scalars.DecimalType(given.precision, 0) if isinstance(given, scalars.DecimalType) else given


def _rounded_type(site: Site) -> DataType:
    given = site.types[0]
    if not isinstance(given, scalars.DecimalType):
        return given
    places = 0 if len(site.types) == 1 else site.literal(1)
    if places is MISSING or places is None:
        return given
    return decimals.of_rounding(given.precision, given.scale, places)


def _signed(site: Site) -> tuple[DataType, ...]:
    if len(site.types) != 1 or not (families.is_number(site.types[0]) or families.is_interval(site.types[0])):
        raise SignatureError("it takes a number or an interval")
    return site.types


def _fixed(value: float) -> Kernel:
    return lambda call: constant(value, call.result_type)


def _double(name: str, kernel: Kernel, *sql: str, count: int = 1, optional: int = 0) -> Function:
    names = sql or (name.upper(),)
    return Function(name, takes(*[NUMBER] * count, optional=optional), results.of(_DOUBLE), kernel, names)


_OF = arithmetic.python_doubles

ARITHMETIC: tuple[Function, ...] = (
    Function("minusPrefix", _signed, results.like(), arithmetic.negate),
    Function("plusPrefix", _signed, results.like(), arithmetic.unchanged),
    Function("plus", _numbers_or_time(_addable), results.computed(_arithmetic_type(decimals.of_sum)), _plus),
    Function("minus", _numbers_or_time(_subtractable), results.computed(_arithmetic_type(decimals.of_sum)), _minus),
    Function("times", _numbers_or_time(_multipliable), results.computed(_arithmetic_type(decimals.of_product)), _times),
    Function(
        "divide",
        _numbers_or_time(lambda left, right: False),
        results.computed(_arithmetic_type(decimals.of_quotient)),
        arithmetic.divide,
    ),
    Function("mod", _remainder_arguments, results.computed(_remainder_type), arithmetic.remainder, ("MOD",)),
    _double("power", _OF(arithmetic.power), count=2),
    Function("abs", takes(NUMBER), results.like(), arithmetic.absolute, ("ABS",)),
    _double("sqrt", arithmetic.of_doubles(arithmetic.square_root)),
    _double("ln", _OF(arithmetic.natural_log)),
    _double("log10", _OF(arithmetic.log10)),
    _double("log2", _OF(arithmetic.log2)),
    _double("log", _OF(arithmetic.log_with_base), count=2, optional=1),
    _double("exp", _OF(math.exp)),
    _double("sin", _OF(math.sin)),
    _double("sinh", _OF(arithmetic.sinh)),
    _double("cos", _OF(math.cos)),
    _double("tan", _OF(math.tan)),
    _double("tanh", _OF(math.tanh)),
    _double("cot", _OF(arithmetic.cotangent)),
    _double("asin", _OF(math.asin)),
    _double("acos", _OF(math.acos)),
    _double("atan", _OF(math.atan)),
    _double("atan2", _OF(math.atan2), count=2),
    _double("cosh", _OF(math.cosh)),
    _double("degrees", _OF(arithmetic.degrees)),
    _double("radians", _OF(arithmetic.radians)),
    Function("sign", takes(NUMBER), results.like(), arithmetic.sign, ("SIGN",)),
    Function(
        "round",
        takes(NUMBER, INTEGER, optional=1),
        results.computed(_rounded_type),
        arithmetic.round_half_up,
        ("ROUND",),
    ),
    Function(
        "truncate",
        takes(NUMBER, INTEGER, optional=1),
        results.computed(_rounded_type),
        arithmetic.cut_off,
        ("TRUNCATE",),
    ),
    Function("pi", takes(), results.never_null(_DOUBLE), _fixed(math.pi), ("PI",)),
    Function("e", takes(), results.never_null(_DOUBLE), _fixed(math.e), ("E",)),
    Function(
        "rand",
        takes(INTEGER, optional=1),
        results.of(_DOUBLE),
        arithmetic.random_double,
        ("RAND",),
        deterministic=False,
    ),
    Function(
        "randInteger",
        takes(INTEGER, INTEGER, optional=1),
        results.of(DataTypes.INT()),
        arithmetic.random_integer,
        ("RAND_INTEGER",),
        deterministic=False,
    ),
    Function(
        "uuid", takes(), results.never_null(DataTypes.CHAR(36)), arithmetic.random_uuid, ("UUID",), deterministic=False
    ),
    Function("bin", takes(INTEGER), results.of(_STRING), encodings.bin_text, ("BIN",)),
    Function("hex", takes(TEXT_OR_INTEGER), results.of(_STRING), encodings.hex_text, ("HEX",)),
    Function("UNHEX", takes(TEXT), results.maybe(DataTypes.BYTES()), encodings.unhex, ("UNHEX",)),
)

__all__ = ["ARITHMETIC", "EXACT", "MILLISECONDS", "MONTHS", "_whole_type"]

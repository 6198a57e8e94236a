"""Arithmetic and mathematics with Java's rules: integers wrap around, division truncates, x % y has the sign of x."""

from __future__ import annotations

import math
import random
import uuid
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_DOWN, ROUND_FLOOR, ROUND_HALF_UP, Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.columns.kernels import decimal_columns
from penstock.columns.kernels.datum import (
    Datum,
    Invocation,
    Kernel,
    as_array,
    as_numpy,
    both_valid,
    cast_storage,
    from_numpy,
    per_value,
)
from penstock.columns.kernels.failure import ValueFailure
from penstock.columns.typesystem import decimals
from penstock.columns.typesystem.scalars import DecimalType


def _to_numbers(datum: Datum, arrow_type: pa.DataType) -> Datum:
    if pa.types.is_decimal(datum.type):
        return cast_storage(decimal_columns.as_doubles(datum), arrow_type)
    return cast_storage(datum, arrow_type)


def _operands(call: Invocation) -> list[Datum]:
    return [_to_numbers(argument, call.result) for argument in call.arguments]


def plus(call: Invocation) -> Datum:
    if isinstance(call.result_type, DecimalType):
        return decimal_columns.add(call.arguments[0], call.arguments[1], call.result_type)
    return pc.add(*_operands(call))


def minus(call: Invocation) -> Datum:
    if isinstance(call.result_type, DecimalType):
        return decimal_columns.add(call.arguments[0], call.arguments[1], call.result_type, sign=-1)
    return pc.subtract(*_operands(call))


def times(call: Invocation) -> Datum:
    if isinstance(call.result_type, DecimalType):
        return decimal_columns.multiply(call.arguments[0], call.arguments[1], call.result_type)
    return pc.multiply(*_operands(call))


def divide(call: Invocation) -> Datum:
    if isinstance(call.result_type, DecimalType):
        return decimal_columns.divide(call.arguments[0], call.arguments[1], call.result_type)
    if pa.types.is_floating(call.result):
        return pc.divide(*_operands(call))
    try:
        return pc.divide(*_operands(call))
    except pa.ArrowInvalid:
        raise ValueFailure("/ by zero: guard the division, for example with NULLIF(divisor, 0)") from None


def remainder(call: Invocation) -> Datum:
    if isinstance(call.result_type, DecimalType):
        return decimal_columns.remainder(call.arguments[0], call.arguments[1], call.result_type)
    wide = [cast_storage(argument, pa.int64()) for argument in call.arguments]
    left, left_valid = as_numpy(wide[0])
    right, right_valid = as_numpy(wide[1])
    left, right = np.broadcast_arrays(left, right)
    masks = [None if mask is None else np.broadcast_to(mask, left.shape) for mask in (left_valid, right_valid)]
    valid = both_valid(masks[0], masks[1])
    zero = (right == 0) if valid is None else (right == 0) & valid
    if zero.any():
        raise ValueFailure("/ by zero: guard the remainder, for example with NULLIF(divisor, 0)")
    rest = np.fmod(left, np.where(right == 0, 1, right))
    found = cast_storage(from_numpy(rest, valid, pa.int64()), call.result)
    return found[0] if all(isinstance(argument, pa.Scalar) for argument in call.arguments) else found


def unchanged(call: Invocation) -> Datum:
    return call.arguments[0]


def negate(call: Invocation) -> Datum:
    if isinstance(call.result_type, DecimalType):
        return pc.negate(call.arguments[0])
    if pa.types.is_duration(call.result):
        return pc.negate(call.arguments[0].cast(pa.int64())).cast(call.result)
    return pc.negate(call.arguments[0])


def absolute(call: Invocation) -> Datum:
    return pc.abs(call.arguments[0])


def sign(call: Invocation) -> Datum:
    argument = call.arguments[0]
    if isinstance(call.result_type, DecimalType):
        return decimal_columns.each(lambda value: Decimal((value > 0) - (value < 0)), argument, call.result_type)
    return cast_storage(pc.sign(argument), call.result)


def _doubles(datum: Datum) -> Datum:
    return _to_numbers(datum, pa.float64())


def of_doubles(function: Callable[..., Any]) -> Kernel:
    """A kernel from a numpy function of doubles; where it is not defined it gives NaN or infinity, as Java does."""

    def kernel(call: Invocation) -> Datum:
        columns = [as_numpy(_doubles(argument)) for argument in call.arguments]
        with np.errstate(all="ignore"):
            values = np.asarray(function(*(column for column, _ in columns)))
        valid = None
        for _, mask in columns:
            valid = both_valid(valid, None if mask is None else np.broadcast_to(mask, values.shape))
        found = from_numpy(values, valid, pa.float64())
        return found[0] if all(isinstance(argument, pa.Scalar) for argument in call.arguments) else found

    return kernel


def python_doubles(function: Callable[..., float]) -> Kernel:
    """For functions whose last digit differs between numpy and Java: Python's are those of the C library."""

    def guarded(*values: Any) -> float:
        try:
            return function(*(float(value) for value in values))
        except ValueError:
            return math.nan
        except OverflowError:
            return math.inf

    return per_value(guarded)


def _log(value: float) -> float:
    return -math.inf if value == 0 else math.log(value)


def square_root(values: Any) -> Any:
    return np.sqrt(values)


def natural_log(value: float) -> float:
    return _log(value)


def log_with_base(*values: float) -> float:
    return _log(values[0]) if len(values) == 1 else _log(values[1]) / _log(values[0])


def log10(value: float) -> float:
    return -math.inf if value == 0 else math.log10(value)


def log2(value: float) -> float:
    return _log(value) / math.log(2)


def cotangent(value: float) -> float:
    return 1.0 / math.tan(value)


def sinh(value: float) -> float:
    return math.sinh(value)


def power(base: float, exponent: float) -> float:
    if base == 0 and exponent < 0:  # where Python raises
        odd = exponent % 2 == 1
        return math.copysign(math.inf, base) if odd else math.inf
    return math.pow(base, exponent)


def degrees(value: float) -> float:
    return value * (180.0 / math.pi)


def radians(value: float) -> float:
    return math.radians(value)


def round_up(call: Invocation) -> Datum:
    return _to_whole(call, pc.ceil, ROUND_CEILING)


def round_down(call: Invocation) -> Datum:
    return _to_whole(call, pc.floor, ROUND_FLOOR)


def _to_whole(call: Invocation, floating: Callable[[Datum], Datum], rounding: str) -> Datum:
    argument = call.arguments[0]
    if pa.types.is_integer(argument.type):
        return argument
    if isinstance(call.result_type, DecimalType):
        return decimal_columns.each(lambda value: value.to_integral_value(rounding), argument, call.result_type)
    return floating(argument)


def round_half_up(call: Invocation) -> Datum:
    return _rounded(call, ROUND_HALF_UP)


def cut_off(call: Invocation) -> Datum:
    return _rounded(call, ROUND_DOWN)


def _rounded(call: Invocation, rounding: str) -> Datum:
    whole = pa.types.is_integer(call.result)
    decimal = isinstance(call.result_type, DecimalType)

    def rounded(value: Any, places: int = 0) -> Any:
        if isinstance(value, float) and not math.isfinite(value):
            return value
        exact = value if isinstance(value, Decimal) else Decimal(_shortest(value, call))
        step = Decimal(1).scaleb(-places)
        result = exact.quantize(step, rounding, decimal_columns._EXACT) if abs(places) < 60 else exact
        if decimal:
            assert isinstance(call.result_type, DecimalType)
            return decimals.fit(result, call.result_type, rounding)
        if whole:
            width = int(call.result.bit_width)
            return (int(result) + 2 ** (width - 1)) % 2**width - 2 ** (width - 1)
        return float(result) + 0.0  # 0.0, never -0.0

    return per_value(rounded)(call)


def _shortest(value: Any, call: Invocation) -> str:
    """The digits that a floating number shows, since Flink rounds those and not the binary value."""
    if isinstance(value, float) and pa.types.is_float32(call.result):
        return str(np.float32(value))
    return repr(value)


def greatest(call: Invocation) -> Datum:
    return _extreme(call, pc.max_element_wise)


def least(call: Invocation) -> Datum:
    return _extreme(call, pc.min_element_wise)


def _extreme(call: Invocation, function: Callable[..., Datum]) -> Datum:
    try:
        return function(*call.arguments, skip_nulls=False)
    except pa.ArrowNotImplementedError:
        choose = max if function is pc.max_element_wise else min
        return per_value(lambda *values: choose(values))(call)


def random_double(call: Invocation) -> Datum:
    return pa.array(_generator(call, 0).random() for _ in range(call.rows)) if call.arguments else _fresh(call)


def _fresh(call: Invocation) -> Datum:
    return pa.array(np.random.default_rng().random(call.rows))


def _generator(call: Invocation, place: int) -> random.Random:
    return random.Random(call.arguments[place].as_py())


def random_integer(call: Invocation) -> Datum:
    bounds = as_array(call.arguments[-1], call.rows).to_pylist()
    source = _generator(call, 0) if len(call.arguments) > 1 else random.Random()
    return pa.array([None if bound is None else source.randrange(bound) for bound in bounds], pa.int32())


def random_uuid(call: Invocation) -> Datum:
    return pa.array([str(uuid.uuid4()) for _ in range(call.rows)], pa.string())

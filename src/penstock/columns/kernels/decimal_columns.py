"""Arithmetic with decimals: on 64-bit whole numbers where the values are small enough, exactly otherwise."""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_DOWN, ROUND_HALF_UP, Context, Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from penstock.columns.kernels.datum import Datum, as_array, as_numpy, both_valid
from penstock.columns.kernels.failure import ValueFailure
from penstock.columns.typesystem.decimals import fit
from penstock.columns.typesystem.scalars import DecimalType

_EXACT = Context(prec=100, rounding=ROUND_HALF_UP)
_DIVISION = Context(prec=38, rounding=ROUND_HALF_UP)
_LIMIT = 2**62
_Ints = npt.NDArray[np.int64]
_Valid = npt.NDArray[np.bool_] | None


def unscaled(datum: Datum) -> tuple[_Ints, _Valid] | None:
    """The digits of decimals or integers as 64-bit numbers, or None when some do not fit."""
    array = as_array(datum, 1)
    if pa.types.is_integer(array.type):
        values, valid = as_numpy(array)
        return values.astype(np.int64), valid
    valid = None if array.null_count == 0 else pc.is_valid(array).to_numpy(zero_copy_only=False)
    words = np.frombuffer(array.buffers()[1], np.int64)[2 * array.offset : 2 * (array.offset + len(array))]
    low, high = words[0::2], words[1::2]
    fits = high == (low >> 63)
    if valid is not None:
        low = np.where(valid, low, 0)
        fits = fits | ~valid
    return (low, valid) if bool(fits.all()) else None


def from_unscaled(values: _Ints, valid: _Valid, result: DecimalType) -> pa.Array:
    """Digits back to decimals; what has more digits than the type becomes null, as in Flink."""
    bound = 10**result.precision
    if bound < 2**63:
        within = np.abs(values) < bound
        if not within.all():
            valid = within if valid is None else valid & within
    words = np.empty(2 * len(values), np.int64)
    words[0::2] = values
    words[1::2] = values >> 63
    bitmap = None if valid is None else pa.array(valid).buffers()[1]
    storage = pa.decimal128(result.precision, result.scale)
    return pa.Array.from_buffers(storage, len(values), [bitmap, pa.py_buffer(words)])


def _largest(values: _Ints) -> int:
    return int(np.abs(values.astype(np.float64)).max(initial=0)) + 1


def _scaled(values: _Ints, power: int) -> _Ints | None:
    factor = 10**power
    return values * np.int64(factor) if _largest(values) * factor < _LIMIT else None


def _scale_of(datum: Datum) -> int:
    return int(datum.type.scale) if pa.types.is_decimal(datum.type) else 0


def _broadcast(left: _Ints, right: _Ints) -> tuple[_Ints, _Ints]:
    one, other = np.broadcast_arrays(left, right)
    return one, other


def _validity(left: _Valid, right: _Valid, size: int) -> _Valid:
    stretched = [
        None if mask is None else (np.broadcast_to(mask, size) if len(mask) != size else mask) for mask in (left, right)
    ]
    return both_valid(stretched[0], stretched[1])


def _shape(result: pa.Array, left: Datum, right: Datum) -> Datum:
    return result[0] if isinstance(left, pa.Scalar) and isinstance(right, pa.Scalar) else result


def add(left: Datum, right: Datum, result: DecimalType, sign: int = 1) -> Datum:
    fast = _add_fast(left, right, result, sign)
    if fast is not None:
        return _shape(fast, left, right)
    operation = _EXACT.add if sign > 0 else _EXACT.subtract
    return _exactly(operation, left, right, result)


def _add_fast(left: Datum, right: Datum, result: DecimalType, sign: int) -> pa.Array | None:
    first, second = unscaled(left), unscaled(right)
    scale = max(_scale_of(left), _scale_of(right))
    if first is None or second is None or scale != result.scale:
        return None
    one, other = _scaled(first[0], scale - _scale_of(left)), _scaled(second[0], scale - _scale_of(right))
    if one is None or other is None:
        return None
    one, other = _broadcast(one, other)
    total = one + other if sign > 0 else one - other
    return from_unscaled(total, _validity(first[1], second[1], len(total)), result)


def multiply(left: Datum, right: Datum, result: DecimalType) -> Datum:
    first, second = unscaled(left), unscaled(right)
    exact_scale = _scale_of(left) + _scale_of(right)
    small = first is not None and second is not None and _largest(first[0]) * _largest(second[0]) < _LIMIT
    if small and exact_scale == result.scale and first is not None and second is not None:
        one, other = _broadcast(first[0], second[0])
        product = one * other
        return _shape(from_unscaled(product, _validity(first[1], second[1], len(product)), result), left, right)
    return _exactly(_EXACT.multiply, left, right, result)


def divide(left: Datum, right: Datum, result: DecimalType) -> Datum:
    """Rounded half up at the result's scale; a divisor of zero fails."""

    def quotient(one: Decimal, other: Decimal) -> Decimal:
        if other == 0:
            raise ValueFailure("Division by zero")
        return _DIVISION.divide(one, other)

    return _exactly(quotient, left, right, result)


def remainder(left: Datum, right: Datum, result: DecimalType) -> Datum:
    def rest(one: Decimal, other: Decimal) -> Decimal:
        if other == 0:
            raise ValueFailure("Division by zero")
        return _EXACT.remainder(one, other)

    return _exactly(rest, left, right, result)


def _exactly(operation: Callable[[Decimal, Decimal], Decimal], left: Datum, right: Datum, result: DecimalType) -> Datum:
    one, other = as_array(left, 1).to_pylist(), as_array(right, 1).to_pylist()
    if isinstance(left, pa.Scalar):
        one = one * len(other)
    elif isinstance(right, pa.Scalar):
        other = other * len(one)
    values = [
        None if a is None or b is None else fit(operation(Decimal(a), Decimal(b)), result)
        for a, b in zip(one, other, strict=True)
    ]
    return _shape(pa.array(values, pa.decimal128(result.precision, result.scale)), left, right)


def each(function: Callable[[Decimal], Decimal | None], datum: Datum, result: DecimalType) -> Datum:
    values = [None if value is None else fit(function(value), result) for value in as_array(datum, 1).to_pylist()]
    found = pa.array(values, pa.decimal128(result.precision, result.scale))
    return found[0] if isinstance(datum, pa.Scalar) else found


def rescale(datum: Datum, result: DecimalType) -> Datum:
    """Integers or decimals as decimals of another type: rounded half up, null where they do not fit."""
    digits = unscaled(datum)
    shift = result.scale - _scale_of(datum)
    if digits is not None and shift >= 0:
        scaled = _scaled(digits[0], shift)
        if scaled is not None:
            found = from_unscaled(scaled, digits[1], result)
            return found[0] if isinstance(datum, pa.Scalar) else found
    values = [None if value is None else fit(Decimal(value), result) for value in as_array(datum, 1).to_pylist()]
    slow = pa.array(values, pa.decimal128(result.precision, result.scale))
    return slow[0] if isinstance(datum, pa.Scalar) else slow


def whole_part(value: Decimal) -> int:
    return int(value.to_integral_value(ROUND_DOWN))


def as_doubles(datum: Datum) -> Datum:
    """The nearest doubles: exact digits are read as text, since dividing would round twice."""
    digits = unscaled(datum)
    if digits is not None and _scale_of(datum) == 0:
        return pc.cast(datum, pa.float64(), safe=False)
    values: list[Any] = [None if value is None else float(value) for value in as_array(datum, 1).to_pylist()]
    found = pa.array(values, pa.float64())
    return found[0] if isinstance(datum, pa.Scalar) else found

"""Numbers as Java writes them: 1.0, 1.0E7, NaN."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.columns.kernels.datum import Datum, as_array


def java_double(value: float) -> str:
    return _java_text(value, repr(value))


def java_float(value: float) -> str:
    return _java_text(value, str(np.float32(value)))


def _java_text(value: float, shortest: str) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0:
        return "-0.0" if math.copysign(1.0, value) < 0 else "0.0"
    sign, digit_tuple, last = Decimal(shortest).as_tuple()
    digits = "".join(map(str, digit_tuple))
    exponent = len(digits) + int(last) - 1
    digits = digits.rstrip("0") or "0"
    prefix = "-" if sign else ""
    if not 1e-3 <= abs(value) < 1e7:
        return f"{prefix}{digits[0]}.{digits[1:] or '0'}E{exponent}"
    if exponent < 0:
        return f"{prefix}0.{'0' * (-exponent - 1)}{digits}"
    whole = digits[: exponent + 1].ljust(exponent + 1, "0")
    return f"{prefix}{whole}.{digits[exponent + 1 :] or '0'}"


def floating_texts(datum: Datum) -> Datum:
    """Arrow's shortest digits where the two agree (but for `.0`), Java's form value by value elsewhere."""
    array = as_array(datum, 1)
    single = pa.types.is_float32(array.type)
    size = pc.abs(array)
    plain = pc.fill_null(pc.and_(pc.greater_equal(size, 1e-3), pc.less(size, 1e7)), False)
    texts = pc.cast(array, pa.string())
    texts = pc.if_else(pc.match_substring(texts, "."), texts, pc.binary_join_element_wise(texts, ".0", ""))
    odd = pc.and_(pc.is_valid(array), pc.or_(pc.invert(plain), pc.fill_null(pc.match_substring(texts, "e"), False)))
    if pc.any(odd).as_py():
        render = java_float if single else java_double
        replaced = [render(value) for value in pc.filter(array, odd).to_pylist()]
        texts = pc.replace_with_mask(texts, odd, pa.array(replaced, pa.string()))
    return texts[0] if isinstance(datum, pa.Scalar) else texts


def decimal_texts(datum: Datum) -> Datum:
    """Plain digits: Java's toPlainString, never an exponent."""
    array = as_array(datum, 1)
    texts = pc.cast(array, pa.string())
    odd = pc.fill_null(pc.match_substring(texts, "E"), False)
    if pc.any(odd).as_py():
        replaced = [format(value, "f") for value in pc.filter(array, odd).to_pylist()]
        texts = pc.replace_with_mask(texts, odd, pa.array(replaced, pa.string()))
    return texts[0] if isinstance(datum, pa.Scalar) else texts

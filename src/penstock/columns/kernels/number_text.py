"""Numbers as Java writes them: 1.0, 1.0E7, NaN."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.columns.kernels.datum import Datum, as_array
from penstock.common.text import java_floating_text


def java_double(value: float) -> str:
    return java_floating_text(value, repr(value))


def java_float(value: float) -> str:
    return java_floating_text(value, str(np.float32(value)))


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

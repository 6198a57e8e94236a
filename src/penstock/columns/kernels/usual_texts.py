"""Texts in their usual form as numbers and moments, a whole column at once.

Files and messages write nearly all values in one form: digits, or `2024-02-29 13:14:15.123`. Of these Arrow reads a
column in the time in which Python reads a few. Columns with any other text are left to the rules of CAST, one text at a
time: what Arrow would read in another way never reaches it.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.columns.kernels.text_buffers import text_bytes
from penstock.columns.typesystem import scalars
from penstock.columns.typesystem.arrow_mapping import to_arrow_type
from penstock.columns.typesystem.base import DataType, IntegralType

_SAFE_DIGITS = 18  # of 64 bits
_ZERO, _NINE = ord("0"), ord("9")
_DAY = len("2024-02-29")
_SECONDS = len("2024-02-29 13:14:15")
_WHOLE_UNITS = (0, 3, 6, 9)  # precisions that a unit of Arrow has


def read_usual(texts: pa.Array, target: DataType) -> pa.Array | None:
    """The values of a column of texts; None when the type or some text is not one of the usual ones."""
    try:
        if isinstance(target, IntegralType):
            return _integers(texts, target)
        if isinstance(target, scalars.TimestampType) and target.precision in _WHOLE_UNITS:
            return _timestamps(texts, target)
    except pa.ArrowInvalid:
        return None  # out of range, or the 30th of February
    return None


def _integers(texts: pa.Array, target: DataType) -> pa.Array | None:
    ends, content = text_bytes(texts)
    lengths = np.diff(ends)
    if lengths.max(initial=0) > _SAFE_DIGITS:
        return None
    content = content[ends[0] : ends[-1]]
    digits = content.min(initial=_ZERO) >= _ZERO and content.max(initial=_ZERO) <= _NINE
    plain = digits and not texts.null_count and lengths.all()
    if not plain and not _all(pc.match_substring_regex(texts, "^-?[0-9]+$")):
        return None
    return pc.cast(texts, to_arrow_type(target))


def _timestamps(texts: pa.Array, target: scalars.TimestampType) -> pa.Array | None:
    """Of texts as long as `2024-02-29 13:14:15`, with its space, Arrow takes only those, with a fraction that fits.

    What it takes in other forms is shorter (13:14), or has a T in place of the space. Years before 1678 and after 2261
    have no nanoseconds: it says so.
    """
    ends, content = text_bytes(texts.drop_null() if texts.null_count else texts)
    if len(ends) > 1 and (np.diff(ends).min() < _SECONDS or (content[ends[:-1] + _DAY] != ord(" ")).any()):
        return None
    return pc.cast(texts, to_arrow_type(target))


def _all(answers: pa.Array) -> bool:
    return bool(pc.all(answers, min_count=0).as_py())

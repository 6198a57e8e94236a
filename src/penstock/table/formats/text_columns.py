"""Columns of texts as columns of other types, and back: what CSV and JSON share."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Context, Decimal
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.columns.kernels.cast_to_text import texts_of
from penstock.columns.kernels.casting import cast
from penstock.columns.kernels.datum import Session, as_array
from penstock.columns.kernels.decimal_columns import unscaled
from penstock.columns.kernels.usual_texts import read_usual
from penstock.columns.typesystem import families, scalars
from penstock.columns.typesystem.base import DataType
from penstock.common.errors import JobExecutionError
from penstock.table.logical.nodes import Field

_FRACTION_DIGITS = 4
_SMALLEST = -(2**63)  # has no absolute value of 64 bits
_EXACT = Context(prec=100)  # a decimal has 38 digits at most
_TEXT = scalars.VarCharType(scalars.MAX_LENGTH)


def from_texts(texts: pa.Array, field: Field, zone: str, lenient: bool) -> pa.Array:
    """The values of a column; where a text is none, null if that is wanted, else an error that shows it."""
    if families.is_text(field.data_type):
        return texts
    usual = read_usual(texts, field.data_type)
    if usual is not None:
        return usual
    trimmed = pc.utf8_trim_whitespace(texts)
    if isinstance(field.data_type, scalars.LocalZonedTimestampType):
        # As Flink's formats write them: in UTC, with a Z.
        trimmed, zone = pc.replace_substring_regex(trimmed, "Z$", ""), "UTC"
    present = pc.if_else(pc.equal(trimmed, ""), pa.scalar(None, pa.string()), trimmed)
    try:
        found = cast(present, _TEXT, field.data_type.nullable(), Session(zone), lenient)
    except Exception as error:
        raise JobExecutionError(
            f"Column {field.name!r} is {field.data_type.as_summary_string()}, and a text that was read is not: {error}"
        ) from error
    return as_array(found, len(texts))


def to_texts(column: pa.Array, data_type: DataType, zone: str) -> pa.Array:
    """Moments on the time line are shown in UTC."""
    shown = "UTC" if isinstance(data_type, scalars.LocalZonedTimestampType) else zone
    return as_array(texts_of(column, data_type, shown), len(column))


def timestamp_texts(column: pa.Array, data_type: DataType) -> pa.Array:
    """As Flink's formats write them: without zeros at the end of the fraction, on the time line with a Z."""
    texts = to_texts(column, data_type, "UTC")
    ticks = column.view(pa.int64()).fill_null(1).to_numpy(zero_copy_only=False)
    shorter = ticks % 10 == 0
    if shorter.any() and column.type.unit != "s":
        found = pc.replace_substring_regex(texts.filter(pa.array(shorter)), r"\.?0+$", "")
        texts = pc.replace_with_mask(texts, pa.array(shorter), found)
    return joined_texts([texts, "Z"]) if isinstance(data_type, scalars.LocalZonedTimestampType) else texts


def number_texts(column: pa.Array, data_type: DataType, plain: bool) -> pa.Array:
    """Decimals as Flink's formats write them: without zeros at the end, and with an exponent unless plain is wanted."""
    short = _short_fractions(column, plain)
    if short is not None:
        return short
    texts = to_texts(column, data_type, "UTC")
    # Only those that end with a zero, or are very small, are written in another way.
    special = pc.match_substring_regex(texts, r"[0-9.]0$|^-?0\.000000")
    if not pc.any(special).as_py():
        return texts
    return _rewritten(texts, special, plain)


def _rewritten(texts: pa.Array, special: pa.Array, plain: bool) -> pa.Array:
    numbers = (_EXACT.normalize(Decimal(text)) for text in texts.filter(special).to_pylist())
    written = [format(number, "f") if plain else str(number) for number in numbers]
    return pc.replace_with_mask(texts, special, pa.array(written, pa.string()))


def _short_fractions(column: pa.Array, plain: bool) -> pa.Array | None:
    """Of decimals with few digits after the point and 18 at most: these digits are looked up in a list of all."""
    scale = column.type.scale
    digits = unscaled(column) if scale <= _FRACTION_DIGITS else None
    if digits is None or column.null_count or not len(column) or digits[0].min() == _SMALLEST:
        return None
    whole, fraction = np.divmod(np.abs(digits[0]), 10**scale)
    parts = [pc.cast(pa.array(whole), pa.string()), _fractions(scale).take(pa.array(fraction))]
    negative = digits[0] < 0
    if negative.any():
        parts.insert(0, pc.if_else(pa.array(negative), "-", ""))
    texts = joined_texts(parts)
    # Only whole numbers that end with a zero are written with an exponent.
    round_ones = (fraction == 0) & (whole % 10 == 0) & (whole != 0)
    return texts if plain or not round_ones.any() else _rewritten(texts, pa.array(round_ones), plain)


@cache
def _fractions(scale: int) -> pa.Array:
    shown = (f".{number:0{scale}}".rstrip("0") if scale else "" for number in range(10**scale))
    return pa.array(["" if text == "." else text for text in shown], pa.string())


# -- lines made of columns -------------------------------------------------------------------------------------------


def joined_texts(parts: Sequence[pa.Array | str]) -> pa.Array:
    """For each row the texts of all columns one after the other; null where one is. Some part is a column."""
    merged: list[pa.Array | str] = []
    for part in parts:
        if isinstance(part, str) and merged and isinstance(merged[-1], str):
            merged[-1] += part
        elif not isinstance(part, str) or part:
            merged.append(part)
    return pc.binary_join_element_wise(*merged, "")


def content_of(lines: pa.Array) -> bytes | memoryview:
    """All texts of a column one after the other, not copied."""
    if not len(lines):
        return b""
    _, offsets, content = lines.buffers()
    ends = np.frombuffer(offsets, np.int32)[lines.offset : lines.offset + len(lines) + 1]
    return memoryview(content).cast("B")[int(ends[0]) : int(ends[-1])]


def messages_of(lines: pa.Array) -> list[bytes]:
    found: list[bytes] = lines.cast(pa.binary()).to_pylist()
    return found

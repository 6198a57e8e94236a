"""Every value as text, in the form that CAST(.. AS STRING) and printed tables show."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from penstock.columns.kernels.bitmaps import to_text as bitmap_text
from penstock.columns.kernels.datum import Datum, as_array, plain_values
from penstock.columns.kernels.moment_text import interval_text, moment_texts
from penstock.columns.kernels.number_text import decimal_texts, floating_texts
from penstock.columns.typesystem import families, scalars
from penstock.columns.typesystem.base import DataType
from penstock.columns.typesystem.nested import ArrayType, MapType, MultisetType, RowType, StructuredType


def texts_of(datum: Datum, data_type: DataType, zone: str) -> Datum:
    """A column of texts, null where the value is null."""
    if families.is_text(data_type) or isinstance(data_type, scalars.VariantType):
        return datum
    if families.is_boolean(data_type):
        return pc.if_else(datum, "TRUE", "FALSE")
    if families.is_integer(data_type):
        return pc.cast(datum, pa.string())
    if families.is_floating(data_type):
        return floating_texts(datum)
    if isinstance(data_type, scalars.DecimalType):
        return decimal_texts(datum)
    if families.is_moment(data_type):
        return moment_texts(datum, data_type, zone)
    texts = _each(as_array(datum, 1), data_type, zone)
    return texts[0] if isinstance(datum, pa.Scalar) else texts


def _each(array: pa.Array, data_type: DataType, zone: str) -> pa.Array:
    if families.is_interval(data_type):
        values = plain_values(array, data_type)
        return pa.array([None if value is None else interval_text(value, data_type) for value in values], pa.string())
    if isinstance(data_type, scalars.BitmapType):
        return pa.array([None if value is None else bitmap_text(value) for value in array.to_pylist()], pa.string())
    if families.is_bytes(data_type):
        return pa.array([None if raw is None else raw.decode("utf-8", "replace") for raw in array.to_pylist()])
    if isinstance(data_type, (MapType, MultisetType)):
        return _map_texts(array, data_type, zone)
    if isinstance(data_type, ArrayType):
        elements = _shown(array.values, data_type.element_type, zone)
        return _lists(array, elements, "[{}]")
    if isinstance(data_type, RowType):
        return _row_texts(array, data_type, zone)
    return pa.array([None if value is None else str(value) for value in array.to_pylist()], pa.string())


def _shown(array: pa.Array, data_type: DataType, zone: str) -> list[str]:
    """Texts of what is inside another value, where null is written out."""
    texts = as_array(texts_of(array, data_type, zone), len(array)).to_pylist()
    return ["NULL" if text is None else text for text in texts]


def _lists(array: pa.Array, elements: list[str], form: str) -> pa.Array:
    offsets: list[int] = array.offsets.to_pylist()
    present: list[bool] = pc.is_valid(array).to_pylist()
    return pa.array(
        [
            form.format(", ".join(elements[offsets[place] : offsets[place + 1]])) if present[place] else None
            for place in range(len(array))
        ],
        pa.string(),
    )


def _map_texts(array: pa.Array, data_type: Any, zone: str) -> pa.Array:
    if isinstance(data_type, MapType):
        key_type, value_type = data_type.key_type, data_type.value_type
    else:
        key_type, value_type = data_type.element_type, scalars.IntType()
    pairs = zip(_shown(array.keys, key_type, zone), _shown(array.items, value_type, zone), strict=True)
    return _lists(array, [f"{key}={value}" for key, value in pairs], "{{{}}}")


def _row_texts(array: pa.Array, data_type: RowType, zone: str) -> pa.Array:
    columns = [_shown(array.field(place), part, zone) for place, part in enumerate(data_type.children())]
    if isinstance(data_type, StructuredType):
        columns = [[f"{name}={text}" for text in column] for name, column in zip(data_type.names, columns, strict=True)]
    rows = zip(*columns, strict=True) if columns else [()] * len(array)
    present = pc.is_valid(array).to_pylist()
    shown = [f"({', '.join(row)})" if here else None for row, here in zip(rows, present, strict=True)]
    return pa.array(shown, pa.string())

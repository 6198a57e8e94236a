"""Rows of columns as Python values, for savepoints and for telling rows apart."""

from __future__ import annotations

from typing import Any

import pyarrow as pa


def rows_of(columns: list[pa.Array]) -> list[tuple[Any, ...]]:
    """Tuples that are equal exactly if the rows are: moments and fractions as whole numbers."""
    return list(zip(*(_values(column) for column in columns), strict=True)) if columns else []


def _values(column: pa.Array) -> list[Any]:
    integers = _as_integers(column.type)
    if integers is not None:
        return column.view(integers).to_pylist()  # type: ignore[no-any-return]
    values: list[Any] = column.to_pylist()
    return list(map(_frozen, values)) if pa.types.is_nested(column.type) else values


def _as_integers(arrow_type: pa.DataType) -> pa.DataType | None:
    if pa.types.is_temporal(arrow_type) or pa.types.is_floating(arrow_type):
        return pa.int32() if arrow_type.bit_width == 32 else pa.int64()
    return None


def _frozen(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_frozen(item) for item in value)
    if isinstance(value, dict):
        return tuple((name, _frozen(item)) for name, item in value.items())
    return value


def columns_of_rows(rows: tuple[tuple[Any, ...], ...], schema: pa.Schema) -> list[pa.Array]:
    """The inverse of rows_of()."""
    arrays = []
    for values, column in zip(zip(*rows, strict=True), schema, strict=True):
        integers = _as_integers(column.type)
        if integers is not None:
            arrays.append(pa.array(values, integers).view(column.type))
        else:
            arrays.append(pa.array([_thawed(value, column.type) for value in values], column.type))
    return arrays


def _thawed(value: Any, arrow_type: pa.DataType) -> Any:
    if value is None or not pa.types.is_nested(arrow_type):
        return value
    if pa.types.is_struct(arrow_type):
        return {name: _thawed(item, arrow_type.field(name).type) for name, item in value}
    if pa.types.is_map(arrow_type):
        return [(_thawed(key, arrow_type.key_type), _thawed(item, arrow_type.item_type)) for key, item in value]
    return [_thawed(item, arrow_type.value_type) for item in value]

"""Functions of arrays, maps and rows."""

from __future__ import annotations

from functools import cmp_to_key
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from penstock.columns.kernels.datum import Datum, Invocation, _freeze, as_array, is_constant, per_value
from penstock.columns.kernels.failure import ValueFailure
from penstock.columns.typesystem.nested import MapType, MultisetType, RowType


def make_array(call: Invocation) -> Datum:
    return per_value(lambda *values: list(values), nulls=True)(call)


def make_map(call: Invocation) -> Datum:
    return per_value(lambda *values: dict(zip(map(_freeze, values[0::2]), values[1::2], strict=True)), nulls=True)(call)


def make_row(call: Invocation) -> Datum:
    if all(is_constant(argument) for argument in call.arguments):
        return per_value(lambda *values: tuple(values), nulls=True)(call)
    columns = [as_array(argument, call.rows) for argument in call.arguments]
    return pa.StructArray.from_arrays(columns, fields=list(call.result))


def field_of(call: Invocation) -> Datum:
    """A field of a row; of a row that is null it is null."""
    array = as_array(call.arguments[0], 1)
    found = array.flatten()[call.option("index")]
    return found[0] if is_constant(call.arguments[0]) else found


def element_at(call: Invocation) -> Datum:
    if isinstance(call.types[0], (MapType, MultisetType)):
        return per_value(lambda entries, key: entries.get(_freeze(key)))(call)
    return per_value(_element_at)(call)


def _element_at(values: list[Any], index: int) -> Any:
    if index < 1:
        raise ValueFailure(f"Elements of arrays count from 1, but {index} was asked for")
    return values[index - 1] if index <= len(values) else None


def cardinality(call: Invocation) -> Datum:
    if isinstance(call.types[0], (MapType, MultisetType)):
        return per_value(lambda entries: len(entries))(call)
    return pc.cast(pc.list_value_length(call.arguments[0]), pa.int32())


def _only(values: list[Any]) -> Any:
    if len(values) > 1:
        raise ValueFailure("Array has more than one element")
    return values[0] if values else None


only_element = per_value(_only)


def _same(left: Any, right: Any) -> bool:
    return left is None if right is None else left is not None and _freeze(left) == _freeze(right)


array_append = per_value(lambda values, item: None if values is None else [*values, item], nulls=True)
array_prepend = per_value(lambda values, item: None if values is None else [item, *values], nulls=True)
array_contains = per_value(
    lambda values, item: None if values is None else any(_same(value, item) for value in values), nulls=True
)
array_remove = per_value(
    lambda values, item: None if values is None else [value for value in values if not _same(value, item)], nulls=True
)


def _distinct(values: list[Any]) -> list[Any]:
    seen: dict[Any, Any] = {}
    for value in values:
        seen.setdefault(_freeze(value), value)
    return list(seen.values())


array_distinct = per_value(_distinct)


def _array_position(values: list[Any], item: Any) -> int:
    return next((place for place, value in enumerate(values, 1) if _same(value, item)), 0)


array_position = per_value(_array_position)
array_reverse = per_value(lambda values: values[::-1])


def _slice(values: list[Any], start: int, end: int | None = None) -> list[Any]:
    size = len(values)
    first = size + start + 1 if start < 0 else max(start, 1)
    last = size if end is None else size + end + 1 if end < 0 else min(max(end, 1), size)
    return values[max(first, 1) - 1 : last] if first <= last else []


array_slice = per_value(_slice)


def _compare(left: Any, right: Any) -> int:
    return int(left > right) - int(left < right)


def _sort(values: list[Any], ascending: bool = True, nulls_first: bool | None = None) -> list[Any]:
    first = ascending if nulls_first is None else nulls_first
    present = sorted((value for value in values if value is not None), key=cmp_to_key(_compare), reverse=not ascending)
    missing = [None] * (len(values) - len(present))
    return missing + present if first else present + missing


array_sort = per_value(_sort)
array_union = per_value(lambda left, right: _distinct([*left, *right]))
array_concat = per_value(lambda *arrays: [value for array in arrays for value in array])
array_max = per_value(lambda values: max((value for value in values if value is not None), default=None))
array_min = per_value(lambda values: min((value for value in values if value is not None), default=None))


def _join(values: list[Any], delimiter: str, replacement: str | None = None) -> str:
    shown = [replacement if value is None else value for value in values]
    return delimiter.join(text for text in shown if text is not None)


array_join = per_value(_join)


def _except(left: list[Any], right: list[Any]) -> list[Any]:
    gone = {_freeze(value) for value in right}
    return [value for value in _distinct(left) if _freeze(value) not in gone]


def _intersect(left: list[Any], right: list[Any]) -> list[Any]:
    both = {_freeze(value) for value in right}
    return [value for value in _distinct(left) if _freeze(value) in both]


array_except, array_intersect = per_value(_except), per_value(_intersect)
map_keys = per_value(lambda entries: list(entries))
map_values = per_value(lambda entries: list(entries.values()))
map_entries = per_value(lambda entries: list(entries.items()))


def _from_arrays(keys: list[Any], values: list[Any]) -> dict[Any, Any]:
    if len(keys) != len(values):
        raise ValueFailure(f"MAP_FROM_ARRAYS: {len(keys)} keys but {len(values)} values")
    return dict(zip(map(_freeze, keys), values, strict=True))


map_from_arrays = per_value(_from_arrays)
map_union = per_value(lambda *maps: {key: value for entries in maps for key, value in entries.items()})


def object_of(call: Invocation) -> Datum:
    return per_value(lambda *values: tuple(values[2::2]), nulls=True)(call)


def object_update(call: Invocation) -> Datum:
    row_type = call.types[0]
    assert isinstance(row_type, RowType)
    names = row_type.names

    def updated(row: Any, *pairs: Any) -> Any:
        if row is None:
            return None
        values = dict(zip(names, row, strict=True)) | dict(zip(pairs[0::2], pairs[1::2], strict=True))
        return tuple(values[name] for name in names)

    return per_value(updated, nulls=True)(call)

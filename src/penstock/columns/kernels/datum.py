"""Arguments and results of kernels: a column, or one value that stands for a column of equal values."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from penstock.columns.kernels.failure import ValueFailure
from penstock.columns.typesystem import families
from penstock.columns.typesystem.arrow_mapping import to_arrow_type
from penstock.columns.typesystem.base import DataType
from penstock.columns.typesystem.nested import ArrayType, MapType, MultisetType, RowType

# pyarrow has no types of its own for mypy: an Array, or a Scalar for a constant.
Datum = Any


@dataclass(frozen=True)
class Session:
    """What expressions ask about the session: its zone, its clock, and where it is in the catalog."""

    zone: str = "UTC"
    now_micros: int = 0
    database: str = "default_database"
    watermark_millis: int | None = None  # of the operator that asks; None: it does not know

    @staticmethod
    def at(moment: datetime.datetime, zone: str = "UTC") -> Session:
        epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
        return Session(zone, (moment - epoch) // datetime.timedelta(microseconds=1))


@dataclass(frozen=True)
class Invocation:
    """One call of a kernel on one batch."""

    arguments: Sequence[Datum]
    types: Sequence[DataType]
    result_type: DataType
    rows: int
    session: Session = field(default_factory=Session)
    options: tuple[tuple[str, Any], ...] = ()

    def option(self, name: str, default: Any = None) -> Any:
        return dict(self.options).get(name, default)

    @property
    def result(self) -> pa.DataType:
        return to_arrow_type(self.result_type)


Kernel = Callable[[Invocation], Datum]


def is_constant(datum: Datum) -> bool:
    return isinstance(datum, pa.Scalar)


def as_array(datum: Datum, rows: int) -> pa.Array:
    if isinstance(datum, pa.Scalar):
        return pa.repeat(datum, rows) if datum.is_valid else pa.nulls(rows, datum.type)
    return datum.combine_chunks() if isinstance(datum, pa.ChunkedArray) else datum


def as_numpy(datum: Datum) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_] | None]:
    """The values with something in place of nulls, and where they are valid (None: everywhere)."""
    array = as_array(datum, 1)
    if array.null_count == 0:
        return array.to_numpy(zero_copy_only=False), None
    valid = pc.is_valid(array).to_numpy(zero_copy_only=False)
    filled = pc.fill_null(array, pa.scalar(0, array.type) if not pa.types.is_boolean(array.type) else False)
    return filled.to_numpy(zero_copy_only=False), valid


def from_numpy(values: npt.NDArray[Any], valid: npt.NDArray[np.bool_] | None, arrow_type: pa.DataType) -> pa.Array:
    return pa.array(values, arrow_type, mask=None if valid is None else ~valid, safe=False)


def both_valid(left: npt.NDArray[np.bool_] | None, right: npt.NDArray[np.bool_] | None) -> npt.NDArray[np.bool_] | None:
    if left is None or right is None:
        return right if left is None else left
    return left & right


def plain_values(datum: Datum, data_type: DataType) -> list[Any]:
    """Python values: moments and intervals as whole numbers, maps as dicts, rows as tuples."""
    array = as_array(datum, 1)
    if families.is_moment(data_type) or families.is_interval(data_type):
        return _whole_numbers(array)
    if isinstance(data_type, (MultisetType, MapType)):
        return _map_values(array, data_type)
    if isinstance(data_type, ArrayType):
        return _list_values(array, data_type.element_type)
    if isinstance(data_type, RowType):
        columns = [plain_values(array.field(place), part) for place, part in enumerate(data_type.children())]
        rows = list(zip(*columns, strict=True)) if columns else [()] * len(array)
        return [row if present else None for row, present in zip(rows, _presence(array), strict=True)]
    return list(array.to_pylist())


def _whole_numbers(array: pa.Array) -> list[Any]:
    width = pa.int32() if array.type.bit_width == 32 else pa.int64()
    return list(array.view(width).to_pylist()) if array.type != width else list(array.to_pylist())


def _presence(array: pa.Array) -> list[bool]:
    return list(pc.is_valid(array).to_pylist())


def _list_values(array: pa.Array, element_type: DataType) -> list[Any]:
    offsets = array.offsets.to_pylist()
    inner = plain_values(array.values, element_type)
    present = _presence(array)
    return [inner[offsets[place] : offsets[place + 1]] if present[place] else None for place in range(len(array))]


def _map_values(array: pa.Array, data_type: DataType) -> list[Any]:
    if isinstance(data_type, MapType):
        key_type, value_type = data_type.key_type, data_type.value_type
        items = plain_values(array.items, value_type)
    else:
        assert isinstance(data_type, MultisetType)
        key_type = data_type.element_type
        items = array.items.to_pylist()
    keys = [_hashable(key) for key in plain_values(array.keys, key_type)]
    offsets = array.offsets.to_pylist()
    present = _presence(array)
    return [
        dict(zip(keys[offsets[place] : offsets[place + 1]], items[offsets[place] : offsets[place + 1]], strict=True))
        if present[place]
        else None
        for place in range(len(array))
    ]


def _hashable(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def from_plain(values: Iterable[Any], data_type: DataType) -> pa.Array:
    """The column of Python values as plain_values gives them."""
    arrow_type = to_arrow_type(data_type)
    if not data_type.children():
        return pa.array(values, arrow_type)
    return pa.array([_arrow_form(value, data_type) for value in values], arrow_type)


def _arrow_form(value: Any, data_type: DataType) -> Any:
    if value is None:
        return None
    if isinstance(data_type, MultisetType):
        return [(_arrow_form(key, data_type.element_type), count) for key, count in value.items()]
    if isinstance(data_type, ArrayType):
        return [_arrow_form(item, data_type.element_type) for item in value]
    if isinstance(data_type, MapType):
        key_type, value_type = data_type.key_type, data_type.value_type
        if None in value:
            raise ValueFailure("A map cannot have NULL as a key: filter such rows, or use COALESCE for the key.")
        return [(_arrow_form(key, key_type), _arrow_form(item, value_type)) for key, item in value.items()]
    if isinstance(data_type, RowType):
        parts = zip(data_type.names, data_type.children(), value, strict=True)
        return {name: _arrow_form(item, part) for name, part, item in parts}
    return value


def constant(value: Any, data_type: DataType) -> pa.Scalar:
    """A value as plain_values gives it, standing for a column."""
    return from_plain([value], data_type)[0]


def per_value(function: Callable[..., Any], nulls: bool = False) -> Kernel:
    """A kernel from a function of Python values, called once for each distinct combination of arguments.

    A null among the arguments gives null, unless the function wants to see nulls.
    """

    def kernel(call: Invocation) -> Datum:
        extra = {"call": call} if _wants_call(function) else {}
        varying = [place for place, datum in enumerate(call.arguments) if not is_constant(datum)]
        columns = [plain_values(datum, kind) for datum, kind in zip(call.arguments, call.types, strict=True)]
        if not varying:
            values = [column[0] for column in columns]
            missing = not nulls and any(value is None for value in values)
            return constant(None if missing else function(*values, **extra), call.result_type)
        known: dict[Any, Any] = {}
        cells = [
            columns[place] if place in varying else [columns[place][0]] * call.rows for place in range(len(columns))
        ]
        results = []
        for row in zip(*cells, strict=True):
            key = _memo_key(row)
            found = known.get(key, known)
            if found is known:
                missing = not nulls and any(value is None for value in row)
                found = known[key] = None if missing else function(*row, **extra)
            results.append(found)
        return from_plain(results, call.result_type)

    return kernel


def _wants_call(function: Callable[..., Any]) -> bool:
    code = getattr(function, "__code__", None)
    return code is not None and "call" in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def _memo_key(values: Sequence[Any]) -> Any:
    # 1, 1.0 and True are equal keys but not the same argument; a column has one type, so that this suffices.
    return tuple(_freeze(value) for value in values)


def _freeze(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_freeze(item) for item in value)
    if isinstance(value, dict):
        return tuple((key, _freeze(item)) for key, item in value.items())
    if isinstance(value, tuple):
        return tuple(_freeze(item) for item in value)
    return value


def cast_storage(datum: Datum, arrow_type: pa.DataType) -> Datum:
    return datum if datum.type == arrow_type else pc.cast(datum, arrow_type, safe=False)

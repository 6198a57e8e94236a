"""Applies a declared type to the values that cross a task boundary, as Flink's serializers do."""

from __future__ import annotations

import datetime
import math
import struct
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Any

from penstock.common.time import Instant
from penstock.common.typeinfo import (
    BasicType,
    BasicTypeInfo,
    DateTypeInfo,
    ExternalTypeInfo,
    LocalTimeTypeInfo,
    MapTypeInfo,
    PickledBytesTypeInfo,
    PrimitiveArrayTypeInfo,
    RowTypeInfo,
    TimestampTypeInfo,
    TimeTypeInfo,
    TupleTypeInfo,
    TypeInformation,
    _ElementsTypeInfo,
)
from penstock.common.types import Row
from penstock.runtime.table.codec import TableCodec
from penstock.runtime.table.row_type import TableRowType

Coercer = Callable[[Any], Any]

_SHOWN_CHARACTERS = 80


class _Located:
    """The text of a refused value; containers on the way up put their part of the path in front."""

    def __init__(self, value: Any, declared: TypeInformation, reason: str) -> None:
        shown = repr(value)
        if len(shown) > _SHOWN_CHARACTERS:
            shown = shown[: _SHOWN_CHARACTERS - 3] + "..."
        self._said = f"{shown} ({type(value).__name__}) is no value of the declared type {declared!r}: {reason}"
        self._path: list[str] = []

    def inside(self, part: str) -> None:
        self._path.insert(0, part)

    def __str__(self) -> str:
        return f"{', '.join(self._path)}: {self._said}" if self._path else self._said


class CoercionTypeError(_Located, TypeError):
    """A value of a Python type that the declared type does not take."""

    def __reduce__(self) -> tuple[type[TypeError], tuple[str]]:
        return TypeError, (str(self),)  # the value itself may be what cannot be pickled


class CoercionValueError(_Located, ValueError):
    """A value of the right Python type that the declared type cannot hold."""

    def __reduce__(self) -> tuple[type[ValueError], tuple[str]]:
        return ValueError, (str(self),)


_ERRORS = (CoercionTypeError, CoercionValueError)


def coercer(type_info: TypeInformation) -> Coercer | None:
    """The function that applies the type to one value; None when the type takes every value as it is."""
    if isinstance(type_info, PickledBytesTypeInfo):
        return None
    if isinstance(type_info, ExternalTypeInfo):
        return coercer(type_info.type_info)
    if isinstance(type_info, TableRowType):
        return _table_row_coercer(type_info)
    if isinstance(type_info, BasicTypeInfo):
        return _BASIC[type_info.basic_type](type_info)
    if isinstance(type_info, TupleTypeInfo):
        return _tuple_coercer(type_info)
    if isinstance(type_info, RowTypeInfo):
        return _row_coercer(type_info)
    if isinstance(type_info, PrimitiveArrayTypeInfo):
        return _bytes_coercer(type_info) if _holds_bytes(type_info) else _list_coercer(type_info, nullable=False)
    if isinstance(type_info, _ElementsTypeInfo):
        return _list_coercer(type_info, nullable=True)
    if isinstance(type_info, MapTypeInfo):
        return _map_coercer(type_info)
    if isinstance(type_info, LocalTimeTypeInfo):
        return _TIMES[type_info._time_type](type_info)
    if isinstance(type_info, DateTypeInfo):
        return _date_coercer(type_info)
    if isinstance(type_info, TimeTypeInfo):
        return _time_coercer(type_info)
    if isinstance(type_info, TimestampTypeInfo):
        return _timestamp_coercer(type_info)
    raise TypeError(f"No values of type {type_info!r} can cross a task boundary; use a type made by Types.")


def _table_row_coercer(type_info: TableRowType) -> Coercer:
    codec = TableCodec(type_info)
    return lambda row: codec.decode(codec.encode([row]))[0]


def _holds_bytes(type_info: PrimitiveArrayTypeInfo) -> bool:
    element = type_info.element_type
    return isinstance(element, BasicTypeInfo) and element.basic_type is BasicType.BYTE


def _to_int(value: Any, declared: TypeInformation) -> int:
    if isinstance(value, (str, bytes, bytearray)) or not hasattr(value, "__int__"):
        raise CoercionTypeError(value, declared, "it takes numbers")
    try:
        return int(value)
    except (ValueError, OverflowError, TypeError) as error:
        raise CoercionValueError(value, declared, str(error)) from None


def _bounded_int(bits: int) -> Callable[[TypeInformation], Coercer]:
    lowest, highest = -(1 << bits - 1), (1 << bits - 1) - 1

    def make(declared: TypeInformation) -> Coercer:
        def coerce(value: Any) -> Any:
            if type(value) is int and lowest <= value <= highest:
                return value
            if value is None:
                return None
            number = _to_int(value, declared)
            if not lowest <= number <= highest:
                raise CoercionValueError(value, declared, f"it holds {lowest} to {highest}")
            return number

        return coerce

    return make


def _big_int(declared: TypeInformation) -> Coercer:
    def coerce(value: Any) -> Any:
        return value if type(value) is int or value is None else _to_int(value, declared)

    return coerce


def _to_float(value: Any, declared: TypeInformation) -> float:
    if not hasattr(value, "__float__") and not hasattr(value, "__index__"):
        raise CoercionTypeError(value, declared, "it takes numbers")
    try:
        return float(value)
    except (ValueError, OverflowError, TypeError) as error:
        raise CoercionValueError(value, declared, str(error)) from None


def _double(declared: TypeInformation) -> Coercer:
    def coerce(value: Any) -> Any:
        return value if type(value) is float or value is None else _to_float(value, declared)

    return coerce


_FLOAT32 = struct.Struct("f")


def _float(declared: TypeInformation) -> Coercer:
    pack, unpack = _FLOAT32.pack, _FLOAT32.unpack

    def coerce(value: Any) -> Any:
        if value is None:
            return None
        number = value if type(value) is float else _to_float(value, declared)
        try:
            return unpack(pack(number))[0]
        except OverflowError:
            return math.copysign(math.inf, number)

    return coerce


def _boolean(declared: TypeInformation) -> Coercer:
    def coerce(value: Any) -> Any:
        if value is True or value is False or value is None:
            return value
        if isinstance(value, (str, bytes, bytearray)) or not hasattr(value, "__int__"):
            raise CoercionTypeError(value, declared, "it takes True, False and numbers")
        return bool(value)

    return coerce


def _string(declared: TypeInformation) -> Coercer:
    def coerce(value: Any) -> Any:
        if type(value) is str and value.isascii() or value is None:
            return value
        if not isinstance(value, str):
            raise CoercionTypeError(value, declared, "it takes str")
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise CoercionValueError(value, declared, f"it is no valid Unicode text ({error.reason})") from None
        return value if type(value) is str else str.__str__(value)

    return coerce


def _char(declared: TypeInformation) -> Coercer:
    as_string = _string(declared)

    def coerce(value: Any) -> Any:
        text = as_string(value)
        if text is not None and len(text) != 1:
            raise CoercionValueError(value, declared, "it takes one character")
        return text

    return coerce


def _big_dec(declared: TypeInformation) -> Coercer:
    def coerce(value: Any) -> Any:
        if type(value) is Decimal or value is None:
            return value
        try:
            return Decimal(str(value))
        except InvalidOperation:
            raise CoercionTypeError(value, declared, "it takes Decimal and what reads as a number") from None

    return coerce


def _instant(declared: TypeInformation) -> Coercer:
    def coerce(value: Any) -> Any:
        if value is not None and not isinstance(value, Instant):
            raise CoercionTypeError(value, declared, "it takes penstock.common.Instant")
        return value

    return coerce


def _date_coercer(declared: TypeInformation) -> Coercer:
    def coerce(value: Any) -> Any:
        if type(value) is datetime.date or value is None:
            return value
        if not isinstance(value, datetime.date):
            raise CoercionTypeError(value, declared, "it takes datetime.date")
        return datetime.date(value.year, value.month, value.day)

    return coerce


def _time_coercer(declared: TypeInformation) -> Coercer:
    def coerce(value: Any) -> Any:
        if value is None:
            return None
        if not isinstance(value, datetime.time):
            raise CoercionTypeError(value, declared, "it takes datetime.time")
        millis = value.microsecond // 1_000
        return datetime.time(value.hour, value.minute, value.second, millis * 1_000)

    return coerce


def _timestamp_coercer(declared: TypeInformation) -> Coercer:
    def coerce(value: Any) -> Any:
        if value is None or (
            type(value) is datetime.datetime
            and value.tzinfo is None
            and value.microsecond % 1_000 == 0
            and value.fold == 0
        ):
            return value
        if not isinstance(value, datetime.datetime):
            raise CoercionTypeError(value, declared, "it takes datetime.datetime")
        micros = value.microsecond // 1_000 * 1_000
        return datetime.datetime(value.year, value.month, value.day, value.hour, value.minute, value.second, micros)

    return coerce


_BASIC: dict[BasicType, Callable[[TypeInformation], Coercer]] = {
    BasicType.STRING: _string,
    BasicType.BYTE: _bounded_int(8),
    BasicType.BOOLEAN: _boolean,
    BasicType.SHORT: _bounded_int(16),
    BasicType.INT: _bounded_int(32),
    BasicType.LONG: _bounded_int(64),
    BasicType.FLOAT: _float,
    BasicType.DOUBLE: _double,
    BasicType.CHAR: _char,
    BasicType.BIG_INT: _big_int,
    BasicType.BIG_DEC: _big_dec,
    BasicType.INSTANT: _instant,
}
_TIMES: dict[LocalTimeTypeInfo.TimeType, Callable[[TypeInformation], Coercer]] = {
    LocalTimeTypeInfo.TimeType.LOCAL_DATE: _date_coercer,
    LocalTimeTypeInfo.TimeType.LOCAL_TIME: _time_coercer,
    LocalTimeTypeInfo.TimeType.LOCAL_DATE_TIME: _timestamp_coercer,
}


def _bytes_coercer(declared: TypeInformation) -> Coercer:
    def coerce(value: Any) -> Any:
        if type(value) is bytes or value is None:
            return value
        if not isinstance(value, (bytes, bytearray)):
            raise CoercionTypeError(value, declared, "it takes bytes")
        return bytes(value)

    return coerce


def _as_is(value: Any) -> Any:
    return value


def _list_coercer(declared: _ElementsTypeInfo, nullable: bool) -> Coercer:
    element = coercer(declared.element_type)

    def coerce(value: Any) -> Any:
        if value is None:
            return None
        if not isinstance(value, list):
            raise CoercionTypeError(value, declared, "it takes a list")
        if not nullable and None in value:
            raise CoercionValueError(value, declared, "its elements cannot be None; use Types.BASIC_ARRAY")
        if element is None:
            return list(value)
        result: list[Any] = []
        try:
            for item in value:
                result.append(element(item))
        except _ERRORS as error:
            error.inside(f"element {len(result)}")
            raise
        return result

    return coerce


def _map_coercer(declared: MapTypeInfo) -> Coercer:
    as_key = coercer(declared.key_type) or _as_is
    as_value = coercer(declared.value_type) or _as_is

    def coerce(value: Any) -> Any:
        if value is None:
            return None
        if not isinstance(value, dict):
            raise CoercionTypeError(value, declared, "it takes a dict")
        result = {}
        for key, item in value.items():
            if key is None:
                raise CoercionTypeError(value, declared, "its keys cannot be None")
            try:
                result[as_key(key)] = as_value(item)
            except _ERRORS as error:
                error.inside(f"key {key!r:.40}")
                raise
        return result

    return coerce


def _tuple_coercer(declared: TupleTypeInfo) -> Coercer:
    fields = [coercer(field_type) or _as_is for field_type in declared.get_field_types()]
    names = [str(position) for position in range(len(fields))]
    size = len(fields)

    def coerce(value: Any) -> Any:
        if not isinstance(value, tuple):
            if value is None:
                return None
            raise CoercionTypeError(value, declared, "it takes a tuple")
        if len(value) < size:
            raise CoercionValueError(value, declared, f"it has {size} fields, the value {len(value)}")
        return tuple(_coerce_fields(fields, names, value))

    return coerce


def _row_coercer(declared: RowTypeInfo) -> Coercer:
    fields = [coercer(field_type) or _as_is for field_type in declared.get_field_types()]
    names = declared.get_field_names()
    quoted = [repr(name) for name in names]
    size = len(fields)
    make_row = Row._of

    def coerce(value: Any) -> Any:
        if not isinstance(value, Row):
            if value is None:
                return None
            raise CoercionTypeError(value, declared, "it takes a Row; write Row(...) around the values")
        values = value._values
        if value._fields is not None and value._fields != names:
            missing = [name for name in names if name not in value._fields]
            if missing:
                raise CoercionValueError(value, declared, f"the row lacks the fields {missing}")
            values = value.get_fields_by_names(names)
        if len(values) < size:
            raise CoercionValueError(value, declared, f"it has {size} fields, the value {len(values)}")
        return make_row(_coerce_fields(fields, quoted, values), names, value._row_kind)

    return coerce


def _coerce_fields(fields: list[Coercer], names: list[str], values: Any) -> list[Any]:
    result: list[Any] = []
    try:
        for coerce, value in zip(fields, values, strict=False):
            result.append(coerce(value))
    except _ERRORS as error:
        error.inside(f"field {names[len(result)]}")
        raise
    return result

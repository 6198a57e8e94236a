"""Row types as Arrow types, and values between the two."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

import pyarrow as pa

from penstock.common.errors import NotSupportedError
from penstock.common.time import Instant
from penstock.common.typeinfo import (
    BasicType,
    BasicTypeInfo,
    DateTypeInfo,
    MapTypeInfo,
    PrimitiveArrayTypeInfo,
    RowTypeInfo,
    TimestampTypeInfo,
    TimeTypeInfo,
    TypeInformation,
    Types,
    _ElementsTypeInfo,
)
from penstock.common.types import Row
from penstock.formats.row_types import DeclaredDecimal, field_values

Converter = Callable[[Any], Any]
_EPOCH = datetime.datetime(1970, 1, 1)
_DECIMAL_DIGITS, _DECIMAL_SCALE = 38, 18
_BASIC = {
    BasicType.STRING: pa.string(),
    BasicType.CHAR: pa.string(),
    BasicType.BOOLEAN: pa.bool_(),
    BasicType.BYTE: pa.int8(),
    BasicType.SHORT: pa.int16(),
    BasicType.INT: pa.int32(),
    BasicType.LONG: pa.int64(),
    BasicType.FLOAT: pa.float32(),
    BasicType.DOUBLE: pa.float64(),
    BasicType.BIG_DEC: pa.decimal128(_DECIMAL_DIGITS, _DECIMAL_SCALE),
    BasicType.INSTANT: pa.timestamp("us", "UTC"),
}


def arrow_schema(row_type: RowTypeInfo) -> Any:
    pairs = zip(row_type.get_field_names(), row_type.get_field_types(), strict=True)
    return pa.schema([pa.field(name, arrow_type(field_type)) for name, field_type in pairs])


def arrow_type(type_info: TypeInformation) -> Any:
    if isinstance(type_info, DeclaredDecimal):
        return pa.decimal128(type_info.precision, type_info.scale)
    if isinstance(type_info, BasicTypeInfo) and type_info.basic_type in _BASIC:
        return _BASIC[type_info.basic_type]
    if isinstance(type_info, DateTypeInfo):
        return pa.date32()
    if isinstance(type_info, TimeTypeInfo):
        return pa.time64("us")
    if isinstance(type_info, TimestampTypeInfo):
        return pa.timestamp("us")
    if isinstance(type_info, PrimitiveArrayTypeInfo) and type_info.element_type == Types.BYTE():
        return pa.binary()
    if isinstance(type_info, _ElementsTypeInfo):
        return pa.list_(arrow_type(type_info.element_type))
    if isinstance(type_info, MapTypeInfo):
        return pa.map_(arrow_type(type_info.key_type), arrow_type(type_info.value_type))
    if isinstance(type_info, RowTypeInfo):
        return pa.struct(list(arrow_schema(type_info)))
    raise NotSupportedError(f"Parquet has no form for values of the type {type_info!r}.")


def to_arrow(type_info: TypeInformation) -> Converter | None:
    """A function from values to those that Arrow takes; None when they are the same."""
    if isinstance(type_info, RowTypeInfo):
        names = type_info.get_field_names()
        fields = [to_arrow(field_type) or _same for field_type in type_info.get_field_types()]
        return _unless_none(
            lambda row: {
                name: field(value) for name, field, value in zip(names, fields, field_values(row, names), strict=True)
            }
        )
    if isinstance(type_info, MapTypeInfo):
        key, value = to_arrow(type_info.key_type) or _same, to_arrow(type_info.value_type) or _same
        return _unless_none(lambda items: [(key(k), value(v)) for k, v in items.items()])
    if isinstance(type_info, _ElementsTypeInfo):
        element = to_arrow(type_info.element_type)
        return None if element is None else _unless_none(lambda values: [element(value) for value in values])
    if isinstance(type_info, DeclaredDecimal):
        return _unless_none(type_info.fitted)
    if type_info == Types.INSTANT():
        return _unless_none(lambda instant: instant.seconds * 1_000_000 + instant.nanos // 1_000)
    return None


def from_arrow(type_info: TypeInformation, utc: bool) -> Converter | None:
    """A function from Arrow's Python values to ours; None when they are the same."""
    if isinstance(type_info, RowTypeInfo):
        names = type_info.get_field_names()
        fields = [from_arrow(field_type, utc) or _same for field_type in type_info.get_field_types()]
        return _unless_none(
            lambda struct: Row._of([field(struct.get(name)) for name, field in zip(names, fields, strict=True)], names)
        )
    if isinstance(type_info, MapTypeInfo):
        key, value = from_arrow(type_info.key_type, utc) or _same, from_arrow(type_info.value_type, utc) or _same
        return _unless_none(lambda items: {key(k): value(v) for k, v in items})
    if isinstance(type_info, _ElementsTypeInfo):
        element = from_arrow(type_info.element_type, utc)
        return None if element is None else _unless_none(lambda values: [element(value) for value in values])
    if isinstance(type_info, TimestampTypeInfo):
        return _unless_none(lambda moment: _wall_clock(moment, utc))
    if type_info == Types.INSTANT():
        return _unless_none(_instant)
    return None


def _wall_clock(moment: datetime.datetime, utc: bool) -> datetime.datetime:
    if moment.tzinfo is None:
        return moment
    return moment.astimezone(datetime.UTC if utc else None).replace(tzinfo=None)


def _instant(moment: datetime.datetime) -> Instant:
    micros = (moment.astimezone(datetime.UTC).replace(tzinfo=None) - _EPOCH) // datetime.timedelta(microseconds=1)
    seconds, rest = divmod(micros, 1_000_000)
    return Instant(seconds, rest * 1_000)


def _same(value: Any) -> Any:
    return value


def _unless_none(convert: Converter) -> Converter:
    return lambda value: None if value is None else convert(value)

"""Values as CSV fields, in both directions, by their declared types."""

from __future__ import annotations

import base64
import datetime
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from penstock.common.errors import NotSupportedError
from penstock.common.text import java_text
from penstock.common.typeinfo import (
    BasicType,
    BasicTypeInfo,
    DateTypeInfo,
    PrimitiveArrayTypeInfo,
    RowTypeInfo,
    TimestampTypeInfo,
    TimeTypeInfo,
    TypeInformation,
    Types,
    _ElementsTypeInfo,
)
from penstock.common.types import Row
from penstock.formats.row_types import field_values

Reader = Callable[[str], Any]
_INTEGER_BITS = {BasicType.BYTE: 8, BasicType.SHORT: 16, BasicType.INT: 32, BasicType.LONG: 64}


def whole_number(text: str, bits: int | None) -> int:
    """A number as Java's parsers take it, within the range of its type."""
    if "_" in text:
        raise ValueError(f"{text!r} is no whole number")
    number = int(text)
    if bits is not None and not -(1 << (bits - 1)) <= number < 1 << (bits - 1):
        raise ValueError(f"{number} does not fit into {bits} bits")
    return number


def _floating(text: str) -> float:
    if "_" in text:
        raise ValueError(f"{text!r} is no number")
    return float(text)


def _timestamp(text: str) -> datetime.datetime:
    if text[10:11] != " ":
        raise ValueError(f"{text!r} is no timestamp such as 2024-01-31 13:45:00.123")
    return datetime.datetime.fromisoformat(text)


def reader_of(type_info: TypeInformation, separator: str, scale: int | None = None) -> Reader:
    """A function from a field's text to its value."""
    if isinstance(type_info, BasicTypeInfo):
        return _basic_reader(type_info.basic_type, scale)
    if isinstance(type_info, DateTypeInfo):
        return datetime.date.fromisoformat
    if isinstance(type_info, TimeTypeInfo):
        return datetime.time.fromisoformat
    if isinstance(type_info, TimestampTypeInfo):
        return _timestamp
    if _is_bytes(type_info):
        return base64.b64decode
    if isinstance(type_info, _ElementsTypeInfo):
        element = reader_of(type_info.element_type, separator, scale)
        return lambda text: [element(part) for part in _parts(text, separator)]
    if isinstance(type_info, RowTypeInfo):
        return _row_reader(type_info, separator)
    raise NotSupportedError(f"CSV has no form for values of the type {type_info!r}.")


def _basic_reader(basic: BasicType, scale: int | None) -> Reader:
    if basic is BasicType.STRING or basic is BasicType.CHAR:
        return str
    if basic is BasicType.BOOLEAN:
        return lambda text: text.strip().lower() == "true"
    if basic in _INTEGER_BITS:
        bits = _INTEGER_BITS[basic]
        return lambda text: whole_number(text, bits)
    if basic is BasicType.BIG_INT:
        return lambda text: whole_number(text, None)
    if basic is BasicType.FLOAT or basic is BasicType.DOUBLE:
        return _floating
    if basic is BasicType.BIG_DEC:
        if scale is None:
            return lambda text: Decimal(text.strip())
        step = Decimal(1).scaleb(-scale)
        return lambda text: Decimal(text.strip()).quantize(step, ROUND_HALF_UP)
    raise NotSupportedError(f"CSV has no form for values of the type {basic.value}.")


def _row_reader(type_info: RowTypeInfo, separator: str) -> Reader:
    names = type_info.get_field_names()
    readers = [reader_of(field_type, separator) for field_type in type_info.get_field_types()]

    def read(text: str) -> Row | None:
        if not text:
            return None
        parts = _parts(text, separator)
        if len(parts) != len(readers):
            raise ValueError(f"{len(readers)} fields expected but there are {len(parts)} in {text!r}")
        return Row._of([reader(part) for reader, part in zip(readers, parts, strict=True)], names)

    return read


def _parts(text: str, separator: str) -> list[str]:
    if not text:
        return []
    return text.split(separator) if separator else [text]


def field_text(value: Any, type_info: TypeInformation, separator: str) -> str:
    """The text of a field that is not None, before quoting."""
    if isinstance(value, str):
        return value
    if _is_bytes(type_info):
        return base64.b64encode(bytes(value)).decode("ascii")
    if isinstance(type_info, _ElementsTypeInfo):
        return separator.join(_inner(element, type_info.element_type, separator) for element in value)
    if isinstance(type_info, RowTypeInfo):
        values = field_values(value, type_info.get_field_names())
        pairs = zip(values, type_info.get_field_types(), strict=True)
        return separator.join(_inner(inner, inner_type, separator) for inner, inner_type in pairs)
    return java_text(value, type_info)


def _inner(value: Any, type_info: TypeInformation, separator: str) -> str:
    return "" if value is None else field_text(value, type_info, separator)


def _is_bytes(type_info: TypeInformation) -> bool:
    return isinstance(type_info, PrimitiveArrayTypeInfo) and type_info.element_type == Types.BYTE()

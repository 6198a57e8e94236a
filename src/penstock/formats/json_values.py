"""Values as JSON, in both directions, by their declared types and by the rules of Flink's JSON format."""

from __future__ import annotations

import base64
import datetime
import json
import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from penstock.common.errors import NotSupportedError
from penstock.common.text import java_text
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
from penstock.formats.csv_values import whole_number
from penstock.formats.row_types import field_values

Reader = Callable[[Any], Any]
Writer = Callable[[Any], str]
_INTEGER_BITS = {BasicType.BYTE: 8, BasicType.SHORT: 16, BasicType.INT: 32, BasicType.LONG: 64, BasicType.BIG_INT: None}
_PARSE_ERRORS = (ValueError, TypeError, ArithmeticError)


def json_text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


class JsonRowReader:
    """Reads JSON objects as rows."""

    def __init__(self, type_info: RowTypeInfo, fail_on_missing_field: bool, ignore_parse_errors: bool) -> None:
        self._fail_on_missing_field = fail_on_missing_field
        self._ignore_parse_errors = ignore_parse_errors
        self.read_row = self._row_reader(type_info)

    def _row_reader(self, type_info: RowTypeInfo) -> Reader:
        names = type_info.get_field_names()
        readers = list(zip(names, map(self._reader, type_info.get_field_types()), strict=True))

        def read(node: Any) -> Row:
            if not isinstance(node, dict):
                raise ValueError(f"an object is expected, not {json_text(node):.100}")
            if self._fail_on_missing_field:
                for name in names:
                    if name not in node:
                        raise ValueError(f"there is no field {name!r}")
            return Row._of([self._field(reader, node.get(name)) for name, reader in readers], names)

        return read

    def _field(self, reader: Reader, node: Any) -> Any:
        if node is None:
            return None
        try:
            return reader(node)
        except _PARSE_ERRORS:
            if self._ignore_parse_errors:
                return None
            raise

    def _reader(self, type_info: TypeInformation) -> Reader:
        if isinstance(type_info, RowTypeInfo):
            return self._row_reader(type_info)
        if isinstance(type_info, PrimitiveArrayTypeInfo) and type_info.element_type == Types.BYTE():
            return base64.b64decode
        if isinstance(type_info, _ElementsTypeInfo):
            element = self._reader(type_info.element_type)
            return lambda node: [self._field(element, inner) for inner in _expect(node, list)]
        if isinstance(type_info, MapTypeInfo):
            key, value = self._reader(type_info.key_type), self._reader(type_info.value_type)
            return lambda node: {key(name): self._field(value, inner) for name, inner in _expect(node, dict).items()}
        reader = _scalar_reader(type_info)
        if reader is None:
            raise NotSupportedError(f"The JSON format cannot read values of the type {type_info!r}.")
        return reader


def _expect(node: Any, kind: type) -> Any:
    if not isinstance(node, kind):
        raise ValueError(f"a JSON {'array' if kind is list else 'object'} is expected, not {json_text(node):.100}")
    return node


def _scalar_reader(type_info: TypeInformation) -> Reader | None:
    if isinstance(type_info, DateTypeInfo):
        return datetime.date.fromisoformat
    if isinstance(type_info, TimeTypeInfo):
        return lambda node: _in_utc(datetime.time.fromisoformat(node), node)
    if isinstance(type_info, TimestampTypeInfo):
        return lambda node: _in_utc(datetime.datetime.fromisoformat(node), node)
    if not isinstance(type_info, BasicTypeInfo):
        return None
    basic = type_info.basic_type
    if basic in _INTEGER_BITS:
        bits = _INTEGER_BITS[basic]
        return lambda node: _integer(node, bits)
    return {
        BasicType.STRING: _string,
        BasicType.BOOLEAN: lambda node: node is True or (isinstance(node, str) and node.strip().lower() == "true"),
        BasicType.FLOAT: _floating,
        BasicType.DOUBLE: _floating,
        BasicType.BIG_DEC: lambda node: Decimal(_number_text(node)),
    }.get(basic)


def _string(node: Any) -> str:
    text = node if isinstance(node, str) else json_text(node)
    if not text.isascii():
        text.encode()  # JSON can name halves of characters, which are no text: an error here, where it can be skipped
    return text


def _number_text(node: Any) -> str:
    if isinstance(node, bool) or not isinstance(node, (int, float, str)):
        raise ValueError(f"a number is expected, not {json_text(node):.100}")
    return node.strip() if isinstance(node, str) else repr(node)


def _integer(node: Any, bits: int | None) -> int:
    return whole_number(str(int(node)) if isinstance(node, float) else _number_text(node), bits)


def _floating(node: Any) -> float:
    return float(_number_text(node))


def _in_utc(moment: Any, text: str) -> Any:
    if moment.tzinfo is None:
        raise ValueError(f"{text!r} has no time zone; write it as in 2024-01-31T13:45:00Z or 13:45:00Z")
    if isinstance(moment, datetime.datetime):
        return moment.astimezone(datetime.UTC).replace(tzinfo=None)
    if moment.utcoffset():
        raise ValueError(f"{text!r} must be in UTC, as in 13:45:00Z")
    return moment.replace(tzinfo=None)


def writer_of(type_info: TypeInformation) -> Writer:
    """A function from a value to its JSON text."""
    if isinstance(type_info, RowTypeInfo):
        return _row_writer(type_info)
    if isinstance(type_info, PrimitiveArrayTypeInfo) and type_info.element_type == Types.BYTE():
        return _or_null(lambda value: f'"{base64.b64encode(bytes(value)).decode("ascii")}"')
    if isinstance(type_info, _ElementsTypeInfo):
        element = writer_of(type_info.element_type)
        return _or_null(lambda value: f"[{','.join(map(element, value))}]")
    if isinstance(type_info, MapTypeInfo):
        item = writer_of(type_info.value_type)
        return _or_null(
            lambda value: "{%s}" % ",".join(f"{json_text(str(k))}:{item(v)}" for k, v in value.items())  # noqa: UP031
        )
    return _or_null(_scalar_writer(type_info))


def _scalar_writer(type_info: TypeInformation) -> Writer:
    if isinstance(type_info, DateTypeInfo):
        return lambda value: f'"{value.isoformat()}"'
    if isinstance(type_info, (TimeTypeInfo, TimestampTypeInfo)):
        return lambda value: f'"{_without_zeros(value.isoformat())}Z"'
    if isinstance(type_info, BasicTypeInfo):
        if type_info.basic_type in (BasicType.FLOAT, BasicType.DOUBLE):
            return lambda value: _floating_text(value, type_info)
        if type_info.basic_type is BasicType.BIG_DEC:
            return str
        if type_info.basic_type is not BasicType.INSTANT:
            return json_text
    raise NotSupportedError(f"The JSON format cannot write values of the type {type_info!r}.")


def _floating_text(value: float, type_info: TypeInformation) -> str:
    text = java_text(float(value), type_info)
    return text if math.isfinite(value) else f'"{text}"'


def _without_zeros(text: str) -> str:
    return text.rstrip("0") if "." in text else text


def _row_writer(type_info: RowTypeInfo) -> Writer:
    names = type_info.get_field_names()
    keys = [f"{json_text(name)}:" for name in names]
    writers = [writer_of(field_type) for field_type in type_info.get_field_types()]

    def write(row: Any) -> str:
        values = field_values(row, names)
        pairs = zip(keys, writers, values, strict=True)
        return "{" + ",".join([key + writer(value) for key, writer, value in pairs]) + "}"

    return _or_null(write)


def _or_null(write: Writer) -> Writer:
    return lambda value: "null" if value is None else write(value)

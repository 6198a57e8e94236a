"""How values look as text: Java's rendering for files, and the one of `print()` for the console."""

from __future__ import annotations

import datetime
import math
import struct
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

from penstock.common.time import Instant
from penstock.common.typeinfo import (
    BasicType,
    BasicTypeInfo,
    ExternalTypeInfo,
    MapTypeInfo,
    PickledBytesTypeInfo,
    RowTypeInfo,
    TimestampTypeInfo,
    TypeInformation,
    _ElementsTypeInfo,
    _FieldsTypeInfo,
)
from penstock.common.types import Row


def java_text(value: Any, type_info: TypeInformation | None = None) -> str:
    """The text that Java's toString() gives: `+I[tea, 2, false]`, `(t1,1,null)`, `[1, 2]`, `{k=1}`, `1.0E10`.

    Arrays are rendered by their elements, where Java shows only an address.
    """
    if isinstance(type_info, ExternalTypeInfo):
        type_info = type_info.type_info
    if type(value) is str:
        return value
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return _number_text(value, type_info)
    if isinstance(value, Row):
        fields = ", ".join(_each(value._values, _field_types(type_info)))
        return f"{value.get_row_kind()}[{fields}]"
    if isinstance(value, tuple):
        return "({})".format(",".join(_each(value, _field_types(type_info))))
    if isinstance(value, list):
        element_type = type_info.element_type if isinstance(type_info, _ElementsTypeInfo) else None
        return "[{}]".format(", ".join(java_text(element, element_type) for element in value))
    if isinstance(value, dict):
        return _map_text(value, type_info)
    if isinstance(value, (bytes, bytearray)):
        return "[{}]".format(", ".join(str(byte - 256 if byte > 127 else byte) for byte in value))
    return _moment_text(value, type_info)


def print_text(value: Any, type_info: TypeInformation | None = None) -> str:
    """The text of `DataStream.print()`: Python's for rows and untyped values, Java's for other types."""
    if type_info is None or isinstance(type_info, PickledBytesTypeInfo) or value is None:
        return str(value)
    if isinstance(type_info, RowTypeInfo) and isinstance(value, Row):
        return "{}[{}]".format(value.get_row_kind(), ",".join(map(str, value._values)))
    return java_text(value, type_info)


def _each(values: Iterable[Any], types: Sequence[TypeInformation]) -> list[str]:
    if not types:
        return [java_text(value) for value in values]
    return [java_text(value, field_type) for value, field_type in zip(values, types, strict=False)]


def _field_types(type_info: TypeInformation | None) -> Sequence[TypeInformation]:
    return type_info.get_field_types() if isinstance(type_info, _FieldsTypeInfo) else ()


def _map_text(value: dict[Any, Any], type_info: TypeInformation | None) -> str:
    key_type = value_type = None
    if isinstance(type_info, MapTypeInfo):
        key_type, value_type = type_info.key_type, type_info.value_type
    entries = (f"{java_text(key, key_type)}={java_text(item, value_type)}" for key, item in value.items())
    return "{{{}}}".format(", ".join(entries))


def _number_text(value: int | float, type_info: TypeInformation | None) -> str:
    basic = type_info.basic_type if isinstance(type_info, BasicTypeInfo) else None
    if basic is BasicType.FLOAT:
        return java_floating_text(float(value), shortest_float32(float(value)))
    if basic is BasicType.DOUBLE or isinstance(value, float):
        return java_floating_text(float(value), repr(float(value)))
    return str(value)


def shortest_float32(value: float) -> str:
    """The fewest digits that give the same 32-bit number again; two where one would do, as in Java's 1.4E-45."""
    if math.isnan(value) or math.isinf(value):
        return repr(value)
    for digits in range(2, 10):
        text = f"{value:.{digits}g}"
        if _as_float32(float(text)) == _as_float32(value):
            return text
    return repr(value)


def _as_float32(value: float) -> float:
    try:
        return float(struct.unpack("f", struct.pack("f", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def java_floating_text(value: float, shortest: str) -> str:
    """A number as Java writes it, of the fewest digits that stand for it: 1.0, 1.0E7, NaN."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0:
        return "-0.0" if math.copysign(1.0, value) < 0 else "0.0"
    _, digit_tuple, last_exponent = Decimal(shortest).as_tuple()
    digits = "".join(map(str, digit_tuple))
    exponent = len(digits) + int(last_exponent) - 1
    digits = digits.rstrip("0") or "0"
    sign = "-" if value < 0 else ""
    if not 1e-3 <= abs(value) < 1e7:
        return f"{sign}{digits[0]}.{digits[1:] or '0'}E{exponent}"
    if exponent < 0:
        return f"{sign}0.{'0' * (-exponent - 1)}{digits}"
    whole, fraction = digits[: exponent + 1].ljust(exponent + 1, "0"), digits[exponent + 1 :]
    return f"{sign}{whole}.{fraction or '0'}"


def _moment_text(value: Any, type_info: TypeInformation | None) -> str:
    if isinstance(value, datetime.datetime):
        micros = value.microsecond
        if isinstance(type_info, TimestampTypeInfo):
            micros -= micros % 1_000
        fraction = f"{micros:06d}".rstrip("0") or "0"
        return f"{value:%Y-%m-%d %H:%M:%S}.{fraction}"
    if isinstance(value, datetime.time):
        return f"{value:%H:%M:%S}"
    if isinstance(value, Instant):
        return _instant_text(value)
    return str(value)


def _instant_text(value: Instant) -> str:
    """Nanoseconds appear in groups of three digits, as many as are needed."""
    moment = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=value.seconds)
    text = moment.isoformat(timespec="seconds")
    if value.nanos:
        digits = f"{value.nanos:09d}"
        while digits.endswith("000"):
            digits = digits[:-3]
        text += "." + digits
    return text + "Z"

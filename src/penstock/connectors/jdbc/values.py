"""Values that databases give, in the form that streams of a declared type have them."""

from __future__ import annotations

import datetime
import json
import math
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from typing import Any

from penstock.common.errors import JobExecutionError
from penstock.common.time import Instant
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
)
from penstock.common.types import Row, RowKind

Converter = Callable[[Any], Any]
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_NOTHING, _DAY = datetime.timedelta(0), datetime.timedelta(days=1)
_MICROSECOND, _SECOND = datetime.timedelta(microseconds=1), datetime.timedelta(seconds=1)
_LARGEST_FLOAT = 3.4028235677973366e38  # halfway to what would be the next
_TRUE, _FALSE = {"t", "true", "1", "y", "yes", "on"}, {"f", "false", "0", "n", "no", "off"}


class JsonText(str):
    """What a database has in a column of JSON, letter by letter: numbers of any size stay what they are."""

    __slots__ = ()


class RowMaker:
    """Makes rows of tuples; only columns whose values are of another class than the type wants are touched."""

    def __init__(self, row_type: RowTypeInfo) -> None:
        self._names = row_type.get_field_names()
        self._types = row_type.get_field_types()
        self._fields = [_form_of(field_type) for field_type in self._types]

    def row(self, values: Sequence[Any], kind: RowKind = RowKind.INSERT) -> Row:
        try:
            fields = [
                value if value is None or type(value) is wanted else convert(value)
                for value, (wanted, convert) in zip(values, self._fields, strict=True)
            ]
        except (ValueError, TypeError, ArithmeticError, AttributeError) as error:
            raise self._unfitting(values) or error from None
        return Row._of(fields, self._names, kind)

    def _unfitting(self, values: Sequence[Any]) -> JobExecutionError | None:
        """Which of the values it is."""
        for name, type_info, value, (_, convert) in zip(self._names, self._types, values, self._fields, strict=True):
            try:
                if value is not None:
                    convert(value)
            except (ValueError, TypeError, ArithmeticError, AttributeError) as error:
                return JobExecutionError(
                    f"The column {name!r} has the value {value!r:.200}, which cannot be read as {type_info!r}"
                    f" ({error}). Give the column another type, or convert it in a query."
                )
        return None

    def rows(self, tuples: Iterable[Sequence[Any]]) -> list[Row]:
        return [self.row(values) for values in tuples]


def _form_of(type_info: TypeInformation) -> tuple[type, Converter]:
    """The class that values have, and what makes others so."""
    if isinstance(type_info, BasicTypeInfo) and type_info.basic_type in _BASIC:
        return _BASIC[type_info.basic_type]
    if isinstance(type_info, DateTypeInfo):
        return datetime.date, _date
    if isinstance(type_info, TimeTypeInfo):
        return datetime.time, _time
    if isinstance(type_info, TimestampTypeInfo):
        return _NoClass, lambda value: _moment(value).replace(tzinfo=None)
    if isinstance(type_info, PrimitiveArrayTypeInfo) and type_info.element_type == Types.BYTE():
        return bytes, _bytes
    return _NoClass, lambda value: json.loads(value) if isinstance(value, JsonText) else value


class _NoClass:
    """No value is of it: whether one fits is a matter of more than its class."""


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (dict, list)):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, datetime.timedelta):  # a TIME of MySQL, of more than a day perhaps
        minutes, seconds = divmod(abs(value) // _SECOND, 60)
        fraction = f".{abs(value).microseconds:06d}" if value.microseconds else ""
        return f"{'-' * (value < _NOTHING)}{minutes // 60:02d}:{minutes % 60:02d}:{seconds:02d}{fraction}"
    return value.decode() if isinstance(value, bytes) else str(value)


def _boolean(value: Any) -> bool:
    if isinstance(value, str):
        if value.lower() not in _TRUE | _FALSE:
            raise ValueError("it is neither true nor false")
        return value.lower() in _TRUE
    return bool(_number(value))


def _number(value: Any) -> Any:
    """MySQL gives BIT as bytes."""
    return int.from_bytes(value, "big") if isinstance(value, bytes) else value


def _whole(value: Any) -> int:
    number = _number(value)
    whole = int(number)
    if "_" in number if isinstance(number, str) else whole != number:
        raise ValueError("it is no whole number")
    return whole


def _float(value: Any) -> float:
    number = float(value)
    if abs(number) > _LARGEST_FLOAT and math.isfinite(number):
        raise ValueError("it is too large for 32 bits")
    return number


def _decimal(value: Any) -> Decimal:
    number = value if type(value) is Decimal else Decimal(str(value))
    if not number.is_finite():
        raise ValueError("decimals are finite")
    return number


def _instant(value: Any) -> Instant:
    moment = _moment(value)
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=datetime.UTC)
    seconds, micros = divmod((aware - _EPOCH) // _MICROSECOND, 1_000_000)
    return Instant(seconds, micros * 1_000)


def _moment(value: Any) -> datetime.datetime:
    if isinstance(value, datetime.datetime):
        return value if value.tzinfo is None else value.astimezone(datetime.UTC)
    if isinstance(value, datetime.date):
        return datetime.datetime(value.year, value.month, value.day)
    return datetime.datetime.fromisoformat(str(value))


def _date(value: Any) -> datetime.date:
    return _moment(value).date()


def _time(value: Any) -> datetime.time:
    if isinstance(value, datetime.timedelta):  # PyMySQL's form
        if not _NOTHING <= value < _DAY:
            raise ValueError("it is no time of a day")
        return (datetime.datetime.min + value).time()
    return datetime.time.fromisoformat(str(value))


def _bytes(value: Any) -> bytes:
    return value.encode() if isinstance(value, str) else bytes(value)


_BASIC: dict[BasicType, tuple[type, Converter]] = {
    BasicType.STRING: (str, _text),
    BasicType.CHAR: (str, _text),
    BasicType.BOOLEAN: (bool, _boolean),
    BasicType.BYTE: (int, _whole),
    BasicType.SHORT: (int, _whole),
    BasicType.INT: (int, _whole),
    BasicType.LONG: (int, _whole),
    BasicType.BIG_INT: (int, _whole),
    BasicType.FLOAT: (_NoClass, _float),
    BasicType.DOUBLE: (float, float),
    BasicType.BIG_DEC: (_NoClass, _decimal),
    BasicType.INSTANT: (Instant, _instant),
}

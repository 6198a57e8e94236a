"""Values that databases give, in the form that streams of a declared type have them."""

from __future__ import annotations

import datetime
import json
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
_MICROSECOND = datetime.timedelta(microseconds=1)
_TRUE = {"t", "true", "1", "y", "yes", "on"}


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
        return datetime.datetime, lambda value: _moment(value).replace(tzinfo=None)
    if isinstance(type_info, PrimitiveArrayTypeInfo) and type_info.element_type == Types.BYTE():
        return bytes, _bytes
    return object, lambda value: value


def _text(value: Any) -> str:
    if isinstance(value, (dict, list)):
        return json.dumps(value, ensure_ascii=False)
    return value.decode() if isinstance(value, bytes) else str(value)


def _boolean(value: Any) -> bool:
    return value.lower() in _TRUE if isinstance(value, str) else bool(value)


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
    return value.date() if isinstance(value, datetime.datetime) else datetime.date.fromisoformat(str(value)[:10])


def _time(value: Any) -> datetime.time:
    if isinstance(value, datetime.timedelta):  # PyMySQL's form
        return (datetime.datetime.min + value).time()
    return datetime.time.fromisoformat(str(value))


def _bytes(value: Any) -> bytes:
    return value.encode() if isinstance(value, str) else bytes(value)


_BASIC: dict[BasicType, tuple[type, Converter]] = {
    BasicType.STRING: (str, _text),
    BasicType.CHAR: (str, _text),
    BasicType.BOOLEAN: (bool, _boolean),
    BasicType.BYTE: (int, int),
    BasicType.SHORT: (int, int),
    BasicType.INT: (int, int),
    BasicType.LONG: (int, int),
    BasicType.BIG_INT: (int, int),
    BasicType.FLOAT: (float, float),
    BasicType.DOUBLE: (float, float),
    BasicType.BIG_DEC: (Decimal, lambda value: Decimal(str(value))),
    BasicType.INSTANT: (Instant, _instant),
}

"""What literals mean: numbers, moments and intervals as text, with the types that Flink gives them."""

from __future__ import annotations

import datetime
import re
from decimal import Decimal

from penstock.columns.typesystem import scalars
from penstock.columns.typesystem.arrow_mapping import unit_of
from penstock.columns.typesystem.intervals import DayTimeIntervalType, YearMonthIntervalType
from penstock.table.syntax.expressions import Literal
from penstock.table.syntax.position import Position

_EPOCH_DAY = datetime.date(1970, 1, 1).toordinal()
_PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
_INT = 2**31
_LONG = 2**63


def number(text: str, position: Position | None, negative: bool = False) -> Literal:
    """`1` is INT, `3000000000` BIGINT, `1.5` DECIMAL(2, 1), `1e0` DOUBLE; none of them null."""
    sign = -1 if negative else 1
    if "e" in text.lower():
        return Literal(sign * float(text), scalars.DoubleType(False), position=position)
    text = text.removesuffix(".")
    if text.isdigit():
        value = sign * int(text)
        if -_INT <= value < _INT:
            return Literal(value, scalars.IntType(False), position=position)
        if -_LONG <= value < _LONG:
            return Literal(value, scalars.BigIntType(False), position=position)
    digits = Decimal(text)
    exact = digits.as_tuple()
    scale = max(0, -int(exact.exponent))
    precision = max(len(text.replace(".", "")), scale)  # zeros in front count, as in Flink
    if abs(int(digits.scaleb(scale))) >= _LONG:
        raise ValueError(
            f"{text} has more digits than a literal may have: CAST('{text}' AS DECIMAL({precision}, {scale}))"
        )
    return Literal(sign * digits, scalars.DecimalType(precision, scale, False), position=position)


def text(value: str, position: Position | None) -> Literal:
    return Literal(value, scalars.CharType(len(value), False), position=position)


def hex_bytes(digits: str, position: Position | None) -> Literal:
    value = bytes.fromhex(digits)
    return Literal(value, scalars.BinaryType(len(value), False), position=position)


def date(value: str, position: Position | None) -> Literal:
    day = datetime.date.fromisoformat(value)
    return Literal(day.toordinal() - _EPOCH_DAY, scalars.DateType(False), position=position)


_TIME = re.compile(r"(\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.(\d{0,9}))?$")


def time(value: str, position: Position | None) -> Literal:
    count, precision = _time_of_day(value)
    return Literal(count, scalars.TimeType(precision, False), position=position)


def timestamp(value: str, position: Position | None) -> Literal:
    day, _, moment = value.strip().partition(" ")
    count, precision = _time_of_day(moment or "00:00:00")
    days = datetime.date.fromisoformat(day).toordinal() - _EPOCH_DAY
    ticks = days * 86_400 * _PER_SECOND[unit_of(precision)] + count
    return Literal(ticks, scalars.TimestampType(precision, False), position=position)


def _time_of_day(value: str) -> tuple[int, int]:
    """Ticks since midnight in the unit of the precision, and the precision: the number of digits written."""
    match = _TIME.match(value.strip())
    if match is None:
        raise ValueError(f"{value!r} is no time: write hh:mm:ss, perhaps with a fraction")
    hours, minutes, seconds = (int(part) for part in match.groups()[:3])
    if hours > 23 or minutes > 59 or seconds > 59:
        raise ValueError(f"{value!r} is no time of a day")
    fraction = match.group(4) or ""
    per_second = _PER_SECOND[unit_of(len(fraction))]
    count = ((hours * 60 + minutes) * 60 + seconds) * per_second
    return count + int(fraction.ljust(9, "0")) * per_second // 1_000_000_000, len(fraction)


_UNIT_MILLIS = {"DAY": 86_400_000, "HOUR": 3_600_000, "MINUTE": 60_000, "SECOND": 1_000}
_Interval = YearMonthIntervalType | DayTimeIntervalType


def interval(value: str, negative: bool, data_type: _Interval, position: Position | None) -> Literal:
    """`'1-2' YEAR TO MONTH` is 14 months, `'1 02:00:00' DAY TO SECOND` so many milliseconds."""
    stripped = value.strip()
    sign = -1 if negative != stripped.startswith("-") else 1
    stripped = stripped.lstrip("+-")
    parse = _months if isinstance(data_type, YearMonthIntervalType) else _millis
    units = _units_of(data_type)
    return Literal(sign * parse(stripped, units), data_type.not_null(), position=position)


def _units_of(data_type: _Interval) -> list[str]:
    if isinstance(data_type, YearMonthIntervalType):
        return [["YEAR"], ["MONTH"], ["YEAR", "MONTH"]][data_type.resolution - 1]
    ends = data_type.resolution.name.split("_TO_")
    order = list(_UNIT_MILLIS)
    return order[order.index(ends[0]) : order.index(ends[-1]) + 1]


def _months(value: str, units: list[str]) -> int:
    parts = value.split("-")
    if len(parts) != len(units) or not all(part.strip().isdigit() for part in parts):
        raise ValueError(f"{value!r} is no interval of {' to '.join(units)}")
    return sum(int(part) * (12 if unit == "YEAR" else 1) for part, unit in zip(parts, units, strict=True))


def _millis(value: str, units: list[str]) -> int:
    parts = re.split(r"[ :]+", value)
    if len(parts) != len(units) or not all(re.fullmatch(r"\d+(\.\d+)?", part) for part in parts):
        raise ValueError(f"{value!r} is no interval of {' to '.join(units)}")
    return sum(int(Decimal(part) * _UNIT_MILLIS[unit]) for part, unit in zip(parts, units, strict=True))

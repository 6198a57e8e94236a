"""The calendar on columns of whole numbers: parts of moments, rounding to units, adding months, differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from penstock.columns.kernels.datum import Datum, Invocation, is_constant
from penstock.columns.kernels.time_columns import column_of, finest, from_local, local_ticks, rescaled, ticks_of, unit
from penstock.columns.kernels.time_zone import PER_SECOND
from penstock.columns.typesystem import families
from penstock.columns.typesystem.base import DataType
from penstock.columns.typesystem.intervals import DayTimeIntervalType, YearMonthIntervalType
from penstock.columns.typesystem.scalars import DateType, LocalZonedTimestampType, TimeType

_Ints = Any
_DAY = 86_400
_SECONDS = {"SECOND": 1, "MINUTE": 60, "HOUR": 3_600, "DAY": _DAY, "WEEK": 7 * _DAY}
_MONTHS = {"MONTH": 1, "QUARTER": 3, "YEAR": 12, "DECADE": 120, "CENTURY": 1_200, "MILLENNIUM": 12_000}


def civil(days: _Ints) -> tuple[_Ints, _Ints, _Ints]:
    """Year, month and day of days since 1970."""
    dates = days.astype("datetime64[D]")
    months = dates.astype("datetime64[M]")
    month_count = months.astype(np.int64)
    day = (dates - months.astype("datetime64[D]")).astype(np.int64) + 1
    return np.floor_divide(month_count, 12) + 1970, np.mod(month_count, 12) + 1, day


def month_start(months: _Ints) -> _Ints:
    """Days since 1970 of the first day of months since 1970."""
    found: _Ints = months.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
    return found


def _month_count(days: _Ints) -> _Ints:
    found: _Ints = days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)
    return found


def _day_of_year(days: _Ints) -> _Ints:
    return days - month_start(np.floor_divide(_month_count(days), 12) * 12) + 1


def _iso_week(days: _Ints) -> tuple[_Ints, _Ints]:
    """Year and week by ISO 8601: the week of a day is that of its Thursday."""
    thursday = days - np.mod(days + 3, 7) + 3
    year = civil(thursday)[0]
    first = month_start((year - 1970) * 12)
    return year, np.floor_divide(thursday - first, 7) + 1


_DATE_PARTS: dict[str, Callable[[_Ints], _Ints]] = {
    "YEAR": lambda days: civil(days)[0],
    "QUARTER": lambda days: np.floor_divide(civil(days)[1] - 1, 3) + 1,
    "MONTH": lambda days: civil(days)[1],
    "WEEK": lambda days: _iso_week(days)[1],
    "DAY": lambda days: civil(days)[2],
    "DOY": _day_of_year,
    "DOW": lambda days: np.mod(days + 4, 7) + 1,
    "ISODOW": lambda days: np.mod(days + 3, 7) + 1,
    "ISOYEAR": lambda days: _iso_week(days)[0],
    "DECADE": lambda days: np.floor_divide(civil(days)[0], 10),
    "CENTURY": lambda days: np.floor_divide(civil(days)[0] + 99, 100),
    "MILLENNIUM": lambda days: np.floor_divide(civil(days)[0] + 999, 1000),
}


def extract(call: Invocation) -> Datum:
    """A part of a moment or an interval."""
    part = call.option("unit")
    datum, data_type = call.arguments[0], call.types[0]
    scalar = is_constant(datum)
    if families.is_interval(data_type):
        values, valid = ticks_of(datum)
        return column_of(_interval_part(values, part, data_type), valid, call.result_type, scalar)
    have = finest(data_type)
    if part == "EPOCH" and isinstance(data_type, LocalZonedTimestampType):
        ticks, valid = ticks_of(datum)
    else:
        ticks, valid = local_ticks(datum, data_type, call.session.zone, have)
    return column_of(_moment_part(ticks, have, part), valid, call.result_type, scalar)


def _moment_part(ticks: _Ints, have: str, part: str) -> _Ints:
    per_second = PER_SECOND[have]
    seconds = np.floor_divide(ticks, per_second)
    if part in _DATE_PARTS:
        return _DATE_PARTS[part](np.floor_divide(seconds, _DAY))
    if part == "EPOCH":
        return seconds
    if part == "HOUR":
        return np.mod(np.floor_divide(seconds, 3600), 24)
    if part == "MINUTE":
        return np.mod(np.floor_divide(seconds, 60), 60)
    if part == "SECOND":
        return np.mod(seconds, 60)
    fraction = np.mod(ticks, per_second) * (1_000_000_000 // per_second)
    return np.floor_divide(fraction, {"MILLISECOND": 1_000_000, "MICROSECOND": 1_000, "NANOSECOND": 1}[part])


def _interval_part(values: _Ints, part: str, data_type: DataType) -> _Ints:
    sign = np.sign(values)
    size = np.abs(values)
    if isinstance(data_type, YearMonthIntervalType):
        found = {"YEAR": size // 12, "MONTH": size % 12, "QUARTER": size % 12 // 3 + 1}
        return sign * found.get(part, size * 0)
    seconds = size // 1000
    parts = {
        "DAY": seconds // _DAY,
        "HOUR": seconds // 3600 % 24,
        "MINUTE": seconds // 60 % 60,
        "SECOND": seconds % 60,
        "MILLISECOND": size % 1000,
        "EPOCH": seconds,
    }
    return sign * parts.get(part, size * 0)


def floor_to(call: Invocation) -> Datum:
    return _to_unit(call, up=False)


def ceil_to(call: Invocation) -> Datum:
    return _to_unit(call, up=True)


def _to_unit(call: Invocation, up: bool) -> Datum:
    part, data_type = call.option("unit"), call.types[0]
    have = finest(data_type)
    ticks, valid = local_ticks(call.arguments[0], data_type, call.session.zone, have)
    lower = _floor(ticks, have, part)
    if up:
        lower = np.where(lower == ticks, ticks, _next(lower, have, part))
    return from_local(lower, have, valid, call.result_type, call.session.zone, is_constant(call.arguments[0]))


def _step(part: str, have: str) -> int:
    fractions = {"MILLISECOND": 1_000, "MICROSECOND": 1_000_000, "NANOSECOND": 1_000_000_000}
    if part in fractions:
        return max(PER_SECOND[have] // fractions[part], 1)
    return _SECONDS[part] * PER_SECOND[have]


def _floor(ticks: _Ints, have: str, part: str) -> _Ints:
    if part in _MONTHS:
        size, per_day = _MONTHS[part], _DAY * PER_SECOND[have]
        months = _month_count(np.floor_divide(ticks, per_day))
        # Centuries and millennia begin in the year 1.
        shift = -12 * (1970 - 1) if part in ("CENTURY", "MILLENNIUM") else -12 * 1970 if part == "DECADE" else 0
        return month_start(np.floor_divide(months - shift, size) * size + shift) * per_day
    if part == "WEEK":
        # Weeks begin on Sunday, and 1970-01-01 was a Thursday.
        offset = 4 * _DAY * PER_SECOND[have]
        step = _step(part, have)
        return np.floor_divide(ticks + offset, step) * step - offset
    step = _step(part, have)
    return np.floor_divide(ticks, step) * step


def _next(ticks: _Ints, have: str, part: str) -> _Ints:
    if part in _MONTHS:
        per_day = _DAY * PER_SECOND[have]
        return month_start(_month_count(np.floor_divide(ticks, per_day)) + _MONTHS[part]) * per_day
    return ticks + _step(part, have)


def add_months(days: _Ints, months: _Ints) -> _Ints:
    """The same day of another month, or its last one."""
    count = _month_count(days)
    day = days - month_start(count)
    target = count + months
    length = month_start(target + 1) - month_start(target)
    return month_start(target) + np.minimum(day, length - 1)


def plus_interval(call: Invocation) -> Datum:
    """A moment and an interval, in either order."""
    first_is_interval = families.is_interval(call.types[0])
    moment, span = (1, 0) if first_is_interval else (0, 1)
    return _shifted(call, moment, span, 1)


def minus_interval(call: Invocation) -> Datum:
    return _shifted(call, 0, 1, -1)


def _shifted(call: Invocation, moment: int, span: int, sign: int) -> Datum:
    amounts, amount_valid = ticks_of(call.arguments[span])
    months = isinstance(call.types[span], YearMonthIntervalType)
    return shift(call, moment, sign * amounts, amount_valid, months)


def shift(call: Invocation, moment: int, amounts: _Ints, amount_valid: Any, months: bool) -> Datum:
    """A moment moved by months or milliseconds; of an LTZ months are counted on the session's calendar."""
    data_type = call.types[moment]
    have = finest(data_type, call.result_type)
    if not months and not isinstance(data_type, (DateType, TimeType)):
        have = finest(data_type, call.result_type)
        have = have if PER_SECOND[have] >= 1000 else "ms"
    if isinstance(data_type, (DateType, TimeType)) and not months:
        have = "ms" if PER_SECOND[have] < 1000 else have
    direct = isinstance(data_type, LocalZonedTimestampType) and not months
    if direct:
        ticks, valid = ticks_of(call.arguments[moment])
        ticks = rescaled(ticks, unit(data_type), have)
    else:
        ticks, valid = local_ticks(call.arguments[moment], data_type, call.session.zone, have)
    ticks, amounts = np.broadcast_arrays(ticks, amounts)
    if months:
        per_day = _DAY * PER_SECOND[have]
        days = np.floor_divide(ticks, per_day)
        moved = add_months(days, amounts) * per_day + np.mod(ticks, per_day)
    else:
        moved = ticks + amounts * (PER_SECOND[have] // 1000)
    masks = [None if mask is None else np.broadcast_to(mask, moved.shape) for mask in (valid, amount_valid)]
    both = masks[1] if masks[0] is None else masks[0] if masks[1] is None else masks[0] & masks[1]
    scalar = all(is_constant(argument) for argument in call.arguments)
    if direct:
        return column_of(rescaled(moved, have, unit(call.result_type)), both, call.result_type, scalar)
    return from_local(moved, have, both, call.result_type, call.session.zone, scalar)


def timestamp_add(call: Invocation) -> Datum:
    """TIMESTAMPADD(unit, count, moment)."""
    part = call.option("unit")
    counts, valid = ticks_of(call.arguments[0])
    if part in _MONTHS:
        return shift(call, 1, counts * _MONTHS[part], valid, months=True)
    return shift(call, 1, counts * _SECONDS[part] * 1000, valid, months=False)


def timestamp_diff(call: Invocation) -> Datum:
    """Whole units from the first moment to the second."""
    return _difference(call, 0, 1, call.option("unit"))


def interval_between(call: Invocation) -> Datum:
    """`(a - b) DAY`: from the second moment to the first."""
    if isinstance(call.result_type, DayTimeIntervalType):
        return _difference(call, 1, 0, "MILLIS")
    return _difference(call, 1, 0, "MONTH")


def _difference(call: Invocation, start: int, end: int, part: str) -> Datum:
    have = finest(*call.types)
    have = have if PER_SECOND[have] >= 1000 else "ms"
    first, first_valid = local_ticks(call.arguments[start], call.types[start], call.session.zone, have)
    second, second_valid = local_ticks(call.arguments[end], call.types[end], call.session.zone, have)
    first, second = np.broadcast_arrays(first, second)
    if part in _MONTHS:
        values = _whole_months(first, second, have)
        values = np.sign(values) * (np.abs(values) // _MONTHS[part])
    else:
        millis = rescaled(second, have, "ms") - rescaled(first, have, "ms")
        size = 1 if part == "MILLIS" else _SECONDS[part] * 1000
        values = np.sign(millis) * (np.abs(millis) // size)
    masks = [None if mask is None else np.broadcast_to(mask, values.shape) for mask in (first_valid, second_valid)]
    both = masks[1] if masks[0] is None else masks[0] if masks[1] is None else masks[0] & masks[1]
    return column_of(values, both, call.result_type, all(is_constant(argument) for argument in call.arguments))


def _whole_months(first: _Ints, second: _Ints, have: str) -> _Ints:
    """How often a month can be added to the first without passing the second, either way."""
    per_day = _DAY * PER_SECOND[have]
    first_day, second_day = np.floor_divide(first, per_day), np.floor_divide(second, per_day)
    count = _month_count(second_day) - _month_count(first_day)
    moved = add_months(first_day, count) * per_day + np.mod(first, per_day)
    forward = (count > 0) & (moved > second)
    backward = (count < 0) & (moved < second)
    return count - forward.astype(np.int64) + backward.astype(np.int64)


def interval_sum(call: Invocation) -> Datum:
    return _interval_arithmetic(call, np.add)


def interval_difference(call: Invocation) -> Datum:
    return _interval_arithmetic(call, np.subtract)


def interval_product(call: Invocation) -> Datum:
    return _interval_arithmetic(call, np.multiply)


def _interval_arithmetic(call: Invocation, operation: Any) -> Datum:
    first, first_valid = ticks_of(_whole(call.arguments[0]))
    second, second_valid = ticks_of(_whole(call.arguments[1]))
    values = operation(first, second)
    masks = [None if mask is None else np.broadcast_to(mask, values.shape) for mask in (first_valid, second_valid)]
    both = masks[1] if masks[0] is None else masks[0] if masks[1] is None else masks[0] & masks[1]
    return column_of(values, both, call.result_type, all(is_constant(argument) for argument in call.arguments))


def _whole(datum: Datum) -> Datum:
    floating = pa.types.is_floating(datum.type) or pa.types.is_decimal(datum.type)
    return datum.cast(pa.int64()) if floating else datum

"""Functions of moments: clocks, formatting, reading, Unix time, zones, overlaps."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.columns.kernels.calendar import add_months
from penstock.columns.kernels.date_patterns import (
    LocalMoment,
    format_moment,
    parse_leniently,
    parse_moment,
    shown_seconds,
    strftime_form,
)
from penstock.columns.kernels.datum import Datum, Invocation, constant, is_constant, per_value
from penstock.columns.kernels.failure import ValueFailure
from penstock.columns.kernels.moment_text import date_of, local_nanos_of
from penstock.columns.kernels.time_columns import column_of, local_ticks, rescaled, unit
from penstock.columns.kernels.time_zone import PER_SECOND, to_instant, to_local
from penstock.columns.typesystem import families, scalars
from penstock.columns.typesystem.arrow_mapping import to_arrow_type
from penstock.columns.typesystem.base import DataType
from penstock.common.errors import NotSupportedError

_DEFAULT = "yyyy-MM-dd HH:mm:ss"
_NANOS = 1_000_000_000


def _now(call: Invocation) -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.array([call.session.now_micros], np.int64)


def current_instant(call: Invocation) -> Datum:
    ticks = rescaled(_now(call), "us", unit(call.result_type))
    return column_of(ticks, None, call.result_type, scalar=True)


_NO_WATERMARK = -(1 << 63)


def current_watermark(call: Invocation) -> Datum:
    """That of the operator which asks; null before the first one."""
    millis = call.session.watermark_millis
    if millis is None:
        raise NotSupportedError("CURRENT_WATERMARK is known in SELECT and WHERE: select it as a column first.")
    if millis == _NO_WATERMARK:
        return pa.scalar(None, to_arrow_type(call.result_type))
    ticks = rescaled(np.array([millis], np.int64), "ms", unit(call.result_type))
    return column_of(ticks, None, call.result_type, scalar=True)


def current_local(call: Invocation) -> Datum:
    """The wall clock now: as date, time of day or timestamp."""
    ticks = to_local(_now(call), "us", call.session.zone)
    if isinstance(call.result_type, scalars.DateType):
        return column_of(ticks // (86_400 * 1_000_000), None, call.result_type, scalar=True)
    if isinstance(call.result_type, scalars.TimeType):
        ticks = ticks % (86_400 * 1_000_000)
    return column_of(rescaled(ticks, "us", unit(call.result_type)), None, call.result_type, scalar=True)


def _local_nanos(value: Any, data_type: DataType, call: Invocation) -> int:
    """Nanoseconds on the wall clock of a value as plain_values gives it."""
    if families.is_text(data_type):
        found = parse_leniently(value, _DEFAULT)
        if found is None:
            raise ValueFailure(f"{value[:80]!r} is no timestamp: write it as 2024-01-31 10:00:00")
        return found[0]
    if isinstance(data_type, scalars.DateType):
        return int(value) * 86_400 * _NANOS
    have = unit(data_type)
    ticks = np.array([value], np.int64)
    if isinstance(data_type, scalars.LocalZonedTimestampType):
        ticks = to_local(ticks, have, call.session.zone)
    return int(ticks[0]) * (_NANOS // PER_SECOND[have])


def _format(value: Any, pattern: str, call: Invocation) -> str | None:
    try:
        nanos = _local_nanos(value, call.types[0], call)
    except ValueFailure:
        return None
    return format_moment(LocalMoment.of(nanos, call.session.zone), pattern)


def date_format(call: Invocation) -> Datum:
    moments, pattern = call.arguments
    form = strftime_form(pattern.as_py()) if is_constant(pattern) and pattern.is_valid else None
    if form is None or is_constant(moments) or families.is_text(call.types[0]):
        return per_value(_format)(call)
    seconds, valid = local_ticks(moments, call.types[0], call.session.zone, "s")
    if len(seconds) and int(seconds.min()) < _YEAR_1000:
        return per_value(_format)(call)  # years of fewer than four digits
    # Few moments differ in what is shown of them: only these are written.
    shown = np.floor_divide(seconds, shown_seconds(form)) * shown_seconds(form)
    different = pc.dictionary_encode(column_of(shown, valid, scalars.TimestampType(0)))
    return pc.strftime(different.dictionary, format=form).take(different.indices)


_YEAR_1000 = -30_610_224_000


def _to_date(text: str, pattern: str | None = None) -> int | None:
    if pattern is None:
        try:
            return date_of(text)
        except ValueFailure:
            return None
    found = parse_leniently(text, pattern)
    return None if found is None else found[0] // (86_400 * _NANOS)


to_date = per_value(_to_date)


def _read_nanos(text: str, pattern: str | None) -> tuple[int, int | str | None] | None:
    if pattern is not None:
        return parse_moment(text, pattern)
    try:
        return local_nanos_of(text), None
    except ValueFailure:
        return None


def _to_timestamp(text: str, pattern: str | None = None, *, call: Invocation) -> int | None:
    found = _read_nanos(text, pattern)
    if found is None and pattern is not None:
        found = _plain_timestamp(text.strip())
    if found is None:
        return None
    return found[0] // (_NANOS // PER_SECOND[unit(call.result_type)])


_PLAIN = re.compile(r"(\d{4}-(?:0?[1-9]|1[0-2])-(?:0?[1-9]|[12]\d|3[01]))( \d{1,2}:\d{1,2}:\d{1,2}(?:\.(\d{1,9}))?)?")


def _plain_timestamp(text: str) -> tuple[int, int | str | None] | None:
    """What the pattern does not fit Flink reads as a timestamp or date of SQL, if it is one."""
    match = _PLAIN.fullmatch(text)
    found = None if match is None else parse_leniently(text if match[2] else f"{text} 00:00:00", _DEFAULT)
    if match is None or found is None:
        return None
    return found[0] + int((match[3] or "0").ljust(9, "0")), found[1]


to_timestamp = per_value(_to_timestamp)


def _instant_nanos(found: tuple[int, int | str | None], zone: str) -> int:
    nanos, own = found
    if isinstance(own, int):
        return nanos - own * _NANOS
    return int(to_instant(np.array([nanos // 1000]), "us", own or zone)[0]) * 1000 + nanos % 1000


def _to_ltz(value: Any, second: Any = None, zone: str | None = None, *, call: Invocation) -> int | None:
    """From a count of a precision, or from text with a pattern and a zone; of a whole column's unit."""
    have = PER_SECOND[unit(call.result_type)]
    if families.is_number(call.types[0]):
        digits = 3 if second is None else int(second)
        if digits not in (0, 3, 6, 9):
            raise ValueFailure(f"TO_TIMESTAMP_LTZ takes a precision of 0 or 3, not {digits}")
        return int(value * have / 10**digits) if isinstance(value, float) else int(int(value) * have // 10**digits)
    found = _read_nanos(value, second)
    return None if found is None else _instant_nanos(found, zone or "UTC") // (_NANOS // have)


to_timestamp_ltz = per_value(_to_ltz)


def unix_timestamp(call: Invocation) -> Datum:
    if not call.arguments:
        return constant(call.session.now_micros // 1_000_000, call.result_type)
    return per_value(_unix_seconds)(call)


def _unix_seconds(text: str, pattern: str = _DEFAULT, *, call: Invocation) -> int:
    found = parse_leniently(text, pattern)
    if found is None:
        return -(2**63)
    return _instant_nanos(found, call.session.zone) // _NANOS


def _from_unixtime(seconds: int, pattern: str = _DEFAULT, *, call: Invocation) -> str:
    local = int(to_local(np.array([seconds], np.int64), "s", call.session.zone)[0])
    return format_moment(LocalMoment.of(local * _NANOS, call.session.zone), pattern)


from_unixtime = per_value(_from_unixtime)


def _convert_tz(text: str, source: str, target: str) -> str | None:
    found = parse_leniently(text, _DEFAULT)
    if found is None:
        return None
    instant = _instant_nanos(found, source)
    local = int(to_local(np.array([instant // _NANOS]), "s", target)[0])
    return format_moment(LocalMoment.of(local * _NANOS, target), _DEFAULT)


convert_tz = per_value(_convert_tz)


def overlaps(call: Invocation) -> Datum:
    """Two spans, each from a moment to a moment or of a length; ends that touch overlap."""

    def test(a: Any, b: Any, c: Any, d: Any) -> bool:
        starts, ends = (a, c), (_end(call, 0, a, b), _end(call, 2, c, d))
        first = sorted((_point(call, 0, starts[0]), ends[0]))
        second = sorted((_point(call, 2, starts[1]), ends[1]))
        return bool(first[1] >= second[0] and second[1] >= first[0])

    return per_value(test)(call)


def _point(call: Invocation, place: int, value: Any) -> int:
    return _local_nanos(value, call.types[place], call) if families.is_moment(call.types[place]) else int(value)


def _end(call: Invocation, place: int, start: Any, end: Any) -> int:
    if not families.is_interval(call.types[place + 1]):
        return _point(call, place + 1, end)
    if call.types[place + 1].as_summary_string().startswith("INTERVAL MONTH"):
        nanos = _point(call, place, start)
        day = 86_400 * _NANOS
        moved = add_months(np.array([nanos // day]), np.array([end]))
        return int(moved[0]) * day + nanos % day
    return _point(call, place, start) + int(end) * 1_000_000

"""Moments and intervals as text, and what text means a moment: the forms that CAST knows."""

from __future__ import annotations

import datetime
import re
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from penstock.columns.kernels.datum import Datum
from penstock.columns.kernels.failure import ValueFailure
from penstock.columns.kernels.time_columns import local_ticks, ticks_of, unit
from penstock.columns.kernels.time_zone import PER_SECOND
from penstock.columns.typesystem.base import DataType
from penstock.columns.typesystem.intervals import YearMonthIntervalType
from penstock.columns.typesystem.scalars import DateType, LocalZonedTimestampType, TimestampType, TimeType

_FOUR_DIGITS = (-30_610_224_000, 253_402_300_800)  # seconds of the years 1000 and 10000
_EPOCH_DAY = datetime.date(1970, 1, 1).toordinal()


def moment_texts(datum: Datum, data_type: DataType, zone: str) -> Datum:
    """`2024-02-29`, `13:14:15.123`, `2024-02-29 13:14:15.123456` with as many digits as the type has."""
    scalar = isinstance(datum, pa.Scalar)
    if isinstance(data_type, DateType):
        days, valid = ticks_of(datum)
        texts = np.datetime_as_string(days.astype("datetime64[D]"))
    elif isinstance(data_type, TimeType):
        ticks, valid = ticks_of(datum)
        texts = np.array([_time_text(int(tick), data_type) for tick in ticks], dtype=object)
    else:
        assert isinstance(data_type, (TimestampType, LocalZonedTimestampType))
        have = unit(data_type)
        ticks, valid = local_ticks(datum, data_type, zone, have)
        usual = _usual_texts(ticks, valid, have, data_type.precision)
        if usual is not None:
            return usual[0] if scalar else usual
        texts = _timestamp_texts(ticks, have, data_type.precision)
    mask = None if valid is None else ~valid
    found = pa.array(texts.tolist(), pa.string(), mask=mask)
    return found[0] if scalar else found


def _usual_texts(ticks: npt.NDArray[Any], valid: Any, have: str, precision: int) -> pa.Array | None:
    """Arrow writes years of four digits in the same way, and quicker; None for others."""
    first, last = (PER_SECOND[have] * seconds for seconds in _FOUR_DIGITS)
    if len(ticks) and not (first <= int(ticks.min()) and int(ticks.max()) < last):
        return None
    column = pa.array(ticks, pa.int64(), mask=None if valid is None else ~valid).view(pa.timestamp(have))
    texts = pc.cast(column, pa.string())
    if PER_SECOND[have] == 10**precision:
        return texts
    return pc.utf8_slice_codeunits(texts, 0, 19 if precision == 0 else 20 + precision)


def _timestamp_texts(ticks: npt.NDArray[Any], have: str, precision: int) -> npt.NDArray[Any]:
    moments: Any = ticks.astype(f"datetime64[{have}]")
    texts = np.datetime_as_string(moments)
    length = 19 if precision == 0 else 20 + precision
    return np.array([f"{text[:10]} {text[11:]}"[:length] for text in texts.tolist()], dtype=object)


def _time_text(tick: int, data_type: TimeType) -> str:
    per_second = PER_SECOND[unit(data_type)]
    seconds, rest = divmod(tick, per_second)
    text = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    if data_type.precision == 0:
        return text
    digits = f"{rest * 1_000_000_000 // per_second:09d}"[: data_type.precision].rstrip("0")
    return f"{text}.{digits or '0'}"


def interval_text(value: int, data_type: DataType) -> str:
    """`+1-02` years and months; `+1 02:03:04.567` days and time."""
    sign = "-" if value < 0 else "+"
    size = abs(value)
    if isinstance(data_type, YearMonthIntervalType):
        return f"{sign}{size // 12}-{size % 12:02d}"
    seconds, millis = divmod(size, 1000)
    days, seconds = divmod(seconds, 86_400)
    return f"{sign}{days} {seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}.{millis:03d}"


_DATE = re.compile(r"(\d{1,9})(?:-(\d{1,2})(?:-(\d{1,2}))?)?$")
_TIME = re.compile(r"(\d{1,2})(?::(\d{1,2})(?::(\d{1,2})(?:\.(\d+))?)?)?$")
_TIMESTAMP = re.compile(r"(\d{4,5})-(\d{1,2})-(\d{1,2})(?: (\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.(\d{1,9}))?)?$")


def date_of(text: str) -> int:
    """Days since 1970; what follows a space is ignored, month and day may be left out."""
    match = _DATE.match(text.strip().split(" ")[0])
    if match is None:
        raise ValueFailure(f"Cannot parse {text!r} as DATE: expected yyyy-MM-dd")
    year, month, day = int(match[1]), int(match[2] or 1), int(match[3] or 1)
    try:
        return datetime.date(year, month, day).toordinal() - _EPOCH_DAY
    except ValueError:
        raise ValueFailure(f"Cannot parse {text!r} as DATE: there is no such day") from None


def nanos_of_day(text: str) -> int:
    match = _TIME.match(text.strip())
    hours, minutes, seconds = (int(match[place] or 0) for place in (1, 2, 3)) if match else (99, 99, 99)
    if match is None or hours > 23 or minutes > 59 or seconds > 59:
        raise ValueFailure(f"Cannot parse {text!r} as TIME: expected HH:mm:ss with an optional fraction")
    fraction = int((match[4] or "0").ljust(9, "0")[:9])
    return ((hours * 60 + minutes) * 60 + seconds) * 1_000_000_000 + fraction


def local_nanos_of(text: str) -> int:
    """Nanoseconds on the wall clock; the 30th of February is taken as the last day of that month."""
    match = _TIMESTAMP.match(text)
    if match is None:
        raise ValueFailure(
            f"Cannot parse {text!r} as TIMESTAMP: expected yyyy-MM-dd HH:mm:ss with an optional fraction"
        )
    year, month, day = int(match[1]), int(match[2]), int(match[3])
    hours, minutes, seconds = (int(match[place] or 0) for place in (4, 5, 6))
    if not (1 <= month <= 12 and 1 <= day <= 31 and hours < 24 and minutes < 60 and seconds < 60):
        raise ValueFailure(f"Cannot parse {text!r} as TIMESTAMP: there is no such moment")
    days = last_valid_day(year, month, day)
    fraction = int((match[7] or "0").ljust(9, "0"))
    return (days * 86_400 + (hours * 60 + minutes) * 60 + seconds) * 1_000_000_000 + fraction


def last_valid_day(year: int, month: int, day: int) -> int:
    """Days since 1970 of a day, or of the last one of its month when it has fewer."""
    while True:
        try:
            return datetime.date(year, month, day).toordinal() - _EPOCH_DAY
        except ValueError:
            if day <= 28:
                raise ValueFailure(f"{year}-{month}-{day} is outside of the calendar") from None
            day -= 1

"""Between moments on the time line and the clock on the wall of a zone; both are counted in the same unit."""

from __future__ import annotations

import datetime
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np
import numpy.typing as npt

from penstock.columns.kernels.failure import ValueFailure

_UTC_NAMES = frozenset({"UTC", "Z", "GMT", "Etc/UTC"})
_EPOCH = datetime.datetime(1970, 1, 1)
_UTC_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
_Ints = npt.NDArray[np.int64]


@lru_cache(maxsize=64)
def zone_of(name: str) -> datetime.tzinfo:
    """`Europe/Berlin`, `UTC`, or an offset as `+08:00` or `GMT+8`."""
    if name in _UTC_NAMES:
        return datetime.UTC
    text = name.removeprefix("GMT").removeprefix("UTC")
    if text[:1] in ("+", "-"):
        hours, _, minutes = text[1:].partition(":")
        if hours.isdigit() and (minutes or "0").isdigit():
            if len(hours) == 4:
                hours, minutes = hours[:2], hours[2:]
            offset = datetime.timedelta(hours=int(hours), minutes=int(minutes or 0))
            return datetime.timezone(-offset if text[0] == "-" else offset)
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        raise ValueFailure(
            f"{name!r} is no time zone: use a name as 'Europe/Berlin' or an offset as '+01:00'"
        ) from None


def to_local(ticks: _Ints, unit: str, zone: str) -> _Ints:
    """The wall clock's ticks at moments."""
    return _shift(ticks, unit, zone, _local_offset, 1)


def to_instant(ticks: _Ints, unit: str, zone: str) -> _Ints:
    """The moments at which a wall clock shows these ticks: the earlier one of two, and none is skipped."""
    return _shift(ticks, unit, zone, _instant_offset, -1)


def _shift(ticks: _Ints, unit: str, zone: str, offset_of: object, sign: int) -> _Ints:
    info = zone_of(zone)
    if info is datetime.UTC or len(ticks) == 0:
        return ticks
    assert callable(offset_of)
    per_second = PER_SECOND[unit]
    # Offsets change on the quarter of an hour at most.
    quarters, places = np.unique(np.floor_divide(ticks, 900 * per_second), return_inverse=True)
    offsets = np.array([offset_of(int(quarter) * 900, info) for quarter in quarters], np.int64)
    return ticks + sign * offsets[places] * per_second


def _local_offset(seconds: int, info: datetime.tzinfo) -> int:
    moment = (_UTC_EPOCH + datetime.timedelta(seconds=seconds)).astimezone(info)
    return round((moment.utcoffset() or datetime.timedelta()).total_seconds())


def _instant_offset(seconds: int, info: datetime.tzinfo) -> int:
    moment = (_EPOCH + datetime.timedelta(seconds=seconds)).replace(tzinfo=info)
    return round((moment.utcoffset() or datetime.timedelta()).total_seconds())

"""The types of spans of time: so many months, or so many milliseconds."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from enum import Enum
from typing import Any

from penstock.columns.typesystem.base import AtomicType, require_range
from penstock.common.errors import ProgramError


class Resolution:
    """A field of an interval, as DAY or SECOND, with the number of its digits."""

    class IntervalUnit(Enum):
        SECOND = 0
        MINUTE = 1
        HOUR = 2
        DAY = 3
        MONTH = 4
        YEAR = 5

    def __init__(self, unit: IntervalUnit, precision: int = -1) -> None:
        self._unit = unit
        self._precision = precision

    @property
    def unit(self) -> IntervalUnit:
        return self._unit

    @property
    def precision(self) -> int:
        return self._precision

    def __str__(self) -> str:
        return f"{self._unit}({self._precision})"


class YearMonthIntervalType(AtomicType):
    """A number of months, seen as years, months, or both."""

    class YearMonthResolution:
        YEAR = 1
        MONTH = 2
        YEAR_TO_MONTH = 3

    DEFAULT_PRECISION = 2

    _resolution: int
    _precision: int

    def __init__(self, resolution: int, precision: int = DEFAULT_PRECISION, nullable: bool = True) -> None:
        if resolution not in _YEAR_MONTH_TEXT:
            raise ProgramError(f"{resolution!r} is no resolution of a year-month interval: use YearMonthResolution")
        if resolution == self.YearMonthResolution.MONTH and precision != self.DEFAULT_PRECISION:
            raise ProgramError("INTERVAL MONTH has no precision of years: leave it at 2")
        self._set(_resolution=resolution, _precision=require_range("The precision of years", precision, 1, 4))
        super().__init__(nullable)

    @property
    def resolution(self) -> int:
        return self._resolution

    @property
    def precision(self) -> int:
        return self._precision

    def _parameters(self) -> tuple[Any, ...]:
        return (self._resolution, self._precision)

    def __repr__(self) -> str:
        return f"YearMonthIntervalType({self._nullable_text()})"

    def _text(self, serializable: bool) -> str:
        return _YEAR_MONTH_TEXT[self._resolution].format(self._precision)


_YEAR_MONTH_TEXT = {1: "INTERVAL YEAR({})", 2: "INTERVAL MONTH", 3: "INTERVAL YEAR({}) TO MONTH"}


class DayTimeIntervalType(AtomicType):
    """A number of milliseconds, seen as days, hours, minutes, seconds, or a run of these."""

    class DayTimeResolution(Enum):
        DAY = 1
        DAY_TO_HOUR = 2
        DAY_TO_MINUTE = 3
        DAY_TO_SECOND = 4
        HOUR = 5
        HOUR_TO_MINUTE = 6
        HOUR_TO_SECOND = 7
        MINUTE = 8
        MINUTE_TO_SECOND = 9
        SECOND = 10

    DEFAULT_DAY_PRECISION = 2
    DEFAULT_FRACTIONAL_PRECISION = 6

    _resolution: DayTimeResolution
    _day_precision: int
    _fractional_precision: int

    def __init__(
        self,
        resolution: DayTimeResolution,
        day_precision: int = DEFAULT_DAY_PRECISION,
        fractional_precision: int = DEFAULT_FRACTIONAL_PRECISION,
        nullable: bool = True,
    ) -> None:
        name = resolution.name
        if "DAY" not in name and day_precision != self.DEFAULT_DAY_PRECISION:
            raise ProgramError(f"INTERVAL {name} has no days, so that its precision of days must stay at 2")
        if "SECOND" not in name and fractional_precision != self.DEFAULT_FRACTIONAL_PRECISION:
            raise ProgramError(f"INTERVAL {name} has no seconds, so that its fractional precision must stay at 6")
        self._set(
            _resolution=resolution,
            _day_precision=require_range("The precision of days", day_precision, 1, 6),
            _fractional_precision=require_range("The fractional precision", fractional_precision, 0, 9),
        )
        super().__init__(nullable)

    @property
    def resolution(self) -> DayTimeResolution:
        return self._resolution

    @property
    def day_precision(self) -> int:
        return self._day_precision

    @property
    def fractional_precision(self) -> int:
        return self._fractional_precision

    def need_conversion(self) -> bool:
        return True

    def to_sql_type(self, timedelta: datetime.timedelta | None) -> int | None:
        return None if timedelta is None else timedelta // datetime.timedelta(microseconds=1)

    def from_sql_type(self, ts: int | None) -> datetime.timedelta | None:
        return None if ts is None else datetime.timedelta(microseconds=ts)

    def _parameters(self) -> tuple[Any, ...]:
        return (self._resolution, self._day_precision, self._fractional_precision)

    def __repr__(self) -> str:
        return f"DayTimeIntervalType({self._nullable_text()})"

    def _text(self, serializable: bool) -> str:
        words = [self._field_text(unit) for unit in self._resolution.name.split("_TO_")]
        return "INTERVAL " + " TO ".join(words)

    def _field_text(self, unit: str) -> str:
        if unit == "DAY":
            return f"DAY({self._day_precision})"
        return f"SECOND({self._fractional_precision})" if unit == "SECOND" else unit


_Days = DayTimeIntervalType.DayTimeResolution
_Months = YearMonthIntervalType.YearMonthResolution
_Unit = Resolution.IntervalUnit
_DEFAULT_DAYS = DayTimeIntervalType.DEFAULT_DAY_PRECISION
_DEFAULT_FRACTION = DayTimeIntervalType.DEFAULT_FRACTIONAL_PRECISION
_Interval = YearMonthIntervalType | DayTimeIntervalType

_COMBINATIONS: dict[tuple[_Unit, _Unit | None], Callable[[int, int], _Interval]] = {
    (_Unit.YEAR, None): lambda upper, lower: YearMonthIntervalType(_Months.YEAR, upper),
    (_Unit.MONTH, None): lambda upper, lower: YearMonthIntervalType(_Months.MONTH),
    (_Unit.YEAR, _Unit.MONTH): lambda upper, lower: YearMonthIntervalType(_Months.YEAR_TO_MONTH, upper),
    (_Unit.DAY, None): lambda upper, lower: DayTimeIntervalType(_Days.DAY, upper),
    (_Unit.DAY, _Unit.HOUR): lambda upper, lower: DayTimeIntervalType(_Days.DAY_TO_HOUR, upper),
    (_Unit.DAY, _Unit.MINUTE): lambda upper, lower: DayTimeIntervalType(_Days.DAY_TO_MINUTE, upper),
    (_Unit.DAY, _Unit.SECOND): lambda upper, lower: DayTimeIntervalType(_Days.DAY_TO_SECOND, upper, lower),
    (_Unit.HOUR, None): lambda upper, lower: DayTimeIntervalType(_Days.HOUR),
    (_Unit.HOUR, _Unit.MINUTE): lambda upper, lower: DayTimeIntervalType(_Days.HOUR_TO_MINUTE),
    (_Unit.HOUR, _Unit.SECOND): lambda upper, lower: DayTimeIntervalType(_Days.HOUR_TO_SECOND, _DEFAULT_DAYS, lower),
    (_Unit.MINUTE, None): lambda upper, lower: DayTimeIntervalType(_Days.MINUTE),
    (_Unit.MINUTE, _Unit.SECOND): lambda upper, lower: DayTimeIntervalType(
        _Days.MINUTE_TO_SECOND, _DEFAULT_DAYS, lower
    ),
    (_Unit.SECOND, None): lambda upper, lower: DayTimeIntervalType(_Days.SECOND, _DEFAULT_DAYS, upper),
}


def interval_between(upper: Resolution, lower: Resolution | None) -> _Interval:
    """The interval type from one resolution down to another, as DAY TO SECOND."""
    make = _COMBINATIONS.get((upper.unit, None if lower is None else lower.unit))
    if make is None:
        below = "" if lower is None else f" TO {lower.unit.name}"
        raise ProgramError(f"There is no INTERVAL {upper.unit.name}{below}: the second unit must be a smaller one.")
    return make(upper.precision, _DEFAULT_FRACTION if lower is None else lower.precision)

"""Lengths of time and points in time, as programs write them down."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from penstock.common.errors import NotSupportedError

__all__ = ["Duration", "Instant", "Time"]

_NANOS_PER_MILLI = 1_000_000
_NANOS_PER_SECOND = 1_000_000_000


class Duration:
    """A length of time, made by one of the factories.

    >>> Duration.of_seconds(5).to_millis()
    5000
    """

    __slots__ = ("_nanos",)

    def __init__(self, nanos: int = 0) -> None:
        if isinstance(nanos, bool) or not isinstance(nanos, int):
            raise NotSupportedError(
                f"Duration({nanos!r}): a Duration does not wrap a Java object on Penstock."
                " Use a factory such as Duration.of_seconds(5)."
            )
        self._nanos = nanos

    @staticmethod
    def of_days(days: int) -> Duration:
        return Duration(_whole(days, "days") * 86_400 * _NANOS_PER_SECOND)

    @staticmethod
    def of_hours(hours: int) -> Duration:
        return Duration(_whole(hours, "hours") * 3_600 * _NANOS_PER_SECOND)

    @staticmethod
    def of_minutes(minutes: int) -> Duration:
        return Duration(_whole(minutes, "minutes") * 60 * _NANOS_PER_SECOND)

    @staticmethod
    def of_seconds(seconds: int) -> Duration:
        return Duration(_whole(seconds, "seconds") * _NANOS_PER_SECOND)

    @staticmethod
    def of_millis(millis: int) -> Duration:
        return Duration(_whole(millis, "millis") * _NANOS_PER_MILLI)

    @staticmethod
    def of_nanos(nanos: int) -> Duration:
        return Duration(_whole(nanos, "nanos"))

    def to_millis(self) -> int:
        """Whole milliseconds; a rest below one millisecond is cut off."""
        return self._nanos // _NANOS_PER_MILLI

    def to_nanos(self) -> int:
        return self._nanos

    def to_timedelta(self) -> timedelta:
        return timedelta(microseconds=self._nanos / 1_000)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Duration) and self._nanos == other._nanos

    def __lt__(self, other: Duration) -> bool:
        return self._nanos < other._nanos

    def __hash__(self) -> int:
        return hash((Duration, self._nanos))

    def __repr__(self) -> str:
        for unit, nanos in _DURATION_UNITS:
            if self._nanos % nanos == 0:
                return f"Duration.of_{unit}({self._nanos // nanos})"
        raise AssertionError("a whole number of nanoseconds is always divisible by one")


_DURATION_UNITS = (
    ("seconds", _NANOS_PER_SECOND),
    ("millis", _NANOS_PER_MILLI),
    ("nanos", 1),
)


def _whole(amount: Any, unit: str) -> int:
    if isinstance(amount, bool) or not isinstance(amount, int):
        raise TypeError(f"A Duration takes a whole number of {unit}, not {amount!r}.")
    return amount


class Instant:
    """A point in time with nanoseconds, counted from 1970-01-01T00:00:00Z."""

    __slots__ = ("nanos", "seconds")

    def __init__(self, seconds: int, nanos: int) -> None:
        self.seconds = seconds
        self.nanos = nanos

    def to_epoch_milli(self) -> int:
        return self.seconds * 1_000 + self.nanos // _NANOS_PER_MILLI

    @staticmethod
    def of_epoch_milli(epoch_milli: int) -> Instant:
        seconds, millis = divmod(epoch_milli, 1_000)
        return Instant(seconds, millis * _NANOS_PER_MILLI)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Instant) and (self.seconds, self.nanos) == (other.seconds, other.nanos)

    def __lt__(self, other: Instant) -> bool:
        return (self.seconds, self.nanos) < (other.seconds, other.nanos)

    def __hash__(self) -> int:
        return hash((self.seconds, self.nanos))

    def __reduce__(self) -> tuple[type[Instant], tuple[int, int]]:
        return Instant, (self.seconds, self.nanos)

    def __repr__(self) -> str:
        return f"Instant<{self.seconds}, {self.nanos}>"


class Time:
    """A length of time in milliseconds, as window assigners take it: ``Time.seconds(5)``."""

    __slots__ = ("_milliseconds",)

    def __init__(self, milliseconds: int) -> None:
        self._milliseconds = milliseconds

    def to_milliseconds(self) -> int:
        return self._milliseconds

    @staticmethod
    def milliseconds(milliseconds: int) -> Time:
        return Time(milliseconds)

    @staticmethod
    def seconds(seconds: int) -> Time:
        return Time(seconds * 1_000)

    @staticmethod
    def minutes(minutes: int) -> Time:
        return Time(minutes * 60_000)

    @staticmethod
    def hours(hours: int) -> Time:
        return Time(hours * 3_600_000)

    @staticmethod
    def days(days: int) -> Time:
        return Time(days * 86_400_000)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Time) and self._milliseconds == other._milliseconds

    def __hash__(self) -> int:
        return hash((Time, self._milliseconds))

    def __str__(self) -> str:
        return f"{self._milliseconds} ms"

    def __repr__(self) -> str:
        return f"Time.milliseconds({self._milliseconds})"

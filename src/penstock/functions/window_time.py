"""Sizes, slides, gaps and intervals of windows: what is accepted and how it becomes milliseconds."""

from __future__ import annotations

from typing import Any

from penstock.common.errors import ProgramError
from penstock.common.time import Duration, Time


def milliseconds_of(given: Time | Duration, what: str) -> int:
    """PyFlink takes a Time here, Flink 2's Java API a Duration: both are welcome."""
    if isinstance(given, Time):
        return given.to_milliseconds()
    if isinstance(given, Duration):
        return given.to_millis()
    raise ProgramError(f"{what} must be a Time such as Time.seconds(5), got {given!r}")


def require_positive(number: Any, what: str) -> None:
    if not isinstance(number, int) or isinstance(number, bool) or number <= 0:
        raise ProgramError(f"{what} must be a positive integer, got {number!r}")

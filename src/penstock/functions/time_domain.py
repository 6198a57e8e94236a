"""The two kinds of time that a timer can belong to."""

from __future__ import annotations

from enum import Enum

__all__ = ["TimeDomain"]


class TimeDomain(Enum):
    """Whether a timer waits for the watermark or for the clock."""

    EVENT_TIME = 0
    PROCESSING_TIME = 1

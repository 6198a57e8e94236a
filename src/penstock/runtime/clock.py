"""Processing time, injected wherever behaviour depends on it."""

from __future__ import annotations

import time
from collections.abc import Callable

Clock = Callable[[], int]


def system_clock() -> int:
    """Milliseconds since 1970."""
    return time.time_ns() // 1_000_000

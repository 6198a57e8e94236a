"""How a program is run: as an endless stream or as a bounded batch."""

from __future__ import annotations

from enum import Enum

__all__ = ["RuntimeExecutionMode"]


class RuntimeExecutionMode(Enum):
    """Passed to ``env.set_runtime_mode``.

    STREAMING runs with watermarks, timers and incremental results. BATCH runs bounded input and emits final
    results. AUTOMATIC is BATCH when all sources are bounded, else STREAMING.
    """

    STREAMING = 0
    BATCH = 1
    AUTOMATIC = 2

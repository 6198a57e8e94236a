"""What a restart after a failure guarantees about state."""

from __future__ import annotations

from enum import Enum

__all__ = ["CheckpointingMode"]


class CheckpointingMode(Enum):
    """How often a record can count in state when a job recovers.

    Penstock's epochs are always exactly once, which also fulfils AT_LEAST_ONCE.
    """

    EXACTLY_ONCE = 0
    AT_LEAST_ONCE = 1

"""The user's window as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from penstock.functions.element import AggregateFunction, ReduceFunction

PARAMETER = "window"


@dataclass(frozen=True)
class WindowSettings:
    """One windowed operation. `aggregation` folds elements when they arrive; without it they are kept."""

    assigner: Any
    trigger: Any
    evictor: Any = None
    allowed_lateness: int = 0
    late_tag: str | None = None
    aggregation: ReduceFunction | AggregateFunction | None = None

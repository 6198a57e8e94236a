"""What a window operator is told: the user's window as data, and which implementation serves it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from penstock.functions.element import AggregateFunction, ReduceFunction
from penstock.functions.window_assigners import (
    DynamicEventTimeSessionWindows,
    EventTimeSessionWindows,
    SlidingEventTimeWindows,
    TumblingEventTimeWindows,
)
from penstock.functions.window_triggers import EventTimeTrigger

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

    @property
    def kind(self) -> str:
        """The operator kind for these settings: a fast one where its results are those of the general one."""
        if self.evictor is not None or type(self.trigger) is not EventTimeTrigger:
            return "window"
        if self.aggregation is None:
            aligned = type(self.assigner) in (TumblingEventTimeWindows, SlidingEventTimeWindows)
            return "element_window" if aligned else "window"
        if type(self.assigner) is TumblingEventTimeWindows:
            return "tumbling_window"
        if type(self.assigner) is SlidingEventTimeWindows:
            return "sliding_window"
        if type(self.assigner) in (EventTimeSessionWindows, DynamicEventTimeSessionWindows):
            return "session_window"
        return "window"

"""What a trigger is: when it is asked, what it may ask, and what it answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from enum import Enum
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from penstock.functions.state_descriptors import StateDescriptor
    from penstock.functions.state_interfaces import State
    from penstock.metrics import MetricGroup

__all__ = ["Trigger", "TriggerResult"]

T = TypeVar("T")
W = TypeVar("W")


class TriggerResult(Enum):
    """What happens to a window: evaluated (fire), emptied (purge), both or neither.

    An empty window is not evaluated, whatever the trigger says.
    """

    CONTINUE = (False, False)
    FIRE_AND_PURGE = (True, True)
    FIRE = (True, False)
    PURGE = (False, True)

    def is_fire(self) -> bool:
        return self.value[0]

    def is_purge(self) -> bool:
        return self.value[1]


class Trigger(ABC, Generic[T, W]):
    """Decides when a window of a key is evaluated.

    One trigger object serves all keys and windows: what it must remember goes into
    ``ctx.get_partitioned_state(...)``, never into attributes. To be used with merging windows (sessions) it
    must return True from :meth:`can_merge` and implement :meth:`on_merge`.
    """

    class TriggerContext(ABC):
        """Time, timers and state of the key and window that the trigger is asked about."""

        @abstractmethod
        def get_current_processing_time(self) -> int:
            """The clock of the machine, in epoch milliseconds."""

        @abstractmethod
        def get_metric_group(self) -> MetricGroup:
            """Where the operator's metrics are registered."""

        @abstractmethod
        def get_current_watermark(self) -> int:
            """The watermark of the operator."""

        @abstractmethod
        def register_processing_time_timer(self, time: int) -> None:
            """Call :meth:`Trigger.on_processing_time` when the clock reaches ``time``."""

        @abstractmethod
        def register_event_time_timer(self, time: int) -> None:
            """Call :meth:`Trigger.on_event_time` when the watermark reaches ``time``."""

        @abstractmethod
        def delete_processing_time_timer(self, time: int) -> None:
            """Delete this window's processing-time timer at ``time``."""

        @abstractmethod
        def delete_event_time_timer(self, time: int) -> None:
            """Delete this window's event-time timer at ``time``."""

        @abstractmethod
        def get_partitioned_state(self, state_descriptor: StateDescriptor) -> State:
            """The trigger's own state for this key and window."""

    class OnMergeContext(TriggerContext):
        """The context of the window that results from a merge."""

        @abstractmethod
        def merge_partitioned_state(self, state_descriptor: StateDescriptor) -> None:
            """Merge this state of all merged windows into that of the result."""

    @abstractmethod
    def on_element(self, element: T, timestamp: int, window: W, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Called for every element after it was added to the window."""

    @abstractmethod
    def on_processing_time(self, time: int, window: W, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Called when a processing-time timer of the trigger is due."""

    @abstractmethod
    def on_event_time(self, time: int, window: W, ctx: Trigger.TriggerContext) -> TriggerResult:
        """Called when an event-time timer of the trigger is due."""

    def can_merge(self) -> bool:
        """Whether the trigger works with merging windows."""
        return False

    @abstractmethod
    def on_merge(self, window: W, ctx: Trigger.OnMergeContext) -> None:
        """Called after windows were merged into ``window``: merge state, set timers again."""

    @abstractmethod
    def clear(self, window: W, ctx: Trigger.TriggerContext) -> None:
        """Called when the window is dropped: delete the trigger's state and timers."""

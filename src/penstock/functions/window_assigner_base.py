"""What a window assigner is, and the ones that also merge windows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from penstock.common.serializer import TypeSerializer
    from penstock.functions.base import RuntimeContext
    from penstock.functions.window_trigger_base import Trigger

__all__ = ["MergingWindowAssigner", "SessionWindowTimeGapExtractor", "WindowAssigner"]

T = TypeVar("T")
W = TypeVar("W")
W2 = TypeVar("W2")


class WindowAssigner(ABC, Generic[T, W]):
    """Says which windows an element belongs to: ``keyed.window(assigner)``."""

    class WindowAssignerContext(ABC):
        """What an assigner may ask."""

        @abstractmethod
        def get_current_processing_time(self) -> int:
            """The clock of the machine, in epoch milliseconds."""

        @abstractmethod
        def get_runtime_context(self) -> RuntimeContext:
            """The operator's runtime context, with its keyed state."""

    @abstractmethod
    def assign_windows(
        self, element: T, timestamp: int, context: WindowAssigner.WindowAssignerContext
    ) -> Collection[W]:
        """The windows that the element is added to."""

    @abstractmethod
    def get_default_trigger(self, env: Any) -> Trigger[T, W]:
        """The trigger that is used unless the program sets another one."""

    @abstractmethod
    def get_window_serializer(self) -> TypeSerializer[W]:
        """How this assigner's windows are written into snapshots."""

    @abstractmethod
    def is_event_time(self) -> bool:
        """Whether windows follow event time, so that elements can be late."""


class MergingWindowAssigner(WindowAssigner[T, W]):
    """An assigner whose windows grow together, as sessions do."""

    class MergeCallback(ABC, Generic[W2]):
        """How an assigner says which windows become one."""

        @abstractmethod
        def merge(self, to_be_merged: Iterable[W2], merge_result: W2) -> None:
            """Replace all of ``to_be_merged`` by ``merge_result``."""

    @abstractmethod
    def merge_windows(self, windows: Iterable[W], callback: MergingWindowAssigner.MergeCallback[W]) -> None:
        """Call the callback for each group of windows that must become one."""


class SessionWindowTimeGapExtractor(ABC):
    """Derives the session gap from the element, for session windows with a dynamic gap."""

    @abstractmethod
    def extract(self, element: Any) -> int:
        """The gap in milliseconds; it must be positive."""

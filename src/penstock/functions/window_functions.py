"""Functions that turn the contents of a window into results."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from penstock.functions.base import Function

if TYPE_CHECKING:
    from penstock.functions.base import KeyedStateStore

__all__ = [
    "AllWindowFunction",
    "PassThroughAllWindowFunction",
    "PassThroughWindowFunction",
    "ProcessAllWindowFunction",
    "ProcessWindowFunction",
    "WindowFunction",
]

W = TypeVar("W")
W2 = TypeVar("W2")
IN = TypeVar("IN")
OUT = TypeVar("OUT")
KEY = TypeVar("KEY")


class WindowFunction(Function, Generic[IN, OUT, KEY, W]):
    """Evaluates a keyed window: ``windowed.apply(MyWindowFunction())``."""

    @abstractmethod
    def apply(self, key: KEY, window: W, inputs: Iterable[IN]) -> Iterable[OUT]:
        """Return or yield the results of one firing."""


class AllWindowFunction(Function, Generic[IN, OUT, W]):
    """Evaluates a window of a stream without key: ``window_all(...).apply(MyAllWindowFunction())``."""

    @abstractmethod
    def apply(self, window: W, inputs: Iterable[IN]) -> Iterable[OUT]:
        """Return or yield the results of one firing."""


class ProcessWindowFunction(Function, Generic[IN, OUT, KEY, W]):
    """Evaluates a keyed window with access to time and to state: ``windowed.process(MyFunction())``."""

    class Context(ABC, Generic[W2]):
        """What one firing may ask; valid during that call only."""

        @abstractmethod
        def window(self) -> W2:
            """The window being evaluated."""

        @abstractmethod
        def current_processing_time(self) -> int:
            """The clock of the machine, in epoch milliseconds."""

        @abstractmethod
        def current_watermark(self) -> int:
            """The watermark of this operator."""

        @abstractmethod
        def window_state(self) -> KeyedStateStore:
            """State of this key and this window: remove it in :meth:`ProcessWindowFunction.clear`."""

        @abstractmethod
        def global_state(self) -> KeyedStateStore:
            """State of this key, shared by all its windows."""

    @abstractmethod
    def process(self, key: KEY, context: ProcessWindowFunction.Context[Any], elements: Iterable[IN]) -> Iterable[OUT]:
        """Return or yield the results of one firing."""

    def clear(self, context: ProcessWindowFunction.Context[Any]) -> None:
        """Called when the window expires: remove its ``window_state`` here."""


class ProcessAllWindowFunction(Function, Generic[IN, OUT, W]):
    """Like :class:`ProcessWindowFunction`, for a stream without key."""

    class Context(ABC, Generic[W2]):
        """What one firing may ask; valid during that call only."""

        @abstractmethod
        def window(self) -> W2:
            """The window being evaluated."""

        @abstractmethod
        def window_state(self) -> KeyedStateStore:
            """State of this window: remove it in :meth:`ProcessAllWindowFunction.clear`."""

        @abstractmethod
        def global_state(self) -> KeyedStateStore:
            """State shared by all windows."""

    @abstractmethod
    def process(self, context: ProcessAllWindowFunction.Context[Any], elements: Iterable[IN]) -> Iterable[OUT]:
        """Return or yield the results of one firing."""

    def clear(self, context: ProcessAllWindowFunction.Context[Any]) -> None:
        """Called when the window expires: remove its ``window_state`` here."""


class PassThroughWindowFunction(WindowFunction[IN, IN, KEY, W]):
    """Emits what the window holds: the window function of a pure reduce or aggregate."""

    def apply(self, key: KEY, window: W, inputs: Iterable[IN]) -> Iterable[IN]:
        return inputs


class PassThroughAllWindowFunction(AllWindowFunction[IN, IN, W]):
    """Emits what the window holds, for a stream without key."""

    def apply(self, window: W, inputs: Iterable[IN]) -> Iterable[IN]:
        return inputs

"""Functions that combine the records of two streams. Not in PyFlink; named as in Flink's Java API."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from penstock.functions.base import Function, RuntimeContext
from penstock.functions.window_functions import WindowFunction

__all__ = ["CoGroupFunction", "FlatJoinFunction", "JoinFunction", "ProcessJoinFunction", "TaggedUnion"]


class JoinFunction(Function):
    """Combines a pair of records with the same key and window: ``joined.apply(MyJoinFunction())``."""

    @abstractmethod
    def join(self, first: Any, second: Any) -> Any:
        """Return the record that stands for the pair."""


class FlatJoinFunction(Function):
    """Like :class:`JoinFunction`, with any number of results for a pair."""

    @abstractmethod
    def join(self, first: Any, second: Any) -> Iterable[Any]:
        """Return or yield the records that stand for the pair."""


class CoGroupFunction(Function):
    """Sees all records of both streams with the same key and window, also when one side has none."""

    @abstractmethod
    def co_group(self, first: Iterable[Any], second: Iterable[Any]) -> Iterable[Any]:
        """Return or yield the results of one key and window."""


class ProcessJoinFunction(Function):
    """Processes a pair of an interval join: ``left.interval_join(right).between(...).process(MyFunction())``."""

    class Context(ABC):
        """The times of the pair; valid during one call only."""

        @abstractmethod
        def get_left_timestamp(self) -> int:
            """The timestamp of the left record."""

        @abstractmethod
        def get_right_timestamp(self) -> int:
            """The timestamp of the right record."""

        @abstractmethod
        def get_timestamp(self) -> int:
            """The timestamp that results carry: the later of the two."""

    @abstractmethod
    def process_element(self, left: Any, right: Any, ctx: ProcessJoinFunction.Context) -> Iterable[Any]:
        """Return or yield the results of the pair; ``(tag, record)`` goes to a side output."""


class TaggedUnion(NamedTuple):
    """A record of one of two streams: what assigners, triggers and evictors of a window join or co-group see."""

    input_index: int
    value: Any

    def is_one(self) -> bool:
        return self.input_index == 0

    def is_two(self) -> bool:
        return self.input_index == 1

    def get_one(self) -> Any:
        """The record if it came from the first stream, else None."""
        return self.value if self.input_index == 0 else None

    def get_two(self) -> Any:
        """The record if it came from the second stream, else None."""
        return self.value if self.input_index == 1 else None


class _OverBothInputs(WindowFunction[Any, Any, Any, Any]):
    """A function of two inputs as the window function over tagged records."""

    def __init__(self, function: Function | Callable[..., Any]) -> None:
        self.function = function

    def open(self, runtime_context: RuntimeContext) -> None:
        if isinstance(self.function, Function):
            self.function.open(runtime_context)

    def close(self) -> None:
        if isinstance(self.function, Function):
            self.function.close()

    @staticmethod
    def _sides(inputs: Iterable[TaggedUnion]) -> tuple[list[Any], list[Any]]:
        sides: tuple[list[Any], list[Any]] = ([], [])
        for input_index, value in inputs:
            sides[input_index].append(value)
        return sides


class CoGroupedWindow(_OverBothInputs):
    """Calls a co-group function for each evaluated window."""

    def apply(self, key: Any, window: Any, inputs: Iterable[Any]) -> Iterable[Any]:
        function = self.function
        co_group = function.co_group if isinstance(function, CoGroupFunction) else function
        results: Iterable[Any] = co_group(*self._sides(inputs))  # type: ignore[operator]
        return results


class JoinedWindow(_OverBothInputs):
    """Calls a join function for each pair of an evaluated window."""

    def apply(self, key: Any, window: Any, inputs: Iterable[Any]) -> Iterable[Any]:
        function = self.function
        first, second = self._sides(inputs)
        if isinstance(function, FlatJoinFunction):
            for one in first:
                for other in second:
                    yield from function.join(one, other)
            return
        join: Any = function.join if isinstance(function, JoinFunction) else function
        for one in first:
            for other in second:
                yield join(one, other)

"""What users write to turn matches into records."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any

from penstock.common.errors import ProgramError
from penstock.functions.base import Function
from penstock.functions.output_tag import OutputTag

__all__ = [
    "PatternFlatSelectFunction",
    "PatternFlatTimeoutFunction",
    "PatternProcessFunction",
    "PatternSelectFunction",
    "PatternTimeoutFunction",
    "TimedOutPartialMatchHandler",
]

Match = dict[str, list[Any]]  # the events by the names of their stages, each list in the order of time


class PatternSelectFunction(Function):
    """One record per match: ``pattern_stream.select(MySelectFunction())``. A function of the match does the same."""

    @abstractmethod
    def select(self, pattern: Match) -> Any: ...


class PatternFlatSelectFunction(Function):
    """Any number of records per match: ``pattern_stream.flat_select(MyFlatSelectFunction())``, which yields them."""

    @abstractmethod
    def flat_select(self, pattern: Match) -> Iterable[Any]: ...


class PatternTimeoutFunction(Function):
    """One record for each partial match that ran out of time, and the moment at which it did."""

    @abstractmethod
    def timeout(self, pattern: Match, timeout_timestamp: int) -> Any: ...


class PatternFlatTimeoutFunction(Function):
    """Any number of records for each partial match that ran out of time."""

    @abstractmethod
    def timeout(self, pattern: Match, timeout_timestamp: int) -> Iterable[Any]: ...


class PatternProcessFunction(Function):
    """Sees matches with their context, and yields records; ``yield tag, record`` sends one to a side output.

    ::

        class Alerts(PatternProcessFunction, TimedOutPartialMatchHandler):
            def process_match(self, match, ctx):
                yield match["first"][0], ctx.timestamp()

            def process_timed_out_match(self, match, ctx):
                yield TOO_SLOW, match["first"][0]
    """

    class Context(ABC):
        """What a function sees beside the match."""

        @abstractmethod
        def timestamp(self) -> int:
            """The time of the event that completed the match, or at which it ran out of time."""

        @abstractmethod
        def current_processing_time(self) -> int:
            """The clock, in milliseconds."""

        @abstractmethod
        def output(self, output_tag: OutputTag, value: Any) -> None:
            """Sends a record to a side output; the same as yielding ``(output_tag, value)``."""

        @abstractmethod
        def get_current_key(self) -> Any:
            """The key of the events (beyond Flink)."""

        @abstractmethod
        def pattern_name(self) -> str:
            """The name of the dynamic pattern that matched; empty for the program's own pattern (beyond Flink)."""

        @abstractmethod
        def pattern_version(self) -> int:
            """The version of the dynamic pattern that matched (beyond Flink)."""

    @abstractmethod
    def process_match(self, match: Match, ctx: PatternProcessFunction.Context) -> Iterable[Any] | None: ...


class TimedOutPartialMatchHandler(ABC):
    """Mixed into a PatternProcessFunction, it also sees partial matches that ran out of time."""

    @abstractmethod
    def process_timed_out_match(self, match: Match, ctx: PatternProcessFunction.Context) -> Iterable[Any] | None:
        """Yields ``(output_tag, record)``: only complete matches go to the main output."""


class SelectAdapter(PatternProcessFunction):
    """A select function in the form that the runtime knows."""

    def __init__(self, function: Any, call: Callable[[Match], Any], flat: bool) -> None:
        self._function = function
        self._call = call
        self._flat = flat

    def open(self, runtime_context: Any) -> None:
        for function in self._functions():
            if isinstance(function, Function):
                function.open(runtime_context)

    def close(self) -> None:
        for function in self._functions():
            if isinstance(function, Function):
                function.close()

    def _functions(self) -> list[Any]:
        return [self._function]

    def process_match(self, match: Match, ctx: Any) -> Iterable[Any] | None:
        result = self._call(match)
        return result if self._flat else (result,)


class SelectAdapterWithTimeout(SelectAdapter, TimedOutPartialMatchHandler):
    """The same with a function for what ran out of time, whose records go to a side output."""

    def __init__(
        self,
        function: Any,
        call: Callable[[Match], Any],
        flat: bool,
        tag: OutputTag,
        timeout: Any,
        timeout_call: Callable[[Match, int], Any],
    ) -> None:
        super().__init__(function, call, flat)
        self._tag = tag
        self._timeout = timeout
        self._timeout_call = timeout_call

    def _functions(self) -> list[Any]:
        return [self._function, self._timeout]

    def process_timed_out_match(self, match: Match, ctx: Any) -> Iterable[Any] | None:
        result = self._timeout_call(match, ctx.timestamp())
        if not self._flat:
            return ((self._tag, result),)
        return None if result is None else [(self._tag, record) for record in result]


def call_of(given: Any, kind: type[Any], method: str, where: str) -> Callable[..., Any]:
    """What to call of a function object, or of a plain callable."""
    if isinstance(given, kind):
        return getattr(given, method)  # type: ignore[no-any-return]
    if callable(given) and not isinstance(given, type):
        return given  # type: ignore[no-any-return]
    raise ProgramError(f"{where} takes a {kind.__name__} or a function, got {given!r}")

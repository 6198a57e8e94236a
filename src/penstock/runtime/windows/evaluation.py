"""Calls the user's window function, whichever of its kinds it is, and keeps results with their timestamps."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from penstock.common.errors import ProgramError
from penstock.functions.window_count import WithKey
from penstock.functions.window_functions import (
    AllWindowFunction,
    ProcessAllWindowFunction,
    ProcessWindowFunction,
    WindowFunction,
)
from penstock.runtime.operators.process import ResultCollector
from penstock.runtime.windows.contexts import EvaluationContext

if TYPE_CHECKING:
    from penstock.runtime.windows.operator import WindowOperator


class Evaluation:
    """The window function of an operator. None as function emits what the window holds."""

    def __init__(self, operator: WindowOperator, function: Any, merging: bool) -> None:
        self._operator = operator
        self._function = function
        self._context = EvaluationContext(operator, merging)
        self._call = self._bind()
        self.clears = _overrides_clear(function)
        self.results = ResultCollector(operator)
        self.passes_through = function is None
        self.adds_key = type(function) is WithKey

    def _bind(self) -> Any:
        function = self._function
        if isinstance(function, ProcessWindowFunction):
            return lambda slot, window, contents: function.process(slot[0], self._context, contents)
        if isinstance(function, ProcessAllWindowFunction):
            return lambda slot, window, contents: function.process(self._context, contents)  # type: ignore[arg-type]
        if isinstance(function, WindowFunction):
            return lambda slot, window, contents: function.apply(slot[0], window, contents)
        if isinstance(function, AllWindowFunction):
            return lambda slot, window, contents: function.apply(window, contents)
        if function is None:
            return lambda slot, window, contents: contents
        raise ProgramError(
            f"{type(function).__name__} is no window function: use a ProcessWindowFunction or a WindowFunction "
            "(for window_all a ProcessAllWindowFunction or an AllWindowFunction)"
        )

    def evaluate(self, slot: tuple[Any, Any], window: Any, contents: Iterable[Any], timestamp: int) -> None:
        self._operator.scope.key = slot[0]
        self._context.at(slot, window)
        results = self._call(slot, window, contents)
        if results is not None:
            self.results.add(results, timestamp)

    def clear(self, slot: tuple[Any, Any], window: Any) -> None:
        """The window is dropped: the function removes its per-window state."""
        if self.clears:
            self._operator.scope.key = slot[0]
            self._function.clear(self._context.at(slot, window))


def _overrides_clear(function: Any) -> bool:
    if not isinstance(function, (ProcessWindowFunction, ProcessAllWindowFunction)):
        return False
    own = type(function).clear
    return own is not ProcessWindowFunction.clear and own is not ProcessAllWindowFunction.clear

"""Incremental aggregation: reduce, aggregate and built-in functions behind one shape that operators know."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any


class Folding:
    """How elements become an accumulator and the accumulator a result.

    `first` makes the accumulator of one element, `add(element, accumulator)` adds another one, `merge` joins the
    accumulators of two runs of elements, and `result` is what the window holds. `pure` promises that none of them
    changes what it is given.
    """

    pure = False

    first: Callable[[Any], Any]
    add: Callable[[Any, Any], Any]
    merge: Callable[[Any, Any], Any]
    result: Callable[[Any], Any]

    def add_run(self, entries: dict[Any, Any], keys: Sequence[Any], values: Sequence[Any]) -> None:
        """Adds elements to the accumulators of one window, by key: the loop that most windowed records run through."""
        raise NotImplementedError

    def results(self, accumulators: Iterable[Any]) -> list[Any]:
        return list(map(self.result, accumulators))

"""What count() of a windowed stream is made of."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from penstock.functions.element import AggregateFunction
from penstock.functions.window_functions import WindowFunction

__all__ = ["Count", "WithKey"]


class Count(AggregateFunction):
    """The number of elements."""

    def create_accumulator(self) -> int:
        return 0

    def add(self, value: Any, accumulator: int) -> int:
        return accumulator + 1

    def get_result(self, accumulator: int) -> int:
        return accumulator

    def merge(self, acc_a: int, acc_b: int) -> int:
        return acc_a + acc_b


class WithKey(WindowFunction[Any, Any, Any, Any]):
    """(key, result) for the result of an incremental aggregation."""

    def apply(self, key: Any, window: Any, inputs: Iterable[Any]) -> Iterable[Any]:
        return [(key, result) for result in inputs]

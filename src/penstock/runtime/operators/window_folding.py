"""Incremental aggregation: reduce and aggregate functions behind one shape, so that operators know only one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.datastream.functions import AggregateFunction, ReduceFunction


class Folding:
    """How elements become an accumulator and the accumulator a result.

    `first` makes the accumulator of one element, `add(element, accumulator)` adds another one, `merge` joins the
    accumulators of two runs of elements, and `result` is what the window holds.
    """

    first: Callable[[Any], Any]
    add: Callable[[Any, Any], Any]
    merge: Callable[[Any, Any], Any]
    result: Callable[[Any], Any]
    plain_result = False  # the accumulator is the result


class AggregateFolding(Folding):
    def __init__(self, function: AggregateFunction) -> None:
        self._create = function.create_accumulator
        self.add = function.add
        self.merge = function.merge
        self.result = function.get_result

    def first(self, value: Any) -> Any:  # type: ignore[override]
        return self.add(value, self._create())


class ReduceFolding(Folding):
    plain_result = True

    def __init__(self, function: ReduceFunction) -> None:
        self._reduce = function.reduce
        self.merge = function.reduce

    def first(self, value: Any) -> Any:  # type: ignore[override]
        return value

    def add(self, value: Any, accumulator: Any) -> Any:  # type: ignore[override]
        return self._reduce(accumulator, value)

    def result(self, accumulator: Any) -> Any:  # type: ignore[override]
        return accumulator


def folding_of(function: ReduceFunction | AggregateFunction) -> Folding:
    return AggregateFolding(function) if isinstance(function, AggregateFunction) else ReduceFolding(function)

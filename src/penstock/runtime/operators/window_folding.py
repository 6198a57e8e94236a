"""Incremental aggregation: reduce and aggregate functions behind one shape, so that operators know only one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from penstock.datastream.functions import AggregateFunction, ReduceFunction
from penstock.runtime.state.table import ABSENT


class Folding:
    """How elements become an accumulator and the accumulator a result.

    `first` makes the accumulator of one element, `add(element, accumulator)` adds another one, `merge` joins the
    accumulators of two runs of elements, and `result` is what the window holds.
    """

    first: Callable[[Any], Any]
    add: Callable[[Any, Any], Any]
    merge: Callable[[Any, Any], Any]
    result: Callable[[Any], Any]

    def add_run(
        self, entries: dict[Any, Any], changed: dict[Any, Any], keys: Iterable[Any], values: Iterable[Any]
    ) -> None:
        """Adds elements to the accumulators of one window, by key: the loop that most windowed records run through."""
        raise NotImplementedError

    def results(self, accumulators: Iterable[Any]) -> list[Any]:
        return list(map(self.result, accumulators))


class AggregateFolding(Folding):
    def __init__(self, function: AggregateFunction) -> None:
        self._create = function.create_accumulator
        self.add = function.add
        self.merge = function.merge
        self.result = function.get_result

    def first(self, value: Any) -> Any:
        return self.add(value, self._create())

    def add_run(
        self, entries: dict[Any, Any], changed: dict[Any, Any], keys: Iterable[Any], values: Iterable[Any]
    ) -> None:
        get, add, create = entries.get, self.add, self._create
        for key, value in zip(keys, values, strict=True):
            accumulator = get(key, ABSENT)
            if accumulator is ABSENT:
                accumulator = create()
            entries[key] = changed[key] = add(value, accumulator)


class ReduceFolding(Folding):
    def __init__(self, function: ReduceFunction) -> None:
        self._reduce = function.reduce
        self.merge = function.reduce

    def first(self, value: Any) -> Any:
        return value

    def add(self, value: Any, accumulator: Any) -> Any:
        return self._reduce(accumulator, value)

    def result(self, accumulator: Any) -> Any:
        return accumulator

    def add_run(
        self, entries: dict[Any, Any], changed: dict[Any, Any], keys: Iterable[Any], values: Iterable[Any]
    ) -> None:
        get, reduce = entries.get, self._reduce
        for key, value in zip(keys, values, strict=True):
            reduced = get(key, ABSENT)
            entries[key] = changed[key] = value if reduced is ABSENT else reduce(reduced, value)

    def results(self, accumulators: Iterable[Any]) -> list[Any]:
        return list(accumulators)


def folding_of(function: ReduceFunction | AggregateFunction) -> Folding:
    return AggregateFolding(function) if isinstance(function, AggregateFunction) else ReduceFolding(function)

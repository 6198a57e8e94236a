"""Incremental aggregation by the user's reduce and aggregate functions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from penstock.functions.element import AggregateFunction, ReduceFunction
from penstock.functions.rolling import RollingAggregation
from penstock.functions.window_count import Count
from penstock.runtime.operators.window_fields import FIELD_FOLDINGS
from penstock.runtime.operators.window_folding_base import Folding
from penstock.runtime.state.table import ABSENT


class AggregateFolding(Folding):
    def __init__(self, function: AggregateFunction) -> None:
        self._create = function.create_accumulator
        self.add = function.add
        self.merge = function.merge
        self.result = function.get_result

    def first(self, value: Any) -> Any:
        return self.add(value, self._create())

    def add_run(self, entries: dict[Any, Any], keys: Sequence[Any], values: Sequence[Any]) -> None:
        get, add, create = entries.get, self.add, self._create
        for key, value in zip(keys, values, strict=True):
            accumulator = get(key, ABSENT)
            if accumulator is ABSENT:
                accumulator = create()
            entries[key] = add(value, accumulator)


class CountFolding(AggregateFolding):
    pure = True

    def add_run(self, entries: dict[Any, Any], keys: Sequence[Any], values: Sequence[Any]) -> None:
        get = entries.get
        for key in keys:
            entries[key] = get(key, 0) + 1

    def results(self, accumulators: Iterable[Any]) -> list[Any]:
        return list(accumulators)


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

    def add_run(self, entries: dict[Any, Any], keys: Sequence[Any], values: Sequence[Any]) -> None:
        get, reduce = entries.get, self._reduce
        for key, value in zip(keys, values, strict=True):
            reduced = get(key, ABSENT)
            entries[key] = value if reduced is ABSENT else reduce(reduced, value)

    def results(self, accumulators: Iterable[Any]) -> list[Any]:
        return list(accumulators)


def folding_of(function: ReduceFunction | AggregateFunction) -> Folding:
    if type(function) is Count:
        return CountFolding(function)
    if isinstance(function, AggregateFunction):
        return AggregateFolding(function)
    field_folding = FIELD_FOLDINGS.get(type(function))
    if field_folding is not None and isinstance(function, RollingAggregation):
        return field_folding(function)
    return ReduceFolding(function)

"""sum, min, max, min_by and max_by over windows, without a call of user code per record."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import gt, itemgetter, lt
from typing import Any

from penstock.functions.element import AggregateFunction, ReduceFunction
from penstock.functions.rolling import MaximumBy, Minimum, MinimumBy, RollingAggregation, Sum
from penstock.functions.window_count import Count
from penstock.runtime.windows.folding import AggregateFolding, CountFolding, Entries, Folding, ReduceFolding

# The record that stands for the elements so far, the aggregated field, when the record came.
Accumulator = tuple[Any, Any, int]


class FieldFolding(Folding):
    """Aggregates the field alone; the resulting record is made once, when the window fires.

    Savepoints hold that record, which is what a reduce function would hold.
    """

    form = "field"
    pure = True

    def __init__(self, function: RollingAggregation) -> None:
        self._function = function
        self.position = function._position
        self.type_info = function.type_info
        self.mergeable = function.integral

    def first(self, value: Any) -> Accumulator:
        return value, self._function.field(value), 0

    def first_at(self, value: Any, order: int) -> Accumulator:
        return value, self._function.field(value), order

    def add_at(self, value: Any, accumulator: Accumulator, order: int) -> Accumulator:
        return self.merge(accumulator, (value, self._function.field(value), order))

    def add(self, value: Any, accumulator: Accumulator) -> Accumulator:
        return self.merge(accumulator, (value, self._function.field(value), accumulator[2]))

    def merge(self, accumulator: Accumulator, other: Accumulator) -> Accumulator:
        raise NotImplementedError

    def result(self, accumulator: Accumulator) -> Any:
        record, field, _ = accumulator
        if type(record) is tuple:
            position: Any = self.position
            return (*record[:position], field, *record[position + 1 :])
        return record if self._function.field(record) is field else self._function.replaced(record, field)

    def saved(self, accumulator: Accumulator) -> tuple[Any, int]:
        return self.result(accumulator), accumulator[2]

    def restored(self, content: Any, order: int) -> Accumulator:
        return content, self._function.field(content), order

    def restored_from_version_2(self, content: Any) -> Accumulator:
        return (*content, 0)

    def fields(self, values: Sequence[Any]) -> list[Any]:
        """The aggregated field of each record, at C speed where records are plain tuples that have it."""
        if set(map(type, values)) == {tuple}:
            try:
                return list(map(itemgetter(self.position), values))
            except (IndexError, TypeError):
                pass  # field() says what is wrong
        return list(map(self._function.field, values))

    def earlier(self, accumulator: Accumulator, other: Accumulator) -> Accumulator:
        return other if other[2] < accumulator[2] else accumulator


class SumFolding(FieldFolding):
    def merge(self, accumulator: Accumulator, other: Accumulator) -> Accumulator:
        record, _, order = self.earlier(accumulator, other)
        return record, accumulator[1] + other[1], order

    def add_run(self, entries: Entries, keys: Sequence[Any], values: Sequence[Any], orders: Iterable[int]) -> None:
        get = entries.get
        for key, value, field, order in zip(keys, values, self.fields(values), orders, strict=False):
            held = get(key)
            entries[key] = (value, field, order) if held is None else (held[0], held[1] + field, held[2])


class ExtremeFolding(FieldFolding):
    """min and max keep the first record and change its field, min_by and max_by keep the record itself."""

    def __init__(self, function: RollingAggregation) -> None:
        super().__init__(function)
        self.smallest = isinstance(function, (Minimum, MinimumBy))
        self.whole_record = isinstance(function, (MinimumBy, MaximumBy))
        self._better = lt if self.smallest else gt

    def merge(self, accumulator: Accumulator, other: Accumulator) -> Accumulator:
        better = other if self._better(other[1], accumulator[1]) else accumulator
        first = self.earlier(accumulator, other)
        if self.whole_record:
            return first if accumulator[1] == other[1] else better
        return first[0], better[1], first[2]

    def add_run(self, entries: Entries, keys: Sequence[Any], values: Sequence[Any], orders: Iterable[int]) -> None:
        get, better, whole_record = entries.get, self._better, self.whole_record
        for key, value, field, order in zip(keys, values, self.fields(values), orders, strict=False):
            held = get(key)
            if held is None:
                entries[key] = (value, field, order)
            elif better(field, held[1]):
                entries[key] = (value, field, order) if whole_record else (held[0], field, held[2])


def folding_of(function: ReduceFunction | AggregateFunction) -> Folding:
    if type(function) is Count:
        return CountFolding(function)
    if isinstance(function, AggregateFunction):
        return AggregateFolding(function)
    if not isinstance(function, RollingAggregation):
        return ReduceFolding(function)
    return SumFolding(function) if isinstance(function, Sum) else ExtremeFolding(function)

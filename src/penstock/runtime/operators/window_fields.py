"""sum, min, max, min_by and max_by over windows, without a call of user code per record."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import Any

from penstock.functions.rolling import (
    Maximum,
    MaximumBy,
    Minimum,
    MinimumBy,
    RollingAggregation,
    Sum,
)
from penstock.runtime.operators.window_folding_base import Folding

Accumulator = tuple[Any, Any]  # the record that stands for the window so far, the aggregated field


class FieldFolding(Folding):
    """Aggregates the field alone; the resulting record is made once, when the window fires."""

    pure = True

    def __init__(self, function: RollingAggregation) -> None:
        self._function = function
        self.position = function._position

    def first(self, value: Any) -> Accumulator:
        return value, self._function.field(value)

    def add(self, value: Any, accumulator: Accumulator) -> Accumulator:
        return self.merge(accumulator, (value, self._function.field(value)))

    def merge(self, accumulator: Accumulator, other: Accumulator) -> Accumulator:
        raise NotImplementedError

    def result(self, accumulator: Accumulator) -> Any:
        record, field = accumulator
        if type(record) is tuple:
            position: Any = self.position
            return (*record[:position], field, *record[position + 1 :])
        return record if self._function.field(record) is field else self._function.replaced(record, field)

    def fields(self, values: Sequence[Any]) -> list[Any]:
        """The aggregated field of each record, at C speed where records are plain tuples that have it."""
        if set(map(type, values)) == {tuple}:
            try:
                return list(map(itemgetter(self.position), values))
            except (IndexError, TypeError):
                pass  # field() says what is wrong
        return list(map(self._function.field, values))


class SumFolding(FieldFolding):
    def merge(self, accumulator: Accumulator, other: Accumulator) -> Accumulator:
        return accumulator[0], accumulator[1] + other[1]

    def add_run(self, entries: dict[Any, Any], keys: Sequence[Any], values: Sequence[Any]) -> None:
        get = entries.get
        for key, value, field in zip(keys, values, self.fields(values), strict=True):
            held = get(key)
            entries[key] = (value, field) if held is None else (held[0], held[1] + field)


class MinimumFolding(FieldFolding):
    def merge(self, accumulator: Accumulator, other: Accumulator) -> Accumulator:
        return (accumulator[0], other[1]) if other[1] < accumulator[1] else accumulator

    def add_run(self, entries: dict[Any, Any], keys: Sequence[Any], values: Sequence[Any]) -> None:
        get = entries.get
        for key, value, field in zip(keys, values, self.fields(values), strict=True):
            held = get(key)
            if held is None:
                entries[key] = (value, field)
            elif field < held[1]:
                entries[key] = (held[0], field)


class MaximumFolding(FieldFolding):
    def merge(self, accumulator: Accumulator, other: Accumulator) -> Accumulator:
        return (accumulator[0], other[1]) if other[1] > accumulator[1] else accumulator

    def add_run(self, entries: dict[Any, Any], keys: Sequence[Any], values: Sequence[Any]) -> None:
        get = entries.get
        for key, value, field in zip(keys, values, self.fields(values), strict=True):
            held = get(key)
            if held is None:
                entries[key] = (value, field)
            elif field > held[1]:
                entries[key] = (held[0], field)


class MinimumByFolding(FieldFolding):
    def merge(self, accumulator: Accumulator, other: Accumulator) -> Accumulator:
        return other if other[1] < accumulator[1] else accumulator

    def add_run(self, entries: dict[Any, Any], keys: Sequence[Any], values: Sequence[Any]) -> None:
        get = entries.get
        for key, value, field in zip(keys, values, self.fields(values), strict=True):
            held = get(key)
            if held is None or field < held[1]:
                entries[key] = (value, field)


class MaximumByFolding(FieldFolding):
    def merge(self, accumulator: Accumulator, other: Accumulator) -> Accumulator:
        return other if other[1] > accumulator[1] else accumulator

    def add_run(self, entries: dict[Any, Any], keys: Sequence[Any], values: Sequence[Any]) -> None:
        get = entries.get
        for key, value, field in zip(keys, values, self.fields(values), strict=True):
            held = get(key)
            if held is None or field > held[1]:
                entries[key] = (value, field)


FIELD_FOLDINGS: dict[type, type[FieldFolding]] = {
    Sum: SumFolding,
    Minimum: MinimumFolding,
    Maximum: MaximumFolding,
    MinimumBy: MinimumByFolding,
    MaximumBy: MaximumByFolding,
}

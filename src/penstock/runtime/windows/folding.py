"""Incremental aggregation, record by record: reduce, aggregate and built-in functions in one shape."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from penstock.functions.element import AggregateFunction, ReduceFunction
from penstock.functions.mergeable import is_mergeable
from penstock.runtime.state.table import ABSENT

Entries = dict[Any, Any]  # key -> accumulator
_IMMUTABLE = frozenset({int, float, str, bytes, bool, type(None)})


class Folding:
    """How elements become an accumulator and the accumulator a result.

    `first` makes the accumulator of one element, `add(element, accumulator)` adds another one, `merge` joins the
    accumulators of two groups of elements, and `result` is what the window holds. `mergeable` promises that groups
    may be folded apart and merged in any order; `pure` that none of the functions changes what it is given.
    """

    form = "accumulator"  # of what accumulators are made: a log that holds another form cannot be replayed
    mergeable = False
    pure = False

    first: Callable[[Any], Any]
    add: Callable[[Any, Any], Any]
    merge: Callable[[Any, Any], Any]
    result: Callable[[Any], Any]

    def first_at(self, value: Any, order: int) -> Any:
        """The same as `first` of the record that arrived in this place, which matters where sessions are merged."""
        return self.first(value)

    def add_at(self, value: Any, accumulator: Any, order: int) -> Any:
        return self.add(value, accumulator)

    def add_run(self, entries: Entries, keys: Sequence[Any], values: Sequence[Any], orders: Iterable[int]) -> None:
        """Adds elements to the accumulators of one span, by key: the loop that most windowed records run through.

        `orders` are numbers that grow with the arrival of records; they matter where slices are merged.
        """
        raise NotImplementedError

    def results(self, accumulators: Iterable[Any]) -> list[Any]:
        return list(map(self.result, accumulators))

    def saved(self, accumulator: Any) -> tuple[Any, int]:
        """What a savepoint holds of an accumulator, and the order of its first record."""
        return accumulator, 0

    def restored(self, content: Any, order: int) -> Any:
        """The inverse of saved()."""
        return content

    def restored_from_version_2(self, content: Any) -> Any:
        """From a savepoint of the time before ADR 14."""
        return content

    def of_elements(self, values: Sequence[Any]) -> Any:
        accumulator = self.first(values[0])
        for value in values[1:]:
            accumulator = self.add(value, accumulator)
        return accumulator

    def union(self, parts: Sequence[Mapping[Any, Any]]) -> Mapping[Any, Any]:
        """By key what the accumulators of several spans are together; the parts stay as they are."""
        if len(parts) == 1:
            return parts[0]
        safe = self.pure or all(_all_immutable(list(part.values())) for part in parts)
        merge = self.merge if safe else self.merge_copies
        merged = dict(parts[0].items())
        get = merged.get
        for part in parts[1:]:
            for key, accumulator in part.items():
                held = get(key, ABSENT)
                merged[key] = accumulator if held is ABSENT else merge(held, accumulator)
        return merged

    def merge_copies(self, one: Any, other: Any) -> Any:
        """For accumulators that stay in state: a merge may work in place."""
        return self.merge(own(one), own(other))


class AggregateFolding(Folding):
    def __init__(self, function: AggregateFunction) -> None:
        self._create = function.create_accumulator
        self.add = function.add
        self.merge = function.merge
        self.result = function.get_result
        self.mergeable = is_mergeable(function)

    def first(self, value: Any) -> Any:
        return self.add(value, self._create())

    def add_run(self, entries: Entries, keys: Sequence[Any], values: Sequence[Any], orders: Iterable[int]) -> None:
        get, add, create = entries.get, self.add, self._create
        for key, value in zip(keys, values, strict=True):
            accumulator = get(key, ABSENT)
            if accumulator is ABSENT:
                accumulator = create()
            entries[key] = add(value, accumulator)


class CountFolding(AggregateFolding):
    pure = True

    def __init__(self, function: AggregateFunction) -> None:
        super().__init__(function)
        self.mergeable = True

    def add_run(self, entries: Entries, keys: Sequence[Any], values: Sequence[Any], orders: Iterable[int]) -> None:
        get = entries.get
        for key in keys:
            entries[key] = get(key, 0) + 1

    def results(self, accumulators: Iterable[Any]) -> list[Any]:
        return list(accumulators)


class ReduceFolding(Folding):
    def __init__(self, function: ReduceFunction) -> None:
        self._reduce = function.reduce
        self.merge = function.reduce
        self.mergeable = is_mergeable(function)

    def first(self, value: Any) -> Any:
        return value

    def add(self, value: Any, accumulator: Any) -> Any:
        return self._reduce(accumulator, value)

    def result(self, accumulator: Any) -> Any:
        return accumulator

    def add_run(self, entries: Entries, keys: Sequence[Any], values: Sequence[Any], orders: Iterable[int]) -> None:
        get, reduce = entries.get, self._reduce
        for key, value in zip(keys, values, strict=True):
            reduced = get(key, ABSENT)
            entries[key] = value if reduced is ABSENT else reduce(reduced, value)

    def results(self, accumulators: Iterable[Any]) -> list[Any]:
        return list(accumulators)


def _all_immutable(accumulators: Collection[Any]) -> bool:
    kinds = set(map(type, accumulators))
    if kinds == {tuple}:
        kinds = set(map(type, chain.from_iterable(accumulators)))
    return _IMMUTABLE.issuperset(kinds)


def own(accumulator: Any) -> Any:
    """The accumulator itself if nothing can change it, else a copy."""
    kind = type(accumulator)
    if kind in _IMMUTABLE or (kind is tuple and _IMMUTABLE.issuperset(map(type, accumulator))):
        return accumulator
    return pickle.loads(pickle.dumps(accumulator, 5))

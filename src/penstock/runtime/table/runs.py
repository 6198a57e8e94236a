"""Rows of a batch brought together by slot, and folds over them one after the other, many slots at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from penstock.runtime.key_columns import Integers

Values = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]

_HOT = 32  # a run with more rows is folded by itself


@dataclass(frozen=True)
class Runs:
    """Rows that change one slot after the other.

    `order` sorts the rows of the batch by run, rows of a run keep their order. `starts` and `counts` say where each run
    lies in that order. A fresh run begins with nothing, whatever the slot has; the others go on with the slot's state.
    Runs of the same slot follow each other, and all but the first of them are fresh.
    """

    order: Integers
    starts: Integers
    counts: Integers
    slots: Integers
    fresh: Mask

    @staticmethod
    def by_slot(codes: npt.NDArray[np.integer[Any]], slots: Integers, fresh: Mask) -> Runs:
        """One run for each slot, of which `codes` has the number for each row."""
        order = np.argsort(codes.astype(np.uint16) if len(slots) <= 1 << 16 else codes, kind="stable")
        counts = np.bincount(codes, minlength=len(slots))
        return Runs(order, np.cumsum(counts) - counts, counts, slots, fresh)

    @cached_property
    def run_of_row(self) -> Integers:
        """The run of each row, in the order of runs."""
        return np.repeat(np.arange(len(self.starts)), self.counts)

    @cached_property
    def lasts(self) -> Integers:
        """Where the last row of each run lies."""
        return self.starts + self.counts - 1

    def each(self) -> Iterator[tuple[int, bool, list[int]]]:
        """For each run its slot, whether it is fresh, and the rows of the batch, for loops in Python."""
        order = self.order.tolist()
        starts, counts = self.starts.tolist(), self.counts.tolist()
        for slot, fresh, start, count in zip(self.slots.tolist(), self.fresh.tolist(), starts, counts, strict=True):
            yield slot, fresh, order[start : start + count]

    def begins(self, column: Values, initial: Any) -> Values:
        """What each run begins with, of an array by slot."""
        values = column[self.slots]
        if self.fresh.any():
            values[self.fresh] = initial
        return values


def running_sum(numbers: Values, begins: Values, runs: Runs) -> Values:
    """For each row the sum of all numbers of its run so far; whole numbers may wrap, as Java's do."""
    if numbers.dtype.kind != "i":
        return fold(np.add, numbers, begins, runs)  # in their order: sums of fractions depend on it
    sums = np.cumsum(numbers, dtype=numbers.dtype)
    before = sums[runs.starts] - numbers[runs.starts]
    sums += np.repeat(begins - before, runs.counts)
    return sums


def fold(ufunc: np.ufunc, numbers: Values, begins: Values, runs: Runs) -> Values:
    """For each row what the numbers of its run so far come to, combined one after the other."""
    result = numbers.copy()
    starts, counts = runs.starts, runs.counts
    with np.errstate(all="ignore"):
        result[starts] = ufunc(begins, numbers[starts])
        for run in np.flatnonzero(counts > _HOT).tolist():
            part = slice(starts[run], starts[run] + counts[run])
            result[part] = ufunc.accumulate(result[part])
        cold, cold_counts = starts[counts <= _HOT], counts[counts <= _HOT]
        for rank in range(1, int(cold_counts.max(initial=0))):
            left = cold_counts > rank
            cold, cold_counts = cold[left], cold_counts[left]
            result[cold + rank] = ufunc(result[cold + rank - 1], result[cold + rank])
    return result


def fold_frame(
    step: Callable[[list[Values], list[Values]], list[Values]],
    arguments: list[Values],
    begins: list[Values],
    runs: Runs,
) -> list[Values]:
    """For each row the accumulator that its run has come to, if a step makes it of the one before and of arguments."""
    results = [np.empty(len(runs.order), values.dtype) for values in begins]
    current, places, counts = begins, runs.starts, runs.counts
    rank = 0
    with np.errstate(all="ignore"):
        while len(places):
            current = step(current, [values[places] for values in arguments])
            for result, values in zip(results, current, strict=True):
                result[places] = values
            rank += 1
            left = counts > rank
            places, counts = places[left] + 1, counts[left]
            current = [values[left] for values in current]
    return results


def running_last(taking_part: Mask, runs: Runs) -> Integers:
    """For each row the place of the last row of its run so far that takes part; -1 when there is none."""
    places = np.where(taking_part, np.arange(len(taking_part)), -1)
    latest = np.maximum.accumulate(places) if len(places) else places
    return np.where(latest < np.repeat(runs.starts, runs.counts), -1, latest)


def running_first(taking_part: Mask, runs: Runs) -> Integers:
    """For each row the place of the first row of its run that takes part, if that is not after it; else -1."""
    count = len(taking_part)
    places = np.where(taking_part, np.arange(count), count)
    first = np.minimum.reduceat(places, runs.starts) if count else places
    by_row = np.repeat(first, runs.counts)
    return np.where(by_row > np.arange(count), -1, by_row)

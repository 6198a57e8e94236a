"""Batches cut by time, in an order that no window can tell from the order of arrival."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from penstock.runtime.batch import Batch, Integers


def distinct(numbers: Integers) -> list[int]:
    """The different numbers, in ascending order."""
    first, last = int(numbers.min()), int(numbers.max())
    if first == last:
        return [first]
    if last - first <= len(numbers):
        return [first + n for n in np.flatnonzero(np.bincount(numbers - first)).tolist()]
    return np.unique(numbers).tolist()  # type: ignore[no-any-return]


def runs(numbers: Integers) -> list[tuple[int, int, int]]:
    """Neighbours of the same number: (number, first position, position after the last)."""
    cuts = (np.flatnonzero(numbers[1:] != numbers[:-1]) + 1).tolist()
    starts = [0, *cuts]
    return list(zip(numbers[starts].tolist(), starts, [*cuts, len(numbers)], strict=True))


def by_number(numbers: Integers) -> Integers | None:
    """Positions that bring equal numbers together, each in order of arrival; None if they are together already."""
    first, last = int(numbers.min()), int(numbers.max())
    if first == last:
        return None
    offsets = numbers - first
    if last - first < 1 << 16:
        offsets = offsets.astype(np.uint16)  # which NumPy sorts several times faster
    return np.argsort(offsets, kind="stable")


def neighbours(batch: Batch, numbers: Integers) -> Iterator[tuple[int, Batch]]:
    """Neighbouring records of the same number, in order of arrival."""
    found = runs(numbers)
    if len(found) == 1:
        yield found[0][0], batch
        return
    # As lists: a column is made into objects once, and not slice by slice.
    lists = Batch(batch.values, batch.timestamps, batch.keys)
    for number, start, end in found:
        yield number, lists.slice(start, end)

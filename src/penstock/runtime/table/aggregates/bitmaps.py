"""Aggregates whose value is a bitmap, or how many members it has."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

from penstock.columns.kernels import bitmaps
from penstock.runtime.table.aggregates.contents import Bag

_Outcome = Callable[[Bag], Any]


def set_outcomes() -> dict[str, _Outcome]:
    """By the names of functions; a group without values has none."""
    found: dict[str, _Outcome] = {}
    for name, outcome in (("AND", _and), ("BUILD", _build), ("OR", _or), ("XOR", _xor)):
        found[f"BITMAP_{name}_AGG"] = outcome
        found[f"BITMAP_{name}_CARDINALITY_AGG"] = _counted(outcome)
    return found


def _counted(outcome: _Outcome) -> _Outcome:
    def cardinality(bag: Bag) -> int | None:
        bitmap = outcome(bag)
        return None if bitmap is None else bitmaps.cardinality(bitmap)

    return cardinality


def _build(bag: Bag) -> bytes | None:
    values = list(bag.present())
    return bitmaps.packed(values) if values else None


def _and(bag: Bag) -> bytes | None:
    return _folded(bitmaps.both, list(bag.present()))


def _or(bag: Bag) -> bytes | None:
    return _folded(bitmaps.either, list(bag.present()))


def _xor(bag: Bag) -> bytes | None:
    """A bitmap that is there an even number of times is as good as none."""
    counts = {value: count for value, count in bag.entries.items() if count > 0}
    if not counts:
        return None
    odd = [value for value, count in counts.items() if count % 2]
    return _folded(bitmaps.one_of, [bitmaps.packed([]), *odd])


def _folded(combine: Callable[[bytes, bytes], bytes], values: list[bytes]) -> bytes | None:
    return reduce(combine, values) if values else None

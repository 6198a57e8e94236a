"""JSON_OBJECTAGG, JSON_ARRAYAGG and PERCENTILE: what contents come to, with types and options."""

from __future__ import annotations

from typing import Any

from penstock.columns.kernels.json_functions import json_of, json_text
from penstock.columns.typesystem.base import DataType
from penstock.runtime.table.aggregates.contents import Bag, Outcome, Pairs, Sequel


def json_object(value_type: DataType, absent: bool) -> Outcome:
    def outcome(pairs: Pairs) -> str:
        kept = {key: value for key, value in pairs.entries.items() if value is not None or not absent}
        return json_text({key: json_of(kept[key], value_type) for key in sorted(kept)})

    return outcome


def json_array(value_type: DataType, absent: bool) -> Outcome:
    def outcome(sequel: Sequel) -> str:
        return json_text([json_of(row[0], value_type) for row in sequel.present() if row[0] is not None or not absent])

    return outcome


def percentile(fractions: Any) -> Outcome:
    """Between the two nearest values where none lies exactly there."""

    def at(values: list[tuple[Any, int]], total: int, fraction: float) -> float:
        position = fraction * (total - 1) + 1  # counted from 1: it decides how Flink's results are rounded
        below = int(position)
        low, high = _nth(values, below - 1), _nth(values, min(below, total - 1))
        return low if low == high else (below + 1 - position) * low + (position - below) * high

    def outcome(bag: Bag) -> Any:
        values = sorted((float(value), count) for value, count in bag.entries.items() if count > 0)
        total = sum(count for _, count in values)
        if not total:
            return None
        if isinstance(fractions, list):
            return [at(values, total, float(fraction)) for fraction in fractions]
        return at(values, total, float(fractions))

    return outcome


def _nth(values: list[tuple[Any, int]], place: int) -> float:
    for value, count in values:
        if place < count:
            return float(value)
        place -= count
    raise IndexError(place)

"""Numbers of the subtasks of a vertex put together, in Flink's shape."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import TypedDict


class Aggregate(TypedDict):
    min: int
    max: int
    avg: int
    sum: int
    median: int
    p25: int
    p75: int
    p95: int


Aggregated = TypedDict("Aggregated", {"metrics": dict[str, Aggregate], "status-duration": dict[str, Aggregate]})


def aggregate(values: Sequence[float]) -> Aggregate:
    ordered = sorted(values)

    def at(part: float) -> int:
        return int(ordered[min(len(ordered) - 1, int(part * len(ordered)))])

    return {
        "min": int(ordered[0]),
        "max": int(ordered[-1]),
        "avg": int(statistics.fmean(ordered)),
        "sum": int(sum(ordered)),
        "median": int(statistics.median(ordered)),
        "p25": at(0.25),
        "p75": at(0.75),
        "p95": at(0.95),
    }


def aggregated(metrics: Sequence[Mapping[str, object]], durations: Sequence[Mapping[str, int]]) -> Aggregated:
    """Of what is a number in each of them: whether a count is complete cannot be added."""
    return {"metrics": _by_name(metrics), "status-duration": _by_name(durations)}


def _by_name(groups: Sequence[Mapping[str, object]]) -> dict[str, Aggregate]:
    names = dict.fromkeys(name for group in groups for name in group)
    found: dict[str, Aggregate] = {}
    for name in names:
        values = [value for group in groups if isinstance(value := group.get(name), int | float)]
        if values and not any(isinstance(value, bool) for value in values):
            found[name] = aggregate(values)
    return found


def skew(values: Sequence[float]) -> float:
    """How far values are from their mean on average, as a part of it, in per cent; at most 100, as in Flink."""
    mean = statistics.fmean(values)
    return min(100.0, statistics.fmean(abs(value - mean) for value in values) / mean * 100) if mean else 0.0

"""Measurements of single runs, and the rows of the result: medians and spreads over the rounds."""

from __future__ import annotations

import statistics
from dataclasses import asdict, dataclass
from typing import Any

# What a row says when its runs disagree: the worst of them.
_WORST_FIRST = ("wrong", "failed", "no result", "partial", "whole run", "ok")


@dataclass(frozen=True)
class Measurement:
    case: str
    contestant: str
    metric: str
    value: float | None
    unit: str
    status: str
    note: str = ""


@dataclass(frozen=True)
class Row:
    """`spread` is (greatest - smallest) / median of the rounds; None when there was one."""

    case: str
    contestant: str
    metric: str
    value: float | None
    unit: str
    spread: float | None
    status: str
    note: str = ""

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def summarize(measurements: list[Measurement]) -> list[Row]:
    """One row per case, contestant and metric, in the order in which they were measured first."""
    groups: dict[tuple[str, str, str], list[Measurement]] = {}
    for measurement in measurements:
        groups.setdefault((measurement.case, measurement.contestant, measurement.metric), []).append(measurement)
    return [_row(group) for group in groups.values()]


def _row(group: list[Measurement]) -> Row:
    worst = min(group, key=lambda measurement: _WORST_FIRST.index(measurement.status))
    values = [measurement.value for measurement in group if measurement.value is not None]
    wrong = worst.status in ("wrong", "failed", "no result")
    median = None if wrong or not values else statistics.median(values)
    spread = (max(values) - min(values)) / median if median and len(values) > 1 else None
    return Row(worst.case, worst.contestant, worst.metric, median, worst.unit, spread, worst.status, worst.note)


def ratio(rows: list[Row], case: str, metric: str, contestant: str, reference: str) -> float | None:
    """Contestant by reference, from the medians; None when one of them has no valid value."""
    values = {row.contestant: row.value for row in rows if row.case == case and row.metric == metric}
    first, second = values.get(contestant), values.get(reference)
    return first / second if first and second else None

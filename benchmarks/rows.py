"""Measurements of single runs, and the rows of the result: medians and spreads over the rounds."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

# What a row says when its runs disagree: the worst of them.
_WORST_FIRST = ("wrong", "failed", "no result", "not run", "partial", "whole run", "ok")
WITHOUT_VALUE = ("wrong", "failed", "no result", "not run")
_COMPARED_CASES = {"keyed_count_skew": "keyed_count", "slide": "tumble"}


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
    """One row per case, contestant and metric, in the order in which cases and contestants were measured first.

    The cases that vary another one get its ratio to that one besides.
    """
    groups: dict[tuple[str, str, str], list[Measurement]] = {}
    for measurement in measurements:
        groups.setdefault((measurement.case, measurement.contestant, measurement.metric), []).append(measurement)
    rows = [_row(group) for group in groups.values()]
    rows += [row for case, other in _COMPARED_CASES.items() for row in _compared(rows, case, other)]
    cases = list(dict.fromkeys(row.case for row in rows))
    contestants = list(dict.fromkeys((row.case, row.contestant) for row in rows))
    return sorted(rows, key=lambda row: (cases.index(row.case), contestants.index((row.case, row.contestant))))


def _row(group: list[Measurement]) -> Row:
    worst = min(group, key=lambda measurement: _WORST_FIRST.index(measurement.status))
    values = [measurement.value for measurement in group if measurement.value is not None]
    median = None if worst.status in WITHOUT_VALUE or not values else statistics.median(values)
    spread = (max(values) - min(values)) / median if median and len(values) > 1 else None
    return Row(worst.case, worst.contestant, worst.metric, median, worst.unit, spread, worst.status, worst.note)


def _compared(rows: Sequence[Row], case: str, other: str) -> list[Row]:
    references = {row.contestant: row for row in rows if (row.case, row.metric) == (other, "rate") and row.value}
    found = []
    for own in rows:
        reference = references.get(own.contestant)
        if (own.case, own.metric) == (case, "rate") and own.value and reference is not None and reference.value:
            status = min(own.status, reference.status, key=_WORST_FIRST.index)
            found.append(Row(case, own.contestant, f"ratio to {other}", own.value / reference.value, "x", None, status))
    return found


def ratio(rows: Sequence[Row], case: str, metric: str, contestant: str, reference: str) -> float | None:
    """Contestant by reference, from the medians; None when one of them has no valid value."""
    values = {row.contestant: row.value for row in rows if row.case == case and row.metric == metric}
    first, second = values.get(contestant), values.get(reference)
    return first / second if first and second else None

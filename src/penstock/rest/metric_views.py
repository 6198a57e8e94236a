"""Metrics with selection and aggregation, as Flink's REST API has them."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypedDict

from penstock.control.job_control import JobDescription, OperatorDescription
from penstock.rest.aggregates import skew
from penstock.rest.endpoint import Query, bad_request


class MetricValue(TypedDict, total=False):
    id: str
    value: str


class AggregatedMetric(TypedDict, total=False):
    id: str
    min: float
    max: float
    avg: float
    sum: float
    skew: float


GET = Query("get", "names of the metrics whose values are wanted; without it, all names", many=True)
AGGREGATIONS: Mapping[str, Callable[[Sequence[float]], float]] = {
    "min": min,
    "max": max,
    "avg": statistics.fmean,
    "sum": sum,
    "skew": skew,
}
AGG = Query("agg", f"some of {', '.join(AGGREGATIONS)}; without it, all of them", many=True)


def selected(metrics: Mapping[str, float], names: Sequence[str] | None) -> list[MetricValue]:
    """Those that are there; a name that is not known has no value, as in Flink."""
    if not names:
        return [{"id": name} for name in sorted(metrics)]
    return [{"id": name, "value": text_of(metrics[name])} for name in names if name in metrics]


def text_of(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else str(value)


def aggregated(
    groups: Iterable[Mapping[str, float]], names: Sequence[str] | None, aggregations: Sequence[str] | None
) -> list[AggregatedMetric]:
    groups = list(groups)
    if not names:
        return [{"id": name} for name in sorted({name for group in groups for name in group})]
    for unknown in set(aggregations or ()) - AGGREGATIONS.keys():
        raise bad_request(f"{unknown!r} is no aggregation; there are {', '.join(AGGREGATIONS)}")
    found: list[AggregatedMetric] = []
    for name in names:
        values = [group[name] for group in groups if name in group]
        if values:
            wanted = {each: AGGREGATIONS[each](values) for each in aggregations or AGGREGATIONS}
            found.append({"id": name, **wanted})  # type: ignore[typeddict-item]
    return found


def vertex_metrics(operator: OperatorDescription) -> dict[str, float]:
    """As Flink names them: the subtask's index, a dot, the name."""
    return {f"{each.index}.{name}": value for each in operator.subtasks for name, value in each.metrics.items()}


def job_metrics(job: JobDescription) -> dict[str, float]:
    return dict(job.metrics)

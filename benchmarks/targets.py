"""What the project wants to reach, and what a run says about it."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from benchmarks import settings
from benchmarks.rows import Row, ratio

_UNKNOWN = "no figure"
_MS = "{:,.0f} ms".format
Measure = Callable[[Sequence[Row]], float | None]


@dataclass(frozen=True)
class Target:
    """`measure` gives the figure from the rows, None when a run lacks it; `text` writes it down."""

    name: str
    measure: Measure
    least: float | None = None
    below: float | None = None
    text: Callable[[float], str] = "{:,.2f} x".format

    def verdict(self, rows: Sequence[Row]) -> tuple[str, str]:
        figure = self.measure(rows)
        if figure is None:
            return _UNKNOWN, "open"
        reached = figure >= self.least if self.least is not None else self.below is not None and figure < self.below
        return self.text(figure), "reached" if reached else "not reached"


def _rates(case: str, contestant: str, reference: str) -> Measure:
    return lambda rows: ratio(rows, case, "rate", contestant, reference)


def _loop_share(rows: Sequence[Row]) -> float | None:
    whole = ratio(rows, "keyed_count", "rate", "penstock", "loop")
    return None if whole is None else whole / settings.PARALLELISM


def _value(case: str, contestant: str, metric: str) -> Measure:
    def measure(rows: Sequence[Row]) -> float | None:
        found = (row.value for row in rows if (row.case, row.contestant, row.metric) == (case, contestant, metric))
        return next(found, None)

    return measure


TARGETS = (
    Target("udf_map: 3 x PyFlink thread mode", _rates("udf_map", "penstock", "pyflink_thread"), least=3),
    Target("keyed_count: 100 x PyFlink process mode", _rates("keyed_count", "penstock", "pyflink_process"), least=100),
    Target("keyed_count, built-in: 2 x Flink SQL", _rates("keyed_count", "penstock_builtin", "flink_sql"), least=2),
    *(
        target
        for case in ("tumble", "slide", "session")
        for target in (
            Target(f"{case}, Python function: 1 x Flink SQL", _rates(case, "penstock", "flink_sql"), least=1),
            Target(f"{case}, built-in: 3 x Flink SQL", _rates(case, "penstock_builtin", "flink_sql"), least=3),
        )
    ),
    Target("cep: 1 x Flink SQL's MATCH_RECOGNIZE", _rates("cep", "penstock", "flink_sql"), least=1),
    Target("session, SQL: 1 x Flink SQL", _rates("session", "penstock_sql", "flink_sql"), least=1),
    Target(
        "cep, SQL: 1 x Flink SQL's MATCH_RECOGNIZE",
        _rates("cep", "penstock_sql", "flink_sql"),
        least=1,
    ),
    Target(
        "cep: 250,000 events/s",
        _value("cep", "penstock", "rate"),
        least=250_000,
        text="{:,.0f} records/s".format,
    ),
    *(
        Target(
            f"{case}, {title}: 60 % of a bare consume loop",
            _rates(case, contestant, "loop"),
            least=0.6,
            text="{:.0%}".format,
        )
        for case in settings.KAFKA_RESULT_EVERY
        for contestant, title in (("penstock_micro_batch", "micro-batches"), ("penstock", "resident"))
    ),
    Target("kafka: 20 x PyFlink thread mode", _rates("kafka", "penstock", "pyflink_thread"), least=20),
    Target("keyed_count: 40 % of the bare loop per core", _loop_share, least=0.4, text="{:.0%}".format),
    Target("latency: p50 below 30 ms", _value("latency", "penstock", "p50"), below=30, text=_MS),
    Target("latency: p99 below 80 ms", _value("latency", "penstock", "p99"), below=80, text=_MS),
    Target(
        "20,000 records/s: p99 below 150 ms",
        _value("latency_fast", "penstock", "p99"),
        below=150,
        text=_MS,
    ),
    Target(
        "keyed_count: 45 x PyFlink thread mode",
        _rates("keyed_count", "penstock", "pyflink_thread"),
        least=45,
    ),
    Target("keyed_count: 1 x Flink SQL", _rates("keyed_count", "penstock", "flink_sql"), least=1),
    Target(
        "three_hops: 70 x PyFlink thread mode",
        _rates("three_hops", "penstock", "pyflink_thread"),
        least=70,
    ),
    Target("keyed_count: 1 x micro-batches", _rates("keyed_count", "penstock", "penstock_micro_batch"), least=1),
    Target("three_hops: 1 x micro-batches", _rates("three_hops", "penstock", "penstock_micro_batch"), least=1),
    Target(
        "recovery: worker below 1 s", _value("recovery", "penstock", "worker killed"), below=1, text="{:.2f} s".format
    ),
    Target(
        "recovery: driver below 6 s", _value("recovery", "penstock", "driver killed"), below=6, text="{:.2f} s".format
    ),
    Target(
        "big_state: memory per key below 700 bytes",
        _value("big_state", "penstock", "memory per key"),
        below=700,
        text="{:,.0f} bytes".format,
    ),
)


def nexmark_ratios(rows: Sequence[Row], queries: Sequence[str], metric: str = "rate") -> dict[str, float]:
    """Penstock's rate by Flink's for each query that both have run."""
    found = {query: ratio(rows, f"nexmark {query}", metric, "penstock_sql", "flink_sql") for query in queries}
    return {query: value for query, value in found.items() if value is not None}


def _of_all(queries: Sequence[str], combine: Callable[[Iterable[float]], float]) -> Measure:
    """None unless every query has a figure: what is missing must not make the rest look good."""

    def measure(rows: Sequence[Row]) -> float | None:
        found = nexmark_ratios(rows, queries)
        return combine(found.values()) if len(found) == len(queries) else None

    return measure


def geometric_mean(ratios: Iterable[float]) -> float:
    return statistics.geometric_mean(list(ratios))


NEXMARK_TARGETS = (
    Target("geometric mean: 3 x Flink SQL", _of_all(settings.NEXMARK, geometric_mean), least=3),
    Target("every query: 1 x Flink SQL", _of_all(settings.NEXMARK, min), least=1),
    Target("stateless queries: 5 x Flink SQL", _of_all(settings.NEXMARK_STATELESS, min), least=5),
    Target(
        "Python scalar function: 20 x PyFlink",
        _rates("nexmark udf", "penstock_sql", "pyflink_process"),
        least=20,
    ),
    Target(
        "pandas function: 5 x PyFlink",
        _rates("nexmark udf_pandas", "penstock_sql", "pyflink_process"),
        least=5,
    ),
)


def target_table(rows: Sequence[Row], targets: Sequence[Target] = TARGETS) -> str:
    lines = ["| target | measured | |", "|---|--:|---|"]
    lines += [f"| {target.name} | {' | '.join(target.verdict(rows))} |" for target in targets]
    return "\n".join(lines) + "\n"

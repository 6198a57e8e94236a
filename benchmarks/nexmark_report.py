"""The tables of a run of Nexmark: a line for each query, the geometric mean, and the targets."""

from __future__ import annotations

from pathlib import Path

from benchmarks import settings
from benchmarks.chart import chart
from benchmarks.report import Result
from benchmarks.rows import Row
from benchmarks.targets import NEXMARK_TARGETS, geometric_mean, nexmark_ratios, target_table

BEGIN = "<!-- nexmark: begin; benchmarks.run writes what is between these lines -->"
END = "<!-- nexmark: end -->"
_COLUMNS = {
    "flink_sql": "Flink SQL (JVM)",
    "pyflink_process": "PyFlink process",
    "pyflink_thread": "PyFlink thread",
    "penstock_sql": "Penstock SQL",
}

_MEASURABLE_SECONDS = 0.1  # a difference of two queries that is smaller says nothing


def section(result: Result) -> str:
    rows = result.rows
    columns = [name for name in _COLUMNS if any(row.contestant == name for row in rows)]
    lines = [result.title, ""]
    lines += [f"| records/s | {' | '.join(_COLUMNS[name] for name in columns)} | Penstock by Flink SQL | less CPU |"]
    lines += [f"|---|{'--:|' * (len(columns) + 2)}"]
    rates, cpu = (nexmark_ratios(rows, settings.NEXMARK_QUERIES, metric) for metric in ("rate", "cpu"))
    for query in settings.NEXMARK_QUERIES:
        cells = [_cell(rows, query, name) for name in columns]
        cells += [f"{rates[query]:.1f} x" if query in rates else "", f"{1 / cpu[query]:.1f} x" if query in cpu else ""]
        lines.append(f"| {query} | {' | '.join(cells)} |")
    if rates:
        means = [f"**{geometric_mean(rates.values()):.1f} x**", f"{1 / geometric_mean(cpu.values()):.1f} x"]
        lines.append(f"| geometric mean |{' |' * len(columns)} {' | '.join(means)} |")
    lines += [
        "",
        "In brackets: CPU seconds of all processes. The time of a query is that from its submission to its end.",
        "",
    ]
    notes = {row.case: row.note for row in rows if row.status in ("wrong", "failed") or "differ" in row.note}
    lines += [f"- {case}: {note}" for case, note in notes.items()]
    lines += ["", *_functions_alone(rows)]
    return "\n".join([*lines, "", target_table(rows, NEXMARK_TARGETS)])


def _functions_alone(rows: list[Row]) -> list[str]:
    """What a Python function adds to the query without it: reading and writing, which both have to do, left out."""
    found = []
    for query, title in (("udf", "scalar"), ("udf_pandas", "pandas")):
        added = [_added_seconds(rows, query, contestant) for contestant in ("pyflink_process", "penstock_sql")]
        if None in added:
            continue
        theirs, ours = (seconds or 0.0 for seconds in added)
        times = f" ({theirs / ours:.1f} x)" if ours > _MEASURABLE_SECONDS else ""
        figures = f"PyFlink {theirs:.2f} s, Penstock {ours:.2f} s{times}"
        found.append(f"- The {title} function alone, `{query}` less `no_udf`: {figures}.")
    return found


def _added_seconds(rows: list[Row], query: str, contestant: str) -> float | None:
    walls = {row.case: row.value for row in rows if row.contestant == contestant and row.metric == "wall"}
    whole, without = walls.get(f"nexmark {query}"), walls.get("nexmark no_udf")
    return None if whole is None or without is None else whole - without


def _cell(rows: list[Row], query: str, contestant: str) -> str:
    found = {row.metric: row for row in rows if (row.case, row.contestant) == (f"nexmark {query}", contestant)}
    rate = found.get("rate")
    if rate is None:
        return ""
    if rate.value is None:
        return rate.status
    cpu = found.get("cpu")
    return f"{rate.value:,.0f}" + (f" ({cpu.value:.0f} s)" if cpu is not None and cpu.value is not None else "")


def publish(result: Result, results: Path, page: Path | None) -> None:
    (results / "nexmark.md").write_text(section(result))
    (results / "nexmark.svg").write_text(chart(result.rows, result.title))
    if page is not None:
        text = page.read_text()
        before, after = text.partition(BEGIN)[0], text.partition(END)[2]
        picture = "![rates of Nexmark's queries](../benchmarks/results/nexmark.svg)\n"
        page.write_text(f"{before}{BEGIN}\n{section(result)}\n{picture}{END}{after}")

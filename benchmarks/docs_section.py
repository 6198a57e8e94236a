"""The tables of docs/benchmarks.md, rewritten after every whole run.

python -m benchmarks.docs_section     writes it again from results/latest.json, the chart and the table too
"""

from __future__ import annotations

from pathlib import Path

from benchmarks import settings
from benchmarks.report import LEGEND, MARKS, Result, times, write_latest
from benchmarks.rows import Row, ratio
from benchmarks.targets import target_table

BEGIN = "<!-- benchmark: begin; benchmarks.run writes what is between these lines -->"
END = "<!-- benchmark: end -->"
_COLUMNS = {
    "penstock": "Penstock",
    "penstock_builtin": "Penstock built-in",
    "penstock_micro_batch": "Penstock micro-batches",
    "penstock_sql": "Penstock SQL",
    "pyflink_thread": "PyFlink thread",
    "pyflink_process": "PyFlink process",
    "flink_sql": "Flink SQL (JVM)",
    "spark": "PySpark",
    "loop": "bare loop",
    "duckdb": "DuckDB",
}


def update_page(path: Path, result: Result) -> None:
    text = path.read_text()
    if text.count(BEGIN) != 1 or text.count(END) != 1 or text.index(BEGIN) > text.index(END):
        raise ValueError(f"{path.name} needs the two lines {BEGIN} and {END}, once each and in this order")
    before, after = text.partition(BEGIN)[0], text.partition(END)[2]
    path.write_text(f"{before}{BEGIN}\n{section(result)}{END}{after}")


def section(result: Result) -> str:
    columns = [name for name in _COLUMNS if any(row.contestant == name for row in _rates(result))]
    lines = [f"{result.title}", ""]
    lines += [f"| records/s | {' | '.join(_COLUMNS[name] for name in columns)} |", f"|---|{'--:|' * len(columns)}"]
    for case in dict.fromkeys(row.case for row in _rates(result)):
        cells = [_cell(result, case, name) for name in columns]
        lines.append(f"| {case} | {' | '.join(cells)} |")
    lines += ["", f"In brackets: how many times as fast Penstock is. {LEGEND}", ""]
    lines += [*_others(result), target_table(result.rows)]
    lines.append("![rates by case and contestant](../benchmarks/results/latest.svg)\n")
    return "\n".join(lines)


def _rates(result: Result) -> list[Row]:
    return [row for row in result.rows if row.metric == "rate"]


def _cell(result: Result, case: str, contestant: str) -> str:
    row = next((row for row in _rates(result) if (row.case, row.contestant) == (case, contestant)), None)
    if row is None:
        return ""
    if row.value is None:
        return row.status
    text = f"{row.value:,.0f}{MARKS.get(row.status, '')}"
    advantage = ratio(result.rows, case, "rate", "penstock", contestant)
    return text if contestant == "penstock" or advantage is None else f"{text} ({times(advantage)})"


def _others(result: Result) -> list[str]:
    """What is measured otherwise than in records per second, of Penstock and PyFlink's thread mode."""
    shown = ("penstock", "pyflink_thread")
    live = [row for row in result.rows if row.case in settings.LIVE_SECONDS and row.contestant in shown]
    live = [row for row in live if row.value is not None]
    if not live:
        return []
    lines = ["| case | measured | Penstock | PyFlink thread |", "|---|---|--:|--:|"]
    for case, metric in dict.fromkeys((row.case, row.metric) for row in live):
        values = {row.contestant: row for row in live if (row.case, row.metric) == (case, metric)}
        cells = [f"{values[name].value:,.4g} {values[name].unit}" if name in values else "" for name in shown]
        lines.append(f"| {case} | {metric} | {' | '.join(cells)} |")
    return [*lines, ""]


def main() -> None:
    result = Result.read(settings.RESULTS / "latest.json")
    write_latest(settings.RESULTS, result)
    update_page(settings.ROOT / "docs" / "benchmarks.md", result)


if __name__ == "__main__":
    main()

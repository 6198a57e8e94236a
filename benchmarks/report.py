"""The result as JSON, and as Markdown tables with ratios."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.chart import chart
from benchmarks.contestants import TITLES
from benchmarks.rows import Row, ratio
from benchmarks.targets import target_table

REFERENCE = "penstock"
MARKS = {"partial": " †", "whole run": " ‡"}
LEGEND = "† too slow for its time limit: the rate until then. ‡ one commit only: records by the whole wall time."


@dataclass(frozen=True)
class Result:
    date: str
    machine: dict[str, Any]
    versions: dict[str, str]
    rows: list[Row]

    @staticmethod
    def read(path: Path) -> Result:
        data = json.loads(path.read_text())
        return Result(data["date"], data["machine"], data["versions"], [Row(**row) for row in data["rows"]])

    @property
    def title(self) -> str:
        about = self.machine
        text = f"{about['cpu']}, {about['cores']} cores, {about['memory_gb']} GB; {self.date}; SCALE={about['scale']:g}"
        return f"{text}. {about['remark']}".rstrip() if about.get("remark") else f"{text}."


def write_json(directory: Path, date: str, machine: dict[str, Any], versions: dict[str, str], rows: list[Row]) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    result = {"machine": machine, "date": date, "versions": versions, "rows": [row.as_json() for row in rows]}
    path = directory / f"{date.replace(':', '')}.json"
    path.write_text(json.dumps(result, indent=1) + "\n")
    return path


def write_latest(directory: Path, result: Result) -> None:
    (directory / "latest.md").write_text(f"{table(result)}\n{target_table(result.rows)}")
    (directory / "latest.svg").write_text(chart(result.rows, result.title))


def table(result: Result) -> str:
    rows = result.rows
    lines = [result.title, "", "| case | contestant | | spread | Penstock is |", "|---|---|--:|--:|--:|"]
    previous = None
    for row in rows:
        if row.metric in ("wall", "cpu") or row.status == "not run":
            continue
        case = row.case if row.case != previous else ""
        previous = row.case
        cells = [case, TITLES[row.contestant], value_text(rows, row), _spread(row), _advantage(rows, row)]
        lines.append(f"| {' | '.join(cells)} |")
    lines += ["", LEGEND]
    lines += [
        "In brackets: wall time with start, CPU seconds. Spread: (greatest - smallest) / median of the rounds.",
        "",
    ]
    bad = [row for row in rows if row.status in ("wrong", "failed", "no result")]
    lines += [f"- {row.case}, {TITLES[row.contestant]}: {row.status}. {_cell(row.note)}" for row in bad]
    left_out = [f"{row.case} {TITLES[row.contestant]}" for row in rows if row.status == "not run"]
    lines += [f"- Not run, for lack of time (`--minutes`): {', '.join(left_out)}."] if left_out else []
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return f"`{text[-250:].replace('`', '').replace('|', '/')}`" if text else ""


def value_text(rows: list[Row], row: Row) -> str:
    if row.value is None:
        return f"**{row.status}**"
    if row.metric == "rate":
        extras = {other.metric: other.value for other in rows if _same_run(other, row)}
        inside = [f"{extras[key]:.0f} s {key}" for key in ("wall", "cpu") if extras.get(key) is not None]
        text = f"{row.value:,.0f} {row.unit}" + (f" ({', '.join(inside)})" if inside else "")
    else:
        text = f"{row.metric}: {_short(row.value)} {row.unit}"
    return text + MARKS.get(row.status, "")


def _same_run(other: Row, row: Row) -> bool:
    return (other.case, other.contestant) == (row.case, row.contestant)


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.2g}"


def _spread(row: Row) -> str:
    return "" if row.spread is None else f"{row.spread:.0%}"


def _advantage(rows: list[Row], row: Row) -> str:
    """How many times as good Penstock is: more records, or less of anything else."""
    if row.contestant == REFERENCE or row.metric in ("lost", "doubled") or row.unit == "x":
        return ""
    found = ratio(rows, row.case, row.metric, REFERENCE, row.contestant)
    return "" if found is None else times(found if row.metric == "rate" else 1 / found)


def times(value: float) -> str:
    return f"{value:,.0f} x" if value >= 10 else f"{value:.2g} x"

"""The result as JSON, as a Markdown table with ratios, and as a chart."""

from __future__ import annotations

import json
import shutil
from html import escape
from pathlib import Path
from typing import Any

from benchmarks.contestants import TITLES
from benchmarks.rows import Row, ratio

REFERENCE = "penstock"
_MARKS = {"partial": " †", "whole run": " ‡"}
_WIDTH, _BAR, _LEFT, _GAP = 860, 15, 215, 30
_COLOURS = {"penstock": "#1a7f5a", "pyflink": "#d9822b", "flink_sql": "#b5484b", "spark": "#5b7db1"}


def write(directory: Path, date: str, machine: dict[str, Any], versions: dict[str, str], rows: list[Row]) -> list[Path]:
    directory.mkdir(parents=True, exist_ok=True)
    result = {"machine": machine, "date": date, "versions": versions, "rows": [row.as_json() for row in rows]}
    dated = directory / f"{date.replace(':', '')}.json"
    dated.write_text(json.dumps(result, indent=1) + "\n")
    shutil.copy(dated, directory / "latest.json")
    (directory / "latest.md").write_text(table(rows, date, machine))
    (directory / "latest.svg").write_text(chart(rows))
    return [directory / name for name in ("latest.json", "latest.md", "latest.svg")]


def table(rows: list[Row], date: str, machine: dict[str, Any]) -> str:
    lines = [
        f"{machine['cpu']}, {machine['cores']} cores, {machine['memory_gb']} GB; {date}; SCALE={machine['scale']:g}.",
        f"{machine['remark']}" if machine.get("remark") else "",
        "",
        "| case | contestant | | spread | Penstock is |",
        "|---|---|--:|--:|--:|",
    ]
    previous = None
    for row in rows:
        if row.metric in ("wall", "cpu"):
            continue
        case = row.case if row.case != previous else ""
        previous = row.case
        cells = [case, TITLES[row.contestant], value_text(rows, row), _spread(row), _advantage(rows, row)]
        lines.append(f"| {' | '.join(cells)} |")
    notes = [row for row in rows if row.status in ("wrong", "failed", "no result")]
    lines += ["", *(f"- {row.case}, {TITLES[row.contestant]}: {row.status}. {_cell(row.note)}" for row in notes)]
    lines += [
        "",
        "† cut off at its time limit: the rate until then. ‡ one commit only: records by the whole wall time.",
        "In brackets: wall time with start, CPU seconds. Spread: (greatest - smallest) / median of the rounds.",
    ]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return f"`{text[-200:].replace('`', '')}`" if text else ""


def value_text(rows: list[Row], row: Row) -> str:
    if row.value is None:
        return f"**{row.status}**"
    if row.metric == "rate":
        extras = {other.metric: other.value for other in rows if _same_run(other, row)}
        inside = [f"{extras[key]:.0f} s {key}" for key in ("wall", "cpu") if extras.get(key) is not None]
        text = f"{row.value:,.0f} {row.unit}" + (f" ({', '.join(inside)})" if inside else "")
    else:
        text = f"{row.metric}: {_short(row.value)} {row.unit}"
    return text + _MARKS.get(row.status, "")


def _same_run(other: Row, row: Row) -> bool:
    return (other.case, other.contestant) == (row.case, row.contestant)


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.2g}"


def _spread(row: Row) -> str:
    return "" if row.spread is None else f"{row.spread:.0%}"


def _advantage(rows: list[Row], row: Row) -> str:
    """How many times as good Penstock is: more records, or less of anything else."""
    if row.contestant == REFERENCE or row.metric in ("lost", "doubled"):
        return ""
    found = ratio(rows, row.case, row.metric, REFERENCE, row.contestant)
    if found is None:
        return ""
    times = found if row.metric == "rate" else 1 / found
    return f"{times:,.0f} x" if times >= 10 else f"{times:.2g} x"


def chart(rows: list[Row]) -> str:
    """Rates as bars, case by case; each case has its own linear scale, so that bars compare honestly within it."""
    rates = [row for row in rows if row.metric == "rate"]
    parts, top = [], 10
    for case in dict.fromkeys(row.case for row in rates):
        own = [row for row in rates if row.case == case]
        greatest = max((row.value or 0 for row in own), default=0) or 1
        parts.append(f'<text x="8" y="{top + 14}" font-weight="bold">{escape(case)} (records/s)</text>')
        top += 22
        for row in own:
            parts.append(_bar(rows, row, greatest, top))
            top += _BAR + 5
        top += _GAP - 15
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{top}" viewBox="0 0 {_WIDTH} {top}"'
        f' font-family="sans-serif" font-size="12"><rect width="100%" height="100%" fill="white"/>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def _bar(rows: list[Row], row: Row, greatest: float, top: int) -> str:
    value = row.value or 0
    length = max(1.0, (_WIDTH - _LEFT - 190) * value / greatest)
    colour = next((colour for name, colour in _COLOURS.items() if row.contestant.startswith(name)), "#999999")
    label = f"{value:,.0f}{_MARKS.get(row.status, '')}" if row.value is not None else row.status
    advantage = _advantage(rows, row)
    if advantage:
        label += f"  (Penstock {advantage})"
    return (
        f'<text x="{_LEFT - 8}" y="{top + 12}" text-anchor="end">{escape(TITLES[row.contestant])}</text>'
        f'<rect x="{_LEFT}" y="{top}" width="{length:.1f}" height="{_BAR}" fill="{colour}"/>'
        f'<text x="{_LEFT + length + 6:.1f}" y="{top + 12}">{escape(label)}</text>'
    )

"""The rates as bars on one logarithmic scale, case by case."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from benchmarks.contestants import TITLES
from benchmarks.rows import Row

_WIDTH, _LEFT, _RIGHT, _BAR, _STEP, _GAP = 940, 200, 110, 14, 18, 12
_TITLE_CHARACTERS = 140  # a remark may be longer than the chart is wide
_COLOURS = {
    "penstock": "#1a7f5a",
    "penstock_builtin": "#6bbf9c",
    "penstock_micro_batch": "#0b5d8a",
    "penstock_sql": "#8fb8d8",
    "pyflink_process": "#f0b27a",
    "pyflink_thread": "#d9822b",
    "pyflink_thread_rocksdb": "#a85f14",
    "flink_sql": "#b5484b",
    "flink_sql_rocksdb": "#7d2f33",
    "spark": "#5b7db1",
    "loop": "#8a8a8a",
    "duckdb": "#bdb76b",
}


def chart(rows: Sequence[Row], title: str) -> str:
    rates = [row for row in rows if row.metric == "rate" and row.status != "not run"]
    values = [row.value for row in rates if row.value]
    low = math.floor(math.log10(min(values, default=1)))
    high = max(low + 1, math.ceil(math.log10(max(values, default=10))))
    scale = _Scale(low, high)
    parts, top = _legend([row.contestant for row in rates])
    first = top
    for case in dict.fromkeys(row.case for row in rates):
        parts.append(_text(8, top + 11, case, 'font-weight="bold"'))
        top += _STEP
        for row in (row for row in rates if row.case == case):
            parts.append(_bar(row, scale, top))
            top += _STEP
        top += _GAP
    grid = [_line(scale.x(10.0**power), first - 4, top - _GAP) for power in range(low, high + 1)]
    grid += [
        _text(scale.x(10.0**p), top, f"{10**p:,}", 'text-anchor="middle" fill="#555"') for p in range(low, high + 1)
    ]
    parts.append(_text(8, top + 22, "records/s, logarithmic; † cut off at its time limit", 'fill="#555"'))
    parts.append(_text(8, top + 38, title[:_TITLE_CHARACTERS], 'fill="#555"'))
    height = top + 48
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" viewBox="0 0 {_WIDTH} {height}"'
        f' font-family="sans-serif" font-size="11"><rect width="100%" height="100%" fill="white"/>\n'
        + "\n".join(grid + parts)
        + "\n</svg>\n"
    )


class _Scale:
    def __init__(self, low: int, high: int) -> None:
        self._low, self._width = low, (_WIDTH - _LEFT - _RIGHT) / (high - low)

    def x(self, value: float) -> float:
        return _LEFT + (math.log10(value) - self._low) * self._width


def _legend(contestants: Sequence[str]) -> tuple[list[str], int]:
    parts = []
    present = [name for name in _COLOURS if name in contestants]
    for number, name in enumerate(present):
        x, y = 8 + number % 4 * 232, 8 + number // 4 * 18
        parts.append(f'<rect x="{x}" y="{y}" width="12" height="12" fill="{_COLOURS[name]}"/>')
        parts.append(_text(x + 18, y + 10, TITLES[name]))
    return parts, 8 + (len(present) + 3) // 4 * 18 + 14


def _bar(row: Row, scale: _Scale, top: int) -> str:
    name = _text(_LEFT - 8, top + 11, TITLES[row.contestant], 'text-anchor="end"')
    if not row.value:
        return name + _text(_LEFT + 4, top + 11, row.status, 'fill="#b00"')
    width = max(1.0, scale.x(row.value) - _LEFT)
    label = f"{row.value:,.0f}{' †' if row.status == 'partial' else ''}"
    bar = f'<rect x="{_LEFT}" y="{top}" width="{width:.1f}" height="{_BAR}" fill="{_COLOURS[row.contestant]}"/>'
    return name + bar + _text(_LEFT + width + 5, top + 11, label)


def _text(x: float, y: float, text: str, style: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" {style}>{escape(text)}</text>'


def _line(x: float, top: float, bottom: float) -> str:
    return f'<line x1="{x:.1f}" y1="{top}" x2="{x:.1f}" y2="{bottom}" stroke="#ddd"/>'

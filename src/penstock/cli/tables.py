"""How jobs are shown to people: the columns, and a table that scripts can still read when it is piped."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from penstock.cli.status_line import format_duration

Column = tuple[str, Callable[[Mapping[str, Any]], str]]

_WIDTH_WITHOUT_TERMINAL = 200
UNKNOWN = "-"


def moment(milliseconds: int | None) -> str:
    if milliseconds is None:
        return UNKNOWN
    return datetime.fromtimestamp(milliseconds / 1000).strftime("%Y-%m-%d %H:%M:%S")


def duration(milliseconds: int | None) -> str:
    return UNKNOWN if milliseconds is None else format_duration(milliseconds)


def number(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value:,.0f}"


def text(value: object) -> str:
    return UNKNOWN if value is None else str(value)


JOB_COLUMNS: tuple[Column, ...] = (
    ("job", lambda job: job["id"]),
    ("name", lambda job: text(job["name"])),
    ("status", lambda job: job["status"]),
    ("started", lambda job: moment(job["start-time"])),
    ("duration", lambda job: duration(job["duration"])),
    ("epoch", lambda job: number(job["epoch"])),
    ("records/s", lambda job: number(job["rate"])),
)
OPERATOR_COLUMNS: tuple[Column, ...] = (
    ("uid", lambda operator: operator["id"]),
    ("operator", lambda operator: operator["name"]),
    ("kind", lambda operator: operator["penstock"]["kind"]),
    ("level", lambda operator: text(operator["penstock"]["level"])),
    ("parallelism", lambda operator: text(operator["parallelism"])),
    ("records in", lambda operator: number(operator["metrics"]["read-records"])),
)
SAVEPOINT_COLUMNS: tuple[Column, ...] = (
    ("epoch", lambda savepoint: text(savepoint["id"])),
    ("bytes", lambda savepoint: number(savepoint["state_size"])),
    ("took", lambda savepoint: duration(savepoint["end_to_end_duration"])),
    ("savepoint", lambda savepoint: savepoint["external_path"]),
)


def print_table(columns: Sequence[Column], rows: Sequence[Mapping[str, Any]]) -> None:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading, _ in columns:
        table.add_column(heading, no_wrap=heading in ("job", "status"), overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell(row)) for _, cell in columns))
    width = None if sys.stdout.isatty() else _WIDTH_WITHOUT_TERMINAL
    Console(file=sys.stdout, width=width, highlight=False).print(table)


def print_facts(facts: Sequence[tuple[str, str]]) -> None:
    """One fact a line; long values are not cut."""
    widest = max(len(name) for name, _ in facts)
    for name, value in facts:
        print(f"{name:<{widest}}  {value}")

"""How jobs are shown to people: the columns, and a table that scripts can still read when it is piped."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from penstock.cli.job_summary import JobSummary, OperatorSummary
from penstock.cli.status_line import format_duration
from penstock.control.attempts import Attempt

R = TypeVar("R")
Column = tuple[str, Callable[[R], str]]

_WIDTH_WITHOUT_TERMINAL = 1000  # nothing is broken into lines where a script reads it
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


JOB_COLUMNS: tuple[Column[JobSummary], ...] = (
    ("job", lambda job: job.id),
    ("name", lambda job: text(job.name)),
    ("status", lambda job: job.status),
    ("started", lambda job: moment(job.start_time)),
    ("duration", lambda job: duration(job.duration)),
    ("epoch", lambda job: number(job.epoch)),
    ("records/s", lambda job: number(job.rate)),
)
OPERATOR_COLUMNS: tuple[Column[OperatorSummary], ...] = (
    ("uid", lambda operator: operator.uid),
    ("operator", lambda operator: operator.name),
    ("kind", lambda operator: operator.kind),
    ("level", lambda operator: text(operator.level)),
    ("parallelism", lambda operator: text(operator.parallelism)),
    ("records in", lambda operator: number(operator.records_in)),
)
ATTEMPT_COLUMNS: tuple[Column[Attempt], ...] = (
    ("attempt", lambda attempt: text(attempt.number)),
    ("state", lambda attempt: attempt.state.name),
    ("started", lambda attempt: moment(attempt.started_at)),
    ("ended", lambda attempt: moment(attempt.ended_at)),
    ("from", lambda attempt: attempt.from_savepoint or f"epoch {attempt.from_epoch}"),
    ("driver", lambda attempt: text(attempt.driver)),
    ("failure", lambda attempt: UNKNOWN if attempt.failure is None else str(attempt.failure).partition("\n")[0]),
)
# Rows of the document that Flink's REST API has for checkpoints.
SNAPSHOT_COLUMNS: tuple[Column[Mapping[str, Any]], ...] = (
    ("id", lambda snapshot: text(snapshot["id"])),
    ("type", lambda snapshot: snapshot["checkpoint_type"].lower()),
    ("status", lambda snapshot: snapshot["status"]),
    ("triggered", lambda snapshot: moment(snapshot["trigger_timestamp"])),
    ("took", lambda snapshot: duration(snapshot["end_to_end_duration"])),
    ("epoch", lambda snapshot: number(snapshot["penstock"]["epoch"])),
    ("bytes", lambda snapshot: number(snapshot["state_size"])),
    ("subtasks", lambda snapshot: number(snapshot["num_subtasks"])),
    ("new records", lambda snapshot: number(snapshot["penstock"]["records-since"])),
    ("changed bytes", lambda snapshot: number(snapshot["penstock"]["changed-bytes"])),
    ("where, or why not", lambda snapshot: _where(snapshot)),
)


def _where(snapshot: Mapping[str, Any]) -> str:
    if snapshot["status"] == "FAILED":
        return text(snapshot["failure_message"])
    return UNKNOWN if snapshot.get("discarded", True) else text(snapshot["external_path"])


def print_table(columns: Sequence[Column[R]], rows: Sequence[R]) -> None:
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

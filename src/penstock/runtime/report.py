"""What a subtask tells the driver at the end of an epoch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from penstock.common.failure import Failure
from penstock.metrics.values import MetricValue
from penstock.runtime.exchange import REPORT_CHANNEL, ExchangeRow
from penstock.runtime.pickling import dumps, loads
from penstock.runtime.savepoint import SavedState, SavepointPart
from penstock.runtime.state_questions import PartialAnswer
from penstock.runtime.state_schema import StateSchema
from penstock.runtime.user_log import LogLine
from penstock.runtime.vitals import OperatorVitals, ProcessVitals

UnionLists = dict[str, dict[str, tuple[StateSchema, list[Any]]]]  # by uid and state: what one subtask has in it


@dataclass
class SubtaskReport:
    """Small facts; the driver completes the epoch from the reports of all subtasks."""

    level: int
    subtask: int
    records_in: dict[int, int] = field(default_factory=dict)  # by operator id, this epoch
    busy_ms: float = 0.0  # how long operators worked, this epoch
    watermarks: dict[int, int] = field(default_factory=dict)
    idle: set[int] = field(default_factory=set)  # operators that make watermarks and have nothing to tell for now
    next_processing_time: int | None = None
    finished: bool = False
    failure: Failure | None = None
    stdout: str = ""
    stderr: str = ""
    log: list[LogLine] = field(default_factory=list)
    delta: Any = None  # level 0 only: its snapshot travels with the driver's epoch record
    snapshots: tuple[str | None, str] | None = None  # other levels: ids of the one it began with, and of the new one
    changed_bytes: int = 0  # what the epoch added to the subtask's snapshot
    readings: dict[str, Any] = field(default_factory=dict)  # by uid of the source: how far it was read
    held_back: bool = False  # a source had more to read than the epoch's budget allowed
    committables: dict[int, list[Any]] = field(default_factory=dict)
    savepoint_part: SavepointPart | None = None
    savepoint_failure: str | None = None
    states: dict[str, tuple[SavedState, ...]] = field(default_factory=dict)  # by uid, of what was saved
    metrics: dict[str, dict[str, MetricValue]] = field(default_factory=dict)  # by uid and name, since the job began
    union_lists: UnionLists = field(default_factory=dict)
    vitals: dict[int, OperatorVitals] = field(default_factory=dict)  # by operator id
    process: ProcessVitals | None = None
    snapshot_ms: float = 0.0
    pressed: float | None = None  # share of the time without room for what it would send; tasks that stay know it
    answers: dict[int, tuple[PartialAnswer, ...]] = field(default_factory=dict)  # about state, by ticket


def report_row(report: SubtaskReport) -> ExchangeRow:
    return ExchangeRow(report.subtask, REPORT_CHANNEL, report.level, dumps(report))


def read_report(payload: bytes) -> SubtaskReport:
    report: SubtaskReport = loads(payload)
    return report

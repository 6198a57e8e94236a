"""Savepoints without the job: read their state, change it, take an operator out, or make one from data."""

from penstock.runtime.state_rows import StateRow
from penstock.state_processor.reader import OperatorSummary, SavepointReader, StateSummary, TimerRow
from penstock.state_processor.rows import StateRows
from penstock.state_processor.writer import SavepointWriter

__all__ = [
    "OperatorSummary",
    "SavepointReader",
    "SavepointWriter",
    "StateRow",
    "StateRows",
    "StateSummary",
    "TimerRow",
]

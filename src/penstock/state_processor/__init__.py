"""Reads and writes savepoints without running the job: look at state, take an operator out, start with state of one's own."""

from penstock.state_processor.reader import OperatorSummary, SavepointReader, StateSummary, TimerRow
from penstock.state_processor.rows import StateRow, StateRows
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

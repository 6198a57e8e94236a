"""The rows that Spark carries between the levels, and the channels that are not edges of the graph."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from penstock.runtime.exchange import ExchangeRow
from penstock.runtime.pickling import dumps, loads
from penstock.runtime.report import SubtaskReport

SPARK_SCHEMA = "target int, channel long, seq long, payload binary"
ARROW_SCHEMA = pa.schema(
    [("target", pa.int32()), ("channel", pa.int64()), ("seq", pa.int64()), ("payload", pa.binary())]
)

REPORT_CHANNEL = -1
_FIRST_WAKEUP_CHANNEL = -1000


def wakeup_channel(level: int) -> int:
    """A row on it makes a subtask of that level run although no records arrive for it."""
    return _FIRST_WAKEUP_CHANNEL - level


def report_row(report: SubtaskReport) -> ExchangeRow:
    return ExchangeRow(report.subtask, REPORT_CHANNEL, report.level, dumps(report))


def read_report(payload: bytes) -> SubtaskReport:
    report: SubtaskReport = loads(payload)
    return report


def to_record_batch(rows: Iterable[ExchangeRow], targets: tuple[int, ...]) -> Any:
    columns = list(zip(*rows, strict=True))
    arrays = [pa.array([targets[subtask] for subtask in columns[0]], pa.int32())]
    arrays += [
        pa.array(column, field.type) for column, field in zip(columns[1:], list(ARROW_SCHEMA)[1:], strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=ARROW_SCHEMA)

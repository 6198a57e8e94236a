"""The rows that Spark carries between the levels."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from penstock.runtime.exchange import ExchangeRow

ARROW_SCHEMA = pa.schema(
    [("target", pa.int32()), ("channel", pa.int64()), ("seq", pa.int64()), ("payload", pa.binary())]
)


def to_record_batch(rows: Iterable[ExchangeRow], targets: tuple[int, ...]) -> Any:
    columns = list(zip(*rows, strict=True))
    arrays = [pa.array([targets[subtask] for subtask in columns[0]], pa.int32())]
    arrays += [pa.array(column, field.type) for column, field in zip(columns[1:], list(ARROW_SCHEMA)[1:], strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=ARROW_SCHEMA)

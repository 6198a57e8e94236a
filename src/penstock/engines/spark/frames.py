"""Streaming DataFrames of Spark as sources: their rows become chunks in tasks of their own."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import DataFrame

from penstock.common.types import Row
from penstock.engines.spark.schema import SPARK_SCHEMA
from penstock.engines.spark.targets import targets
from penstock.engines.spark.wire import to_record_batch
from penstock.runtime.batch import MIN_TIMESTAMP, Batch
from penstock.runtime.blueprint import EdgeBlueprint, JobBlueprint
from penstock.runtime.exchange import ExchangeRow, writer_for
from penstock.runtime.station import FanOut

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


def exchange_rows_of(frame: DataFrame, job: JobBlueprint, operator_id: int) -> DataFrame:
    """The frame's rows as exchange rows for all consumers of the source."""
    operator = next(op for op in job.operators if op.id == operator_id)
    edges = [edge for edge in job.edges if edge.source == operator_id]
    convert = _converter(
        edges,
        operator.parallelism,
        job.parallelism,
        job.settings.chunk_records,
        operator.params.get("event_time"),
    )
    return frame.mapInArrow(convert, SPARK_SCHEMA)


def _converter(
    edges: list[EdgeBlueprint], senders: int, parallelism: int, chunk_records: int, event_time: str | None
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def convert(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        context = TaskContext.get()
        partition = 0 if context is None else context.partitionId()
        rows: list[ExchangeRow] = []
        writers = [writer_for(edge, partition % senders, chunk_records, rows.append) for edge in edges]
        places = targets(parallelism)
        output = FanOut(list(writers))
        for batch in batches:
            output.emit(to_batch(batch, event_time))
            if rows:
                yield to_record_batch(_numbered(rows, partition), places)
                rows.clear()
        for writer in writers:
            writer.flush()
        if rows:
            yield to_record_batch(_numbered(rows, partition), places)

    return convert


def _numbered(rows: list[ExchangeRow], partition: int) -> list[ExchangeRow]:
    """Several Spark partitions may share a channel: their chunks get numbers that do not collide."""
    return [row._replace(seq=(partition << 32) + row.seq) for row in rows]


def to_batch(batch: pa.RecordBatch, event_time: str | None) -> Batch:
    names = batch.schema.names
    columns = [_python_values(column) for column in batch.columns]
    values = [Row._of(record, names) for record in zip(*columns, strict=True)] if columns else []
    if event_time is None:
        return Batch(values)
    return Batch(values, [_millis(moment) for moment in columns[names.index(event_time)]])


def _python_values(column: pa.Array) -> list[Any]:
    """Moments as datetimes in UTC, wall-clock times (timestamp_ntz) as naive datetimes."""
    if pa.types.is_timestamp(column.type) and column.type.unit == "ns":
        # Spark's default Parquet form of a moment; nothing else of Spark's has nanoseconds.
        column = column.cast(pa.timestamp("us", "UTC"), safe=False)
    return column.to_pylist()  # type: ignore[no-any-return]


def _millis(moment: Any) -> int:
    if moment is None:
        return MIN_TIMESTAMP
    if isinstance(moment, datetime.datetime):
        aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=datetime.UTC)
        return (aware - _EPOCH) // datetime.timedelta(milliseconds=1)
    return int(moment)

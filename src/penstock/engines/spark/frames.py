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
    """Moments are datetimes in UTC, wall-clock times (timestamp_ntz) naive ones, structs Rows, maps dictionaries."""
    kind = _in_micros(column.type)
    if kind != column.type:
        column = column.cast(kind, safe=False)
    values: list[Any] = column.to_pylist()
    form = _form(kind)
    return values if form is None else [form(value) for value in values]


def _in_micros(kind: pa.DataType) -> pa.DataType:
    """Spark's default Parquet form of a moment has nanoseconds and no zone; nothing else of Spark's has nanoseconds."""
    if pa.types.is_timestamp(kind):
        return kind if kind.unit == "us" and kind.tz is None else pa.timestamp("us", "UTC")
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_in_micros(field.type)) for field in kind])
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_in_micros(kind.value_type)))
    if pa.types.is_map(kind):
        item = kind.item_field.with_type(_in_micros(kind.item_type))
        return pa.map_(kind.key_field.with_type(_in_micros(kind.key_type)), item)
    return kind


def _form(kind: pa.DataType) -> Callable[[Any], Any] | None:
    """Makes the values that streams have of pyarrow's; None where they are the same."""
    if pa.types.is_struct(kind):
        names = [field.name for field in kind]
        forms = [(name, _form(field.type) or _same) for name, field in zip(names, kind, strict=True)]
        return lambda value: None if value is None else Row._of([form(value[name]) for name, form in forms], names)
    if pa.types.is_list(kind):
        each = _form(kind.value_type)
        return each and (lambda values: None if values is None else [each(value) for value in values])
    if pa.types.is_map(kind):
        of_key, of_value = _form(kind.key_type) or _same, _form(kind.item_type) or _same
        return lambda items: None if items is None else {of_key(key): of_value(value) for key, value in items}
    return None


def _same(value: Any) -> Any:
    return value


def _millis(moment: Any) -> int:
    if moment is None:
        return MIN_TIMESTAMP
    if isinstance(moment, datetime.datetime):
        aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=datetime.UTC)
        return (aware - _EPOCH) // datetime.timedelta(milliseconds=1)
    return int(moment)

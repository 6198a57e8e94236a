"""Between records of DataStreams and rows of tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from penstock.columns.kernels.python_columns import from_python
from penstock.columns.typesystem import scalars
from penstock.columns.typesystem.arrow_mapping import unit_of
from penstock.columns.typesystem.base import DataType
from penstock.common.errors import JobExecutionError
from penstock.common.time import Instant
from penstock.common.types import Row, RowKind
from penstock.runtime.batch import MIN_TIMESTAMP, Batch
from penstock.runtime.blueprint import OperatorBlueprint
from penstock.runtime.context import SubtaskContext
from penstock.runtime.operators.base import Operator
from penstock.runtime.table.codec import TableCodec
from penstock.runtime.table.row_type import TableRowType

_NANOS = {"s": 1_000_000_000, "ms": 1_000_000, "us": 1_000, "ns": 1}
TIMESTAMP = "timestamp"  # in place of a field: the record's timestamp


@dataclass(frozen=True)
class StreamToTableParams:
    """For each column the record's field by name or position, its timestamp, or None for the record as a whole."""

    output_type: TableRowType
    fields: tuple[str | int | None, ...]
    kinds: bool = False  # whether rows say what they mean


class StreamToTableOperator(Operator):
    """Makes columns of records."""

    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        super().__init__(blueprint, context)
        self._params: StreamToTableParams = blueprint.params["columns"]
        self._codec = TableCodec(self._params.output_type)

    def process(self, batch: Batch, input_index: int) -> None:
        row_type = self._params.output_type
        described = zip(self._params.fields, row_type.types, row_type.names, strict=True)
        columns = [self._column(batch, field, kind, name) for field, kind, name in described]
        kinds = None
        if self._params.kinds:
            kinds = np.fromiter((row._row_kind.value for row in batch.values), np.int8, len(batch))
        changed = kinds is not None and bool(kinds.any())
        self.output.emit(self._codec.batch(columns, kinds if changed else None, len(batch)))

    def _column(self, batch: Batch, field: str | int | None, kind: Any, name: str) -> pa.Array:
        if field == TIMESTAMP:
            times = batch.times
            if times is None or bool((times == MIN_TIMESTAMP).any()):
                raise JobExecutionError(
                    f"The column {name!r} is the timestamp of the record, but a record has none: assign timestamps with"
                    " assign_timestamps_and_watermarks() before the stream becomes a table."
                )
            return pa.array(times).cast(pa.timestamp("ms"))
        values = batch.values
        if field is not None:
            getter = _getter(field)
            values = [getter(value) for value in values]
        return column_of(values, kind, name)


def column_of(values: Sequence[Any], kind: DataType, name: str) -> pa.Array:
    """Values of a stream's field as a column."""
    if isinstance(kind, scalars.LocalZonedTimestampType):
        tick = _NANOS[unit_of(kind.precision)]
        values = [_ticks(value, tick) if isinstance(value, Instant) else value for value in values]
    return from_python(values, kind, f"Column {name!r}")


def _getter(field: str | int) -> Callable[[Any], Any]:
    if isinstance(field, int):
        return lambda record: record[field]
    return lambda record: record[field] if isinstance(record, Row) else getattr(record, field)


def _ticks(moment: Instant, nanos: int) -> int:
    """What a column of TIMESTAMP_LTZ takes, in its own unit."""
    return (moment.seconds * 1_000_000_000 + moment.nanos) // nanos


@dataclass(frozen=True)
class TableToStreamParams:
    """`rowtime` is the column that becomes the records' timestamp."""

    input_type: TableRowType
    rowtime: int | None = None
    pairs: bool = False  # (True, row) and (False, row) instead of rows with kinds
    convert: Callable[[Row], Any] | None = None
    without_before: bool = False  # updates are found by their key: rows as they were are left out


class TableToStreamOperator(Operator):
    """Makes Rows of columns."""

    def __init__(self, blueprint: OperatorBlueprint, context: SubtaskContext) -> None:
        super().__init__(blueprint, context)
        self._params: TableToStreamParams = blueprint.params["rows"]
        self._codec = TableCodec(self._params.input_type)
        types = self._params.input_type.types
        self._moments = [place for place, kind in enumerate(types) if isinstance(kind, scalars.LocalZonedTimestampType)]

    def process(self, batch: Batch, input_index: int) -> None:
        batch = batch.in_columns(self._codec)
        if self._params.without_before and batch.kinds is not None:
            batch = batch.filter(batch.kinds != RowKind.UPDATE_BEFORE.value)
        columns: Any = batch.columns
        arrays = self._codec.arrays(batch)
        rows = self._codec.decode(columns)
        instants = {place: _instants(arrays[place]) for place in self._moments}
        for number, row in enumerate(rows):
            values = list(row._values)
            for place, column in instants.items():
                values[place] = column[number]
            row._values = values
        records: list[Any] = rows
        if self._params.convert is not None:
            records = [self._params.convert(row) for row in rows]
        if self._params.pairs:
            records = [(not row._is_retract_msg(), record) for row, record in zip(rows, records, strict=True)]
        times = None
        if self._params.rowtime is not None:
            moments = arrays[self._params.rowtime].cast(pa.timestamp("ms"), safe=False).cast(pa.int64())
            times = moments.fill_null(MIN_TIMESTAMP).to_numpy(zero_copy_only=False)
        self.output.emit(Batch(records, times=times))


def _instants(column: pa.Array) -> list[Instant | None]:
    nanos = column.cast(pa.timestamp("ns"), safe=False).cast(pa.int64()).to_pylist()
    return [None if value is None else Instant(value // 1_000_000_000, value % 1_000_000_000) for value in nanos]

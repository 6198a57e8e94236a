"""Rows of tables in the driver's hands: as the source of a table, and as the results of a query. Columns both ways."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from penstock.connectors.collecting import CollectSink
from penstock.functions.sink import SinkWriter, WriterContext
from penstock.runtime.batch import Batch, Control
from penstock.runtime.sources.base import Assignment, SourcePlanner, WorkReader
from penstock.runtime.table.codec import TableCodec
from penstock.runtime.table.row_type import TableRowType

_ROWS_PER_BATCH = 32_768


class TableRowsSource(SourcePlanner):
    """Reads a record batch, kinds included, from front to back."""

    max_parallelism = 1

    def __init__(self, type_info: TableRowType, columns: pa.RecordBatch) -> None:
        self._type_info = type_info
        self._columns = columns

    def initial_position(self, parallelism: int) -> int:
        return 0

    def advance(self, position: int, budget: int) -> int:
        return min(int(self._columns.num_rows), position + budget)

    def assignments(self, start: int, end: int, parallelism: int) -> dict[int, Assignment]:
        part = self._columns.slice(start, end - start)
        return {0: Assignment(part.serialize().to_pybytes(), self.exhausted(end))}

    def exhausted(self, position: int) -> bool:
        return position >= int(self._columns.num_rows)

    def reader(self) -> WorkReader:
        return _TableRowsReader(self._type_info, self._columns.schema)


class _TableRowsReader(WorkReader):
    def __init__(self, type_info: TableRowType, schema: pa.Schema) -> None:
        self._type_info = type_info
        self._schema = schema

    def read(self, work: Any) -> Iterator[Batch | Control]:
        codec = TableCodec(self._type_info)
        columns = pa.ipc.read_record_batch(work, self._schema)
        for start in range(0, columns.num_rows, _ROWS_PER_BATCH):
            yield Batch.of_columns(codec, columns.slice(start, _ROWS_PER_BATCH))


class TableCollectSink(CollectSink):
    """Brings the rows of completed epochs to the driver's process as record batches, kinds included."""

    def create_writer(self, context: WriterContext) -> SinkWriter:
        assert isinstance(context.type_info, TableRowType)
        return _TableCollectWriter(TableCodec(context.type_info))


class _TableCollectWriter(SinkWriter):
    def __init__(self, codec: TableCodec) -> None:
        self._codec = codec
        self._collected: list[pa.RecordBatch] = []

    def write(self, records: Any) -> None:
        self._collected.append(records.in_columns(self._codec).columns)

    def prepare_commit(self) -> list[Any]:
        collected, self._collected = self._collected, []
        return collected

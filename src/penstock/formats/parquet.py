"""Parquet files as source and sink."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, BinaryIO

import pyarrow
import pyarrow.parquet

from penstock.common.errors import NotSupportedError
from penstock.common.serialization import BulkWriterFactory, RowDataBulkWriterFactory
from penstock.common.typeinfo import RowTypeInfo, TypeInformation
from penstock.formats.arrow_types import arrow_schema, to_arrow
from penstock.formats.field_columns import field_columns
from penstock.formats.input_formats import BulkFormat
from penstock.formats.parquet_rows import ParquetRows
from penstock.formats.row_types import field_values, row_type_info_of
from penstock.runtime.batch import Batch

if TYPE_CHECKING:
    from penstock.formats.file_formats import FileFormat

__all__ = ["ParquetBulkWriters", "ParquetColumnarRowInputFormat"]

_ROWS_PER_GROUP = 131_072


class ParquetColumnarRowInputFormat(BulkFormat):
    """Reads the columns of a row type from Parquet files, for ``FileSource.for_bulk_file_format``.

    The row type is one of the Table API, or ``Types.ROW_NAMED(names, types)``. Timestamps without time zone are
    read as they are; those with one become the time of day in UTC (``is_utc_timestamp``) or in the local zone.
    """

    def __init__(
        self,
        row_type: Any,
        hadoop_config: Any = None,
        batch_size: int = 2048,
        is_utc_timestamp: bool = False,
        is_case_sensitive: bool = True,
    ) -> None:
        super().__init__()
        _refuse_hadoop(hadoop_config, "ParquetColumnarRowInputFormat")
        self._row_type = row_type_info_of(row_type, "ParquetColumnarRowInputFormat")
        arrow_schema(self._row_type)  # types without a Parquet form shall fail where they are written down
        self._batch_size = batch_size
        self._is_utc_timestamp = is_utc_timestamp
        self._is_case_sensitive = is_case_sensitive

    def _file_format(self, splits_files: bool) -> FileFormat:
        return ParquetRows(
            self._row_type, self._batch_size, self._is_utc_timestamp, self._is_case_sensitive, splits_files
        )

    def _produced_type(self) -> TypeInformation:
        return self._row_type


class ParquetBulkWriters:
    """Writes rows as Parquet files, for ``FileSink.for_bulk_format``."""

    @staticmethod
    def for_row_type(row_type: Any, hadoop_config: Any = None, utc_timestamp: bool = False) -> BulkWriterFactory:
        """Timestamps without a zone are written as they are, whatever ``utc_timestamp`` says, those with one in UTC."""
        _refuse_hadoop(hadoop_config, "ParquetBulkWriters")
        return _ParquetWriterFactory(row_type_info_of(row_type, "ParquetBulkWriters"))


class _ParquetWriterFactory(RowDataBulkWriterFactory):
    def __init__(self, row_type: RowTypeInfo) -> None:
        super().__init__(None, row_type)
        arrow_schema(row_type)

    def create(self, stream: BinaryIO) -> _ParquetFileWriter:
        return _ParquetFileWriter(stream, self._row_type)


class _ParquetFileWriter:
    """Collects rows and writes them as row groups."""

    def __init__(self, stream: BinaryIO, row_type: RowTypeInfo) -> None:
        self._names = row_type.get_field_names()
        self._converters = [to_arrow(field_type) for field_type in row_type.get_field_types()]
        self._schema = arrow_schema(row_type)
        self._writer = pyarrow.parquet.ParquetWriter(stream, self._schema)
        self._types = row_type.get_field_types()
        self._rows: list[list[Any]] = []
        self._batches: list[pyarrow.RecordBatch] = []  # they come before the rows
        self._pending = 0

    def add_elements(self, rows: list[Any]) -> None:
        names = self._names
        self._rows += [field_values(row, names) for row in rows]
        self._added(len(rows))

    def add_batch(self, batch: Batch) -> None:
        """Columns that have Parquet's types are written as they are."""
        columns = field_columns(batch, self._names, self._types)
        if columns is None or not all(map(_same_values, columns, self._schema.types)):
            self.add_elements(batch.values)
            return
        self._rows_to_batch()
        arrays = [column.cast(kind) for column, kind in zip(columns, self._schema.types, strict=True)]
        self._batches.append(pyarrow.record_batch(arrays, schema=self._schema))
        self._added(len(batch))

    def _added(self, count: int) -> None:
        self._pending += count
        if self._pending >= _ROWS_PER_GROUP:
            self._write_group()

    def _rows_to_batch(self) -> None:
        if not self._rows:
            return
        columns = list(zip(*self._rows, strict=True))
        arrays = [
            pyarrow.array(list(values) if convert is None else list(map(convert, values)), field.type)
            for values, convert, field in zip(columns, self._converters, self._schema, strict=True)
        ]
        self._batches.append(pyarrow.record_batch(arrays, schema=self._schema))
        self._rows = []

    def _write_group(self) -> None:
        self._rows_to_batch()
        group = pyarrow.Table.from_batches(self._batches, self._schema)
        self._writer.write_table(group, row_group_size=max(1, group.num_rows))
        self._batches, self._pending = [], 0

    def finish(self) -> None:
        if self._pending:
            self._write_group()
        self._writer.close()


def _same_values(column: pyarrow.Array, wanted: pyarrow.DataType) -> bool:
    """Whether a column of a batch holds what Parquet shall hold; of moments only the time zone's mark may differ."""
    kinds = pyarrow.types
    if kinds.is_timestamp(column.type) and kinds.is_timestamp(wanted):
        return bool(column.type.unit == wanted.unit)
    return bool(column.type == wanted) and not kinds.is_nested(wanted)


def _refuse_hadoop(hadoop_config: Any, owner: str) -> None:
    if hadoop_config is not None:
        raise NotSupportedError(
            f"{owner} got hadoop_config={hadoop_config!r}: files are read and written without Hadoop. Leave it out."
        )

"""Avro records in Parquet files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from penstock.common.serialization import BulkWriterFactory
from penstock.common.typeinfo import RowTypeInfo, TypeInformation
from penstock.formats.avro_schema import AvroSchema, GenericRecordAvroTypeInfo, row_type_of_avro
from penstock.formats.columnar_rows import ParquetRows
from penstock.formats.file_formats import FileFormat
from penstock.formats.input_formats import StreamFormat
from penstock.formats.parquet import ParquetWriterFactory
from penstock.runtime.batch import Batch

__all__ = ["AvroParquetReaders", "AvroParquetWriters"]


class AvroParquetReaders:
    """Parquet files as dictionaries, for ``FileSource.for_record_stream_format``."""

    @staticmethod
    def for_generic_record(schema: AvroSchema) -> StreamFormat:
        """The fields of the schema; one that a file does not have is None."""
        return _AvroParquetFormat(schema)


class AvroParquetWriters:
    """Dictionaries as Parquet files, for ``FileSink.for_bulk_format``."""

    @staticmethod
    def for_generic_record(schema: AvroSchema) -> BulkWriterFactory:
        """The columns have the types of the schema's fields."""
        return ParquetWriterFactory(row_type_of_avro(schema))


class _AvroParquetFormat(StreamFormat):
    def __init__(self, schema: AvroSchema) -> None:
        super().__init__()
        self._schema = schema
        self._row_type = row_type_of_avro(schema)

    def _file_format(self, splits_files: bool) -> FileFormat:
        return _ParquetRecords(self._row_type, splits_files)

    def _produced_type(self) -> TypeInformation:
        return GenericRecordAvroTypeInfo(self._schema)


class _ParquetRecords(ParquetRows):
    def __init__(self, row_type: RowTypeInfo, splittable: bool) -> None:
        super().__init__(row_type, 2048, True, True, splittable)

    def read(self, path: str, start: int, end: int, extent: int) -> Iterator[list[Any] | Batch]:
        for rows in super().read(path, start, end, extent):
            values = rows.values if isinstance(rows, Batch) else rows
            yield [row.as_dict(True) for row in values]

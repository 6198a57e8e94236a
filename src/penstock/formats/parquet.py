"""Parquet files as source and sink."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, BinaryIO

import pyarrow
import pyarrow.parquet

from penstock.common.configuration import Configuration
from penstock.common.errors import NotSupportedError
from penstock.common.serialization import BulkWriterFactory, RowDataBulkWriterFactory
from penstock.common.typeinfo import RowTypeInfo, TypeInformation
from penstock.formats.arrow_types import arrow_schema
from penstock.formats.columnar_rows import ParquetRows
from penstock.formats.columnar_writer import ColumnarFileWriter
from penstock.formats.input_formats import BulkFormat
from penstock.formats.row_types import row_type_info_of

if TYPE_CHECKING:
    from penstock.formats.file_formats import FileFormat

__all__ = ["ParquetBulkWriters", "ParquetColumnarRowInputFormat"]


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
        refuse_hadoop(hadoop_config, "ParquetColumnarRowInputFormat")
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
        refuse_hadoop(hadoop_config, "ParquetBulkWriters")
        return ParquetWriterFactory(row_type_info_of(row_type, "ParquetBulkWriters"))


class ParquetWriterFactory(RowDataBulkWriterFactory):
    def __init__(self, row_type: RowTypeInfo) -> None:
        super().__init__(None, row_type)
        arrow_schema(row_type)

    def create(self, stream: BinaryIO) -> _ParquetFileWriter:
        return _ParquetFileWriter(stream, self._row_type)


class _ParquetFileWriter(ColumnarFileWriter):
    def __init__(self, stream: BinaryIO, row_type: RowTypeInfo) -> None:
        super().__init__(row_type)
        self._writer = pyarrow.parquet.ParquetWriter(stream, self.schema)

    def _write(self, group: pyarrow.Table) -> None:
        self._writer.write_table(group, row_group_size=max(1, group.num_rows))

    def _close(self) -> None:
        self._writer.close()


def refuse_hadoop(hadoop_config: Any, owner: str) -> None:
    """Settings of Hadoop have nobody to heed them; an empty configuration says nothing."""
    if hadoop_config is not None and not (isinstance(hadoop_config, Configuration) and not hadoop_config.to_dict()):
        raise NotSupportedError(
            f"{owner} got hadoop_config={hadoop_config!r}: files are read and written without Hadoop. Leave it out."
        )

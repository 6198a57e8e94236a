"""ORC files as source and sink."""

from __future__ import annotations

from typing import Any, BinaryIO

import pyarrow
import pyarrow.orc

from penstock.common.errors import NotSupportedError
from penstock.common.serialization import BulkWriterFactory, RowDataBulkWriterFactory
from penstock.common.typeinfo import RowTypeInfo, TimeTypeInfo, TypeInformation
from penstock.formats.arrow_types import arrow_schema
from penstock.formats.columnar_rows import OrcRows
from penstock.formats.columnar_writer import ColumnarFileWriter
from penstock.formats.file_formats import FileFormat
from penstock.formats.input_formats import BulkFormat
from penstock.formats.parquet import refuse_hadoop
from penstock.formats.row_types import row_type_info_of

__all__ = ["OrcBulkWriters", "OrcColumnarRowInputFormat"]

_COMPRESSIONS = {"NONE": "uncompressed", "ZLIB": "zlib", "SNAPPY": "snappy", "LZ4": "lz4", "ZSTD": "zstd"}
_NUMBERS = {"orc.stripe.size": "stripe_size", "orc.row.index.stride": "row_index_stride"}


class OrcColumnarRowInputFormat(BulkFormat):
    """Reads the columns of a row type from ORC files, for ``FileSource.for_bulk_file_format``. Beyond PyFlink."""

    def __init__(self, row_type: Any, batch_size: int = 2048, is_case_sensitive: bool = True) -> None:
        super().__init__()
        self._row_type = _checked(row_type, "OrcColumnarRowInputFormat")
        self._batch_size = batch_size
        self._is_case_sensitive = is_case_sensitive

    def _file_format(self, splits_files: bool) -> FileFormat:
        return OrcRows(self._row_type, self._batch_size, True, self._is_case_sensitive, splits_files)

    def _produced_type(self) -> TypeInformation:
        return self._row_type


class OrcBulkWriters:
    """Writes rows as ORC files, for ``FileSink.for_bulk_format``."""

    @staticmethod
    def for_row_type(row_type: Any, writer_properties: Any = None, hadoop_config: Any = None) -> BulkWriterFactory:
        """``writer_properties`` may have ``orc.compress`` (ZLIB is the default), ``orc.stripe.size`` and
        ``orc.row.index.stride``."""
        refuse_hadoop(hadoop_config, "OrcBulkWriters")
        return _OrcWriterFactory(_checked(row_type, "OrcBulkWriters"), _settings(writer_properties))


class _OrcWriterFactory(RowDataBulkWriterFactory):
    def __init__(self, row_type: RowTypeInfo, settings: dict[str, Any]) -> None:
        super().__init__(None, row_type)
        self._settings = settings

    def create(self, stream: BinaryIO) -> _OrcFileWriter:
        return _OrcFileWriter(stream, self._row_type, self._settings)


class _OrcFileWriter(ColumnarFileWriter):
    def __init__(self, stream: BinaryIO, row_type: RowTypeInfo, settings: dict[str, Any]) -> None:
        super().__init__(row_type)
        self._writer = pyarrow.orc.ORCWriter(stream, **settings)
        self._written = False

    def _write(self, group: pyarrow.Table) -> None:
        self._written = True
        self._writer.write(group)

    def _close(self) -> None:
        if not self._written:  # without a table the file would have no schema
            self._writer.write(self.schema.empty_table())
        self._writer.close()


def _checked(row_type: Any, owner: str) -> RowTypeInfo:
    type_info = row_type_info_of(row_type, owner)
    arrow_schema(type_info)  # types without a form shall fail where they are written down
    if any(isinstance(field, TimeTypeInfo) for field in type_info.get_field_types()):
        raise NotSupportedError(f"{owner}: ORC has no form for times of day; write them as text or as numbers.")
    return type_info


def _settings(properties: Any) -> dict[str, Any]:
    settings: dict[str, Any] = {"compression": "zlib"}
    for key, value in ({} if properties is None else properties.to_dict()).items():
        if key == "orc.compress" and str(value).upper() in _COMPRESSIONS:
            settings["compression"] = _COMPRESSIONS[str(value).upper()]
        elif key in _NUMBERS:
            settings[_NUMBERS[key]] = int(value)
        else:
            known = ", ".join(["orc.compress", *_NUMBERS])
            raise NotSupportedError(f"OrcBulkWriters: {key}={value!r} is not supported; known are {known}.")
    return settings

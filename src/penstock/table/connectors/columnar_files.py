"""Files that hold columns, as files of tables: Parquet and ORC; columns are found by name."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO, ClassVar

import pyarrow as pa
import pyarrow.orc
import pyarrow.parquet

from penstock.columns.kernels.casting import cast
from penstock.columns.typesystem.arrow_mapping import from_arrow_type, to_arrow_type
from penstock.common.errors import ProgramError
from penstock.common.serialization import BulkWriterFactory
from penstock.runtime.batch import Batch
from penstock.runtime.table.codec import TableCodec
from penstock.runtime.table.row_type import TableRowType
from penstock.storage.files import open_file
from penstock.table.connectors.table_files import TableFile
from penstock.table.logical.nodes import Field


class ColumnarTableFile(TableFile):
    """A column that a file does not have is null."""

    def column(self, group: pa.RecordBatch, field: Field) -> pa.Array:
        wanted = to_arrow_type(field.data_type)
        if field.name not in group.schema.names:
            return pa.nulls(group.num_rows, wanted)
        column = group.column(field.name)
        if pa.types.is_timestamp(column.type) and column.type.tz:
            column = column.cast(pa.timestamp(column.type.unit))
        if column.type == wanted:
            return column
        try:
            return column.cast(wanted)
        except pa.ArrowException:
            return cast(column, from_arrow_type(column.type), field.data_type, self.table.session, False)

    def read(self, path: str, start: int, end: int, extent: int) -> Iterator[list[Any] | Batch]:
        with open_file(path) as stream:
            for group in self.groups(stream, start, end):
                yield self.batch(path, [self.column(group, field) for field in self.stored], group.num_rows)

    @abstractmethod
    def groups(self, stream: BinaryIO, start: int, end: int) -> Iterator[pa.RecordBatch]:
        """The columns of the table that the file has, of these units."""

    def _there(self, names: list[str]) -> list[str]:
        return [field.name for field in self.stored if field.name in names]


class ParquetTableFile(ColumnarTableFile):
    """Row groups of Parquet files."""

    def extent(self, path: str, size: int) -> int:
        if not size:
            return 0
        with open_file(path) as stream:
            return int(pyarrow.parquet.ParquetFile(stream).num_row_groups)

    def records_per_unit(self, path: str, extent: int) -> float:
        with open_file(path) as stream:
            file = pyarrow.parquet.ParquetFile(stream)
            return float(file.metadata.num_rows) / max(1, int(file.num_row_groups))

    def groups(self, stream: BinaryIO, start: int, end: int) -> Iterator[pa.RecordBatch]:
        file = pyarrow.parquet.ParquetFile(stream)
        names = self._there(file.schema_arrow.names)
        yield from file.iter_batches(row_groups=list(range(start, end)), columns=names)


class OrcTableFile(ColumnarTableFile):
    """Stripes of ORC files."""

    def extent(self, path: str, size: int) -> int:
        if not size:
            return 0
        with open_file(path) as stream:
            return int(pyarrow.orc.ORCFile(stream).nstripes)

    def records_per_unit(self, path: str, extent: int) -> float:
        with open_file(path) as stream:
            file = pyarrow.orc.ORCFile(stream)
            return float(file.nrows) / max(1, int(file.nstripes))

    def groups(self, stream: BinaryIO, start: int, end: int) -> Iterator[pa.RecordBatch]:
        file = pyarrow.orc.ORCFile(stream)
        names = self._there(file.schema.names)
        for stripe in range(start, end):
            yield file.read_stripe(stripe, columns=names)


class ColumnarFactory(BulkWriterFactory):
    """Writers of files of columns; options are those of the format that are there."""

    compressions: ClassVar[Mapping[str, str]] = {}
    option = ""

    def __init__(self, row_type: TableRowType, stored: list[int], options: Mapping[str, str]) -> None:
        super().__init__()
        codec = TableCodec(row_type)
        self._row_type, self._stored = row_type, stored
        self._schema = pa.schema([(row_type.names[place], codec.schema.types[place]) for place in stored])
        self._compression = self._chosen(options)

    def _chosen(self, options: Mapping[str, str]) -> str:
        for key in options:
            if key != self.option:
                raise ProgramError(f"There is no option '{key}' for these files: there is '{self.option}'.")
        found = options.get(self.option, next(iter(self.compressions))).upper()
        if found not in self.compressions:
            raise ProgramError(f"'{self.option}' can be {', '.join(self.compressions)}, not '{found}'.")
        return self.compressions[found]

    def create(self, stream: BinaryIO) -> _ColumnarWriter:
        return _ColumnarWriter(self._writer(stream), self._row_type, self._stored, self._schema)

    @abstractmethod
    def _writer(self, stream: BinaryIO) -> Any: ...


class ParquetFactory(ColumnarFactory):
    compressions: ClassVar[Mapping[str, str]] = {
        "SNAPPY": "snappy", "UNCOMPRESSED": "none", "GZIP": "gzip", "ZSTD": "zstd", "LZ4": "lz4", "BROTLI": "brotli",
    }  # fmt: skip
    option = "parquet.compression"

    def _writer(self, stream: BinaryIO) -> Any:
        return pyarrow.parquet.ParquetWriter(stream, self._schema, compression=self._compression)


class OrcFactory(ColumnarFactory):
    compressions: ClassVar[Mapping[str, str]] = {
        "ZLIB": "zlib", "NONE": "uncompressed", "SNAPPY": "snappy", "LZ4": "lz4", "ZSTD": "zstd",
    }  # fmt: skip
    option = "orc.compress"

    def _writer(self, stream: BinaryIO) -> Any:
        return pyarrow.orc.ORCWriter(stream, compression=self._compression)


class _ColumnarWriter:
    def __init__(self, writer: Any, row_type: TableRowType, stored: list[int], schema: pa.Schema) -> None:
        self._codec, self._stored, self._schema = TableCodec(row_type), stored, schema
        self._writer = writer

    def add_batch(self, batch: Batch) -> None:
        arrays = self._codec.arrays(batch)
        columns = [arrays[place] for place in self._stored]
        self._writer.write(pa.Table.from_arrays(columns, schema=self._schema))

    def finish(self) -> None:
        self._writer.close()

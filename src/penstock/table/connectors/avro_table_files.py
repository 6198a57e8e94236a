"""Avro's container files as files of tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, BinaryIO

from penstock.columns.kernels.python_columns import from_python
from penstock.columns.typesystem.base import DataType
from penstock.columns.typesystem.nested import ArrayType, MapType, RowType
from penstock.common.errors import ProgramError
from penstock.common.serialization import BulkWriterFactory
from penstock.formats.avro_files import AvroBlocks
from penstock.formats.avro_schema import fastavro
from penstock.runtime.batch import Batch
from penstock.runtime.table.codec import TableCodec
from penstock.runtime.table.row_type import TableRowType
from penstock.table.connectors.base import ConnectorTable
from penstock.table.connectors.table_files import TableFile
from penstock.table.formats.avro import records_of, schema_of
from penstock.table.logical.nodes import Field, Fields

_CODECS = ("deflate", "null", "bzip2", "xz")  # others need packages of their own


class AvroTableFile(TableFile):
    """Blocks of Avro files. Fields are found by name; the file says how they were written."""

    def __init__(self, table: ConnectorTable, stored: Fields, default_partition: str) -> None:
        super().__init__(table, stored, default_partition)
        self._blocks = AvroBlocks(None, None, True)

    def extent(self, path: str, size: int) -> int:
        return self._blocks.extent(path, size) if size else 0

    def records_per_unit(self, path: str, extent: int) -> float:
        return self._blocks.records_per_unit(path, extent)

    def read(self, path: str, start: int, end: int, extent: int) -> Iterator[list[Any] | Batch]:
        for records in self._blocks.read(path, start, end, extent):
            columns = [
                from_python(
                    [_python(record.get(field.name), field.data_type) for record in records],
                    field.data_type,
                    f"Column {field.name!r} of {path!r}",
                )
                for field in self.stored
            ]
            yield self.batch(path, columns, len(records))


def _python(value: Any, kind: DataType) -> Any:
    """What Avro's reader gives, as programs give it: rows as tuples, moments without a zone."""
    if value is None:
        return None
    if isinstance(value, datetime):
        return value.replace(tzinfo=None)
    if isinstance(kind, RowType):
        return tuple(_python(value.get(field.name), field.data_type) for field in kind)
    if isinstance(kind, ArrayType):
        return [_python(item, kind.element_type) for item in value]
    if isinstance(kind, MapType):
        return {key: _python(item, kind.value_type) for key, item in value.items()}
    return value


class AvroFactory(BulkWriterFactory):
    """Writers of Avro files with the schema that follows from the columns."""

    def __init__(self, row_type: TableRowType, stored: list[int], options: Mapping[str, str]) -> None:
        super().__init__()
        self._row_type, self._stored = row_type, stored
        self._fields = tuple(Field(row_type.names[place], row_type.types[place]) for place in stored)
        self._codec = options.get("avro.codec", "deflate")
        unknown = [key for key in options if key != "avro.codec"]
        if unknown:
            raise ProgramError(f"There is no option '{unknown[0]}' for Avro files: there is 'avro.codec'.")
        if self._codec not in _CODECS:
            raise ProgramError(f"'avro.codec' can be {', '.join(_CODECS)}, not '{self._codec}'.")

    def create(self, stream: BinaryIO) -> _AvroTableWriter:
        return _AvroTableWriter(stream, self._row_type, self._stored, self._fields, self._codec)


class _AvroTableWriter:
    def __init__(self, stream: BinaryIO, row_type: TableRowType, stored: list[int], fields: Fields, codec: str) -> None:
        self._codec, self._stored, self._fields = TableCodec(row_type), stored, fields
        package = fastavro()
        parsed = package.parse_schema(schema_of(fields, logical=True))
        self._writer = package.write.Writer(stream, parsed, codec=codec)

    def add_batch(self, batch: Batch) -> None:
        arrays = self._codec.arrays(batch)
        for record in records_of([arrays[place] for place in self._stored], self._fields):
            self._writer.write(record)

    def finish(self) -> None:
        self._writer.flush()

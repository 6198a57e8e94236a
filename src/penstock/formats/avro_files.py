"""Avro's container files as source and sink."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any, BinaryIO

from penstock.common.errors import JobExecutionError
from penstock.common.serialization import BulkWriterFactory
from penstock.common.typeinfo import RowTypeInfo, TypeInformation
from penstock.common.types import Row
from penstock.formats.avro_rows import row_of_record
from penstock.formats.avro_schema import AvroSchema, GenericRecordAvroTypeInfo, fastavro, row_type_of_avro
from penstock.formats.file_formats import FileFormat
from penstock.formats.input_formats import InputFormat, StreamFormat
from penstock.storage.files import open_file

__all__ = ["AvroBulkWriters", "AvroInputFormat", "AvroReaders"]

_SYNC_BYTES = 16
_RECORDS = 8192


class AvroBlocks(FileFormat):
    """Files whose units are Avro's blocks: a range is the header of the file and some of its blocks.

    Without a schema records are as the file's own says.
    """

    def __init__(self, schema: AvroSchema | None, row_type: RowTypeInfo | None, splittable: bool) -> None:
        self._schema = schema
        self._row_type = row_type
        self._splittable = splittable

    def extent(self, path: str, size: int) -> int:
        with open_file(path) as file:
            blocks = len(_blocks(file, path))
        return blocks if self._splittable else min(1, blocks)

    def records_per_unit(self, path: str, extent: int) -> float:
        with open_file(path) as file:
            return sum(count for count, _, _ in _blocks(file, path)) / extent

    def read(self, path: str, start: int, end: int, extent: int) -> Iterator[list[Any]]:
        convert = None if self._row_type is None else row_of_record(self._row_type)
        with open_file(path) as file:
            blocks = _blocks(file, path)
            chosen = blocks[start:end] if self._splittable else blocks
            for _, place, length in chosen:
                file.seek(0)
                header = _read_exactly(file, blocks[0][1])
                file.seek(place)
                content = io.BytesIO(header + _read_exactly(file, length))
                records = fastavro().reader(content, None if self._schema is None else self._schema.parsed())
                values = list(records) if convert is None else [convert(record) for record in records]
                for first in range(0, len(values), _RECORDS):
                    yield values[first : first + _RECORDS]


def _blocks(file: BinaryIO, path: str) -> list[tuple[int, int, int]]:
    """Records, place and length of every block; only their heads are read."""
    package = fastavro()
    try:
        buffered = io.BufferedReader(file)  # type: ignore[type-var]
        package.reader(buffered)
        blocks, place = [], buffered.tell()
        while (count := _long(buffered)) is not None:
            size = _long(buffered)
            assert size is not None
            end = buffered.tell() + size + _SYNC_BYTES
            buffered.seek(end)
            blocks.append((count, place, end - place))
            place = end
        buffered.detach()
    except (ValueError, KeyError, StopIteration, EOFError, AssertionError) as error:
        raise JobExecutionError(f"{path!r} cannot be read as an Avro file: {error}") from error
    return blocks


def _long(file: BinaryIO) -> int | None:
    """Avro's form of numbers: seven bits at a time, the lowest first, with the sign in the last bit."""
    value, shift = 0, 0
    while True:
        byte = file.read(1)
        if not byte:
            return None
        value |= (byte[0] & 0x7F) << shift
        if byte[0] < 0x80:
            return (value >> 1) ^ -(value & 1)
        shift += 7


def _read_exactly(file: BinaryIO, length: int) -> bytes:
    parts = []
    while length and (part := file.read(length)):
        parts.append(part)
        length -= len(part)
    return b"".join(parts)


class AvroInputFormat(InputFormat):
    """Avro files as dictionaries, for ``env.create_input``."""

    def __init__(self, path: str, schema: AvroSchema) -> None:
        self._paths = [path]
        self._schema = schema

    def get_produced_type(self) -> GenericRecordAvroTypeInfo:
        return GenericRecordAvroTypeInfo(self._schema)

    def _produced_type(self) -> TypeInformation:
        return self.get_produced_type()

    def _file_format(self, splits_files: bool) -> FileFormat:
        return AvroBlocks(self._schema, None, splits_files)


class AvroReaders:
    """Avro files for ``FileSource.for_record_stream_format``; beyond PyFlink, which has create_input() only."""

    @staticmethod
    def for_generic_record(schema: AvroSchema) -> StreamFormat:
        """Records as dictionaries."""
        return _AvroFormat(schema, None)

    @staticmethod
    def for_rows(schema: AvroSchema) -> StreamFormat:
        """Records as rows, with the types of the schema."""
        return _AvroFormat(schema, row_type_of_avro(schema))


class _AvroFormat(StreamFormat):
    def __init__(self, schema: AvroSchema, row_type: RowTypeInfo | None) -> None:
        super().__init__()
        self._schema = schema
        self._row_type = row_type

    def _file_format(self, splits_files: bool) -> FileFormat:
        return AvroBlocks(self._schema, self._row_type, splits_files)

    def _produced_type(self) -> TypeInformation:
        return self._row_type or GenericRecordAvroTypeInfo(self._schema)


class AvroBulkWriters:
    """Writes dictionaries (or rows) as Avro files, for ``FileSink.for_bulk_format``."""

    @staticmethod
    def for_generic_record(schema: AvroSchema) -> BulkWriterFactory:
        """The records must have the fields of the schema."""
        return _AvroWriterFactory(schema)


class _AvroWriterFactory(BulkWriterFactory):
    def __init__(self, schema: AvroSchema) -> None:
        super().__init__()
        self._schema = schema

    def create(self, stream: BinaryIO) -> _AvroFileWriter:
        return _AvroFileWriter(stream, self._schema)


class _AvroFileWriter:
    def __init__(self, stream: BinaryIO, schema: AvroSchema) -> None:
        self._writer = fastavro().write.Writer(stream, schema.parsed())

    def add_elements(self, records: list[Any]) -> None:
        write = self._writer.write
        for record in records:
            write(record.as_dict(True) if isinstance(record, Row) else record)

    def finish(self) -> None:
        self._writer.flush()

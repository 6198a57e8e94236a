"""CSV: files as source and sink, and messages."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, BinaryIO

from penstock.common.errors import ProgramError
from penstock.common.serialization import BulkWriterFactory, DeserializationSchema, SerializationSchema
from penstock.common.typeinfo import RowTypeInfo, TypeInformation
from penstock.common.types import Row
from penstock.common.utils import refuse_java_object
from penstock.formats.csv_columns import CsvColumns
from penstock.formats.csv_dialect import CsvDialect, CsvRowReader, CsvRowWriter
from penstock.formats.csv_records import CsvRecords
from penstock.formats.csv_schema import CsvSchema, CsvSchemaBuilder, one_character
from penstock.formats.csv_text import CsvColumnWriter
from penstock.formats.input_formats import StreamFormat
from penstock.formats.row_types import row_type_info_of
from penstock.runtime.batch import Batch

if TYPE_CHECKING:
    from penstock.formats.file_formats import FileFormat

__all__ = [
    "CsvBulkWriters",
    "CsvReaderFormat",
    "CsvRowDeserializationSchema",
    "CsvRowSerializationSchema",
    "CsvSchema",
    "CsvSchemaBuilder",
]


class CsvReaderFormat(StreamFormat):
    """Reads CSV files as rows: ``FileSource.for_record_stream_format(CsvReaderFormat.for_schema(schema), path)``."""

    def __init__(self, j_csv_format: Any = None, schema: CsvSchema | None = None) -> None:
        super().__init__(j_csv_format)
        if schema is None:
            raise ProgramError("Make a CsvReaderFormat with CsvReaderFormat.for_schema(schema).")
        self._schema = schema

    @staticmethod
    def for_schema(schema: CsvSchema) -> CsvReaderFormat:
        return CsvReaderFormat(None, schema)

    def _file_format(self, splits_files: bool) -> FileFormat:
        schema = self._schema
        columns = schema._columns
        names = [column.name for column in columns]
        rows = {
            "names": names,
            "types": [column.type_info for column in columns],
            "separators": [column.separator for column in columns],
            "null_literal": schema._dialect.null_literal,
            "scales": [column.scale for column in columns],
        }
        return CsvRecords(
            schema._dialect,
            names,
            rows,
            schema._use_header,
            schema._strict_headers,
            schema._skip_first_data_row,
        )

    def _produced_type(self) -> TypeInformation:
        return self._schema._row_type()


class CsvBulkWriters:
    """Writes rows as CSV files: ``FileSink.for_bulk_format(path, CsvBulkWriters.for_schema(schema))``."""

    @staticmethod
    def for_schema(schema: CsvSchema) -> BulkWriterFactory:
        return _CsvWriterFactory(schema)


class _CsvWriterFactory(BulkWriterFactory):
    def __init__(self, schema: CsvSchema) -> None:
        super().__init__()
        self._schema = schema

    def create(self, stream: BinaryIO) -> _CsvFileWriter:
        columns, dialect = self._schema._columns, self._schema._dialect
        names, types = [column.name for column in columns], [column.type_info for column in columns]
        rows = CsvRowWriter(names, types, [column.separator for column in columns], dialect)
        in_columns = CsvColumnWriter(names, types, rows, dialect)
        return _CsvFileWriter(stream, rows, in_columns, self._schema._use_header)


class _CsvFileWriter:
    def __init__(self, stream: BinaryIO, writer: CsvRowWriter, columns: CsvColumnWriter, with_header: bool) -> None:
        self._stream = stream
        self._writer = writer
        self._columns = columns
        if with_header:
            stream.write(writer.header().encode())

    def add_elements(self, rows: list[Any]) -> None:
        self._write(memoryview("".join(map(self._writer.line, rows)).encode()))

    def add_batch(self, batch: Batch) -> None:
        lines = self._columns.lines(batch)
        if lines is None:
            self.add_elements(batch.values)
        else:
            self._write(lines)

    def _write(self, view: memoryview) -> None:
        while view:
            view = view[self._stream.write(view) :]

    def finish(self) -> None:
        """Nothing follows the last row."""


class CsvRowDeserializationSchema(DeserializationSchema):
    """Reads messages of one CSV record as rows; made by its ``Builder``."""

    def __init__(
        self,
        j_deserialization_schema: Any = None,
        *,
        type_info: RowTypeInfo | None = None,
        dialect: CsvDialect | None = None,
        array_separator: str = ";",
        ignore_parse_errors: bool = False,
    ) -> None:
        super().__init__(j_deserialization_schema)
        if type_info is None:
            raise ProgramError("Make a schema with CsvRowDeserializationSchema.Builder(type_info).build().")
        self._type_info = type_info
        self._dialect = dialect or CsvDialect()
        self._array_separator = array_separator
        self._ignore_parse_errors = ignore_parse_errors
        self._reader: CsvRowReader | None = None
        self._columns: CsvColumns | None = None
        self._row_reader()  # types without a CSV form shall fail where they are written down

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_reader": None, "_columns": None}

    def _row_reader(self) -> CsvRowReader:
        if self._reader is None:
            names = self._type_info.get_field_names()
            types, separators = self._type_info.get_field_types(), [self._array_separator] * len(names)
            self._reader = CsvRowReader(names, types, separators, self._dialect.null_literal)
        return self._reader

    def deserialize(self, message: bytes) -> Row | None:
        """The first record of the message; None if it cannot be read and errors are to be ignored."""
        reader = self._row_reader()
        try:
            record = next(self._dialect.records(message.decode("utf-8", "replace").splitlines(True)), None)
            if record is None:
                raise ValueError("there is no record")
            return reader.lenient_row(record[1]) if self._ignore_parse_errors else reader.row(record[1])
        except (ValueError, ArithmeticError) as error:
            if self._ignore_parse_errors:
                return None
            raise ValueError(f"Failed to deserialize CSV row {message!r:.200}: {error}.") from error

    def _deserialize_all(self, messages: list[bytes]) -> Batch | None:
        if self._ignore_parse_errors or not messages:
            return None
        self._columns = self._columns or CsvColumns.of(self._dialect, self._type_info)
        return None if self._columns is None else self._columns.read_messages(messages)

    def get_produced_type(self) -> TypeInformation:
        return self._type_info

    class Builder:
        """Settings of a :class:`CsvRowDeserializationSchema`."""

        def __init__(self, type_info: TypeInformation) -> None:
            self._type_info = row_type_info_of(type_info, "CsvRowDeserializationSchema.Builder")
            self._dialect = CsvDialect()
            self._settings: dict[str, Any] = {}

        def set_field_delimiter(self, delimiter: str) -> CsvRowDeserializationSchema.Builder:
            return self._change(separator=one_character(delimiter, "field delimiter"))

        def set_allow_comments(self, allow_comments: bool) -> CsvRowDeserializationSchema.Builder:
            return self._change(allow_comments=allow_comments)

        def set_array_element_delimiter(self, delimiter: str) -> CsvRowDeserializationSchema.Builder:
            self._settings["array_separator"] = delimiter
            return self

        def set_quote_character(self, c: str) -> CsvRowDeserializationSchema.Builder:
            return self._change(quote=one_character(c, "quote character"))

        def set_escape_character(self, c: str) -> CsvRowDeserializationSchema.Builder:
            return self._change(escape=one_character(c, "escape character"))

        def set_null_literal(self, null_literal: str) -> CsvRowDeserializationSchema.Builder:
            return self._change(null_literal=null_literal)

        def set_ignore_parse_errors(self, ignore_parse_errors: bool) -> CsvRowDeserializationSchema.Builder:
            """Fields that cannot be read become None instead of failing the job."""
            self._settings["ignore_parse_errors"] = ignore_parse_errors
            return self

        def build(self) -> CsvRowDeserializationSchema:
            return CsvRowDeserializationSchema(type_info=self._type_info, dialect=self._dialect, **self._settings)

        def _change(self, **changes: Any) -> CsvRowDeserializationSchema.Builder:
            self._dialect = replace(self._dialect, **changes)
            return self


class CsvRowSerializationSchema(SerializationSchema):
    """Writes rows as messages of one CSV record; made by its ``Builder``."""

    def __init__(self, j_csv_row_serialization_schema: Any = None, writer: CsvRowWriter | None = None) -> None:
        refuse_java_object(
            "CsvRowSerializationSchema",
            "j_csv_row_serialization_schema",
            j_csv_row_serialization_schema,
            "Use CsvRowSerializationSchema.Builder(type_info).build().",
        )
        if writer is None:
            raise ProgramError("Make a schema with CsvRowSerializationSchema.Builder(type_info).build().")
        super().__init__()
        self._writer = writer

    def serialize(self, element: Any) -> bytes:
        return self._writer.line(element).encode()

    class Builder:
        """Settings of a :class:`CsvRowSerializationSchema`."""

        def __init__(self, type_info: TypeInformation) -> None:
            self._type_info = row_type_info_of(type_info, "CsvRowSerializationSchema.Builder")
            self._dialect = CsvDialect()
            self._array_separator = ";"

        def set_field_delimiter(self, c: str) -> CsvRowSerializationSchema.Builder:
            return self._change(separator=one_character(c, "field delimiter"))

        def set_line_delimiter(self, delimiter: str) -> CsvRowSerializationSchema.Builder:
            """What follows each record; may be empty."""
            return self._change(line_end=delimiter)

        def set_array_element_delimiter(self, delimiter: str) -> CsvRowSerializationSchema.Builder:
            self._array_separator = delimiter
            return self

        def disable_quote_character(self) -> CsvRowSerializationSchema.Builder:
            return self._change(quote=None)

        def set_quote_character(self, c: str) -> CsvRowSerializationSchema.Builder:
            return self._change(quote=one_character(c, "quote character"))

        def set_escape_character(self, c: str) -> CsvRowSerializationSchema.Builder:
            return self._change(escape=one_character(c, "escape character"))

        def set_null_literal(self, s: str) -> CsvRowSerializationSchema.Builder:
            return self._change(null_literal=s)

        def build(self) -> CsvRowSerializationSchema:
            return CsvRowSerializationSchema(
                None, CsvRowWriter.of(self._type_info, self._array_separator, self._dialect)
            )

        def _change(self, **changes: Any) -> CsvRowSerializationSchema.Builder:
            self._dialect = replace(self._dialect, **changes)
            return self

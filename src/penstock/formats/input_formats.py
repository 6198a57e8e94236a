"""What programs name when they say how a file source reads its files."""

from __future__ import annotations

from typing import Any

from penstock.common.errors import NotSupportedError
from penstock.common.serialization import DeserializationSchema
from penstock.common.typeinfo import TypeInformation, Types
from penstock.common.utils import refuse_java_object
from penstock.formats.file_formats import FileFormat
from penstock.formats.message_lines import MessageLines
from penstock.formats.text_lines import TextLines

__all__ = ["BulkFormat", "InputFormat", "StreamFormat"]


class InputFormat:
    """What a file source needs to know about a format."""

    tells_bad_records = False  # one by one, so that the others can be read

    def _file_format(self, splits_files: bool) -> FileFormat:
        raise NotSupportedError(f"{type(self).__name__} cannot be read by Penstock: use one of its own formats.")

    def _produced_type(self) -> TypeInformation | None:
        return None


class StreamFormat(InputFormat):
    """A format that is read record by record."""

    def __init__(self, j_stream_format: Any = None) -> None:
        refuse_java_object(
            type(self).__name__, "j_stream_format", j_stream_format, "Use StreamFormat.text_line_format()."
        )

    @staticmethod
    def text_line_format(charset_name: str = "UTF-8") -> StreamFormat:
        """Each line is a record, without its line end. Files may be compressed (.gz, .bz2, .xz, .zst, .deflate)."""
        return _TextLineFormat(charset_name)

    @staticmethod
    def message_line_format(schema: DeserializationSchema) -> StreamFormat:
        """Each line is a message that the schema reads, such as a JSON object (beyond PyFlink)::

            rows = JsonRowDeserializationSchema.builder().type_info(row_type).build()
            source = FileSource.for_record_stream_format(StreamFormat.message_line_format(rows), "events").build()

        Where the schema knows a way, a block of lines is read at once, as columns.
        """
        return _MessageLineFormat(schema)


class _TextLineFormat(StreamFormat):
    def __init__(self, charset_name: str) -> None:
        super().__init__()
        TextLines(charset_name)  # an unknown charset shall fail where it is written down
        self._charset_name = charset_name

    def _file_format(self, splits_files: bool) -> FileFormat:
        return TextLines(self._charset_name, splits_files)

    def _produced_type(self) -> TypeInformation:
        return Types.STRING()


class _MessageLineFormat(StreamFormat):
    tells_bad_records = True

    def __init__(self, schema: DeserializationSchema) -> None:
        super().__init__()
        MessageLines(schema)
        self._schema = schema

    def _file_format(self, splits_files: bool) -> FileFormat:
        return MessageLines(self._schema, splits_files)

    def _produced_type(self) -> TypeInformation:
        return self._schema.get_produced_type()


class BulkFormat(InputFormat):
    """A format that is read in batches of records, such as Parquet."""

    def __init__(self, j_bulk_format: Any = None) -> None:
        refuse_java_object(
            type(self).__name__, "j_bulk_format", j_bulk_format, "Use ParquetColumnarRowInputFormat, for example."
        )

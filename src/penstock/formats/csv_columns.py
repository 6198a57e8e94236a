"""CSV files as columns, where Arrow's reader and ours agree; what it reads differently is noticed and left to ours."""

from __future__ import annotations

from collections.abc import Generator, Iterator

import pyarrow as pa

from penstock.common.typeinfo import BasicType, BasicTypeInfo, RowTypeInfo
from penstock.formats.compression import blocks
from penstock.formats.csv_dialect import CsvDialect
from penstock.runtime.arrow_codec import codec_for
from penstock.runtime.batch import Batch, Codec

# FLOAT, CHAR and moments are missing: their values get their final form only at the next task boundary.
_TYPES = {
    BasicType.STRING,
    BasicType.BOOLEAN,
    BasicType.BYTE,
    BasicType.SHORT,
    BasicType.INT,
    BasicType.LONG,
    BasicType.DOUBLE,
}
# Numbers that only Arrow knows (0x1F, NaN(1)), and empty lines, of which it makes empty fields.
_READ_DIFFERENTLY = (b"0x", b"0X", b"n(", b"N(", b"\n\n", b"\n\r\n")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_BLOCK = 1 << 22


class ReadDifferently(Exception):
    """The file has something that Arrow would read in another way."""


class CsvColumns:
    """Reads files of one dialect and row type."""

    def __init__(self, dialect: CsvDialect, codec: Codec) -> None:
        self._dialect = dialect
        self._codec = codec

    @staticmethod
    def of(dialect: CsvDialect, row_type: RowTypeInfo) -> CsvColumns | None:
        """None when the dialect or a type has no equivalent."""
        plain = dialect.escape is None and not dialect.allow_comments
        characters = dialect.separator + (dialect.quote or "")
        types = row_type.get_field_types()
        known = all(isinstance(each, BasicTypeInfo) and each.basic_type in _TYPES for each in types)
        codec = codec_for(row_type) if plain and characters.isascii() and known and types else None
        return None if codec is None else CsvColumns(dialect, codec)

    def read(self, path: str, skipped_rows: int) -> Iterator[Batch]:
        """Raises ReadDifferently or one of Arrow's errors before the first record about which the readers differ."""
        for columns in self._open(_Inspected(blocks(path)), skipped_rows):
            if columns.num_rows:
                yield Batch.of_columns(self._codec, columns)

    def read_messages(self, messages: list[bytes]) -> Batch | None:
        """Messages of one record each; None when they have to be read one by one."""
        joined = b"\n".join(messages)
        if joined.count(b"\n") != len(messages) - 1 or b"\r" in joined:
            return None
        try:
            parts = list(self._open(_Inspected(iter([joined, b""])), skipped_rows=0))
        except (ReadDifferently, pa.ArrowException):
            return None
        # A quote that is left open takes the next message in: there are fewer records then.
        if sum(part.num_rows for part in parts) != len(messages):
            return None
        return Batch.of_columns(self._codec, pa.concat_batches(parts))

    def _open(self, content: _Inspected, skipped_rows: int) -> Iterator[pa.RecordBatch]:
        from pyarrow import csv  # late: where work is only planned it is not needed

        dialect, schema = self._dialect, self._codec.schema
        null = dialect.null_literal
        reader: Iterator[pa.RecordBatch] = csv.open_csv(
            pa.PythonFile(content, "r"),
            csv.ReadOptions(
                use_threads=False,
                block_size=_BLOCK,
                column_names=schema.names,
                skip_rows_after_names=skipped_rows,
            ),
            csv.ParseOptions(
                delimiter=dialect.separator,
                quote_char=dialect.quote or False,
                newlines_in_values=dialect.quote is not None,
                ignore_empty_lines=False,
            ),
            csv.ConvertOptions(
                column_types=schema,
                null_values=[] if null is None else [null],
                strings_can_be_null=null is not None,
                true_values=["true", "True", "TRUE"],
                false_values=["false", "False", "FALSE"],
            ),
        )
        return reader


class _Inspected:
    """Bytes, none of which Arrow gets before they were looked at."""

    closed = False

    def __init__(self, content: Iterator[bytes]) -> None:
        self._blocks = content
        self._rest = b""
        self._before = b"\n"  # an empty first line is noticed as well

    def read(self, size: int) -> bytes:
        if not self._rest:
            self._rest = next(self._blocks, b"")
            self._inspect(self._rest)
        part, self._rest = self._rest[:size], self._rest[size:]
        return part

    def _inspect(self, block: bytes) -> None:
        if self._before == b"\n" and block.startswith(_BYTE_ORDER_MARK):
            raise ReadDifferently
        joined = self._before + block
        if any(piece in joined for piece in _READ_DIFFERENTLY) or _has_lone_return(joined):
            raise ReadDifferently
        self._before = joined[-2:]

    def close(self) -> None:
        self.closed = True
        if isinstance(self._blocks, Generator):
            self._blocks.close()


def _has_lone_return(content: bytes) -> bool:
    """Whether a carriage return stands without its line feed; about one at the very end the next block decides."""
    if b"\r" not in content:
        return False
    return content.count(b"\r") - content.endswith(b"\r") != content.count(b"\r\n")

"""CSV files as columns, where Arrow's reader and ours agree; what it reads differently is noticed and left to ours."""

from __future__ import annotations

from collections.abc import Generator, Iterator

import numpy as np
import pyarrow as pa

from penstock.columns.kernels.text_buffers import text_bytes
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
_WHOLE_NUMBERS = {BasicType.BYTE, BasicType.SHORT, BasicType.INT, BasicType.LONG}
# Pairs of bytes that Arrow reads differently: empty lines, of which it makes empty fields, and numbers that only it
# knows (0x1F, NaN(1)).
_EMPTY_LINES = (b"\n\n",)
_HEXADECIMAL = (b"0x", b"0X")
_NOT_A_NUMBER = (b"n(", b"N(")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_BLOCK = 1 << 21


class ReadDifferently(Exception):
    """The file has something that Arrow would read in another way."""


class CsvColumns:
    """Reads files of one dialect and row type."""

    def __init__(self, dialect: CsvDialect, codec: Codec, width: int, chosen: list[int], kinds: set[BasicType]) -> None:
        self._dialect = dialect
        self._codec = codec
        self._names = [str(place) for place in range(width)]
        self._chosen = [self._names[place] for place in chosen]
        self._only_texts = kinds == {BasicType.STRING}
        pairs: tuple[bytes, ...] = _EMPTY_LINES
        pairs += _HEXADECIMAL if kinds & {*_WHOLE_NUMBERS, BasicType.DOUBLE} else ()
        pairs += _NOT_A_NUMBER if BasicType.DOUBLE in kinds else ()
        self._pairs = tuple(int.from_bytes(pair, "little") for pair in pairs)

    @staticmethod
    def of(dialect: CsvDialect, row_type: RowTypeInfo, chosen: list[int] | None = None) -> CsvColumns | None:
        """None when the dialect or a type has no equivalent. `chosen` are the columns that are asked for."""
        plain = dialect.escape is None and not dialect.allow_comments
        characters = dialect.separator + (dialect.quote or "")
        types, names = row_type.get_field_types(), row_type.get_field_names()
        width = len(types)
        if chosen is None:
            chosen = list(range(width))
        else:
            types, names = [types[place] for place in chosen], [names[place] for place in chosen]
            row_type = RowTypeInfo(types, names)
        kinds = {each.basic_type for each in types if isinstance(each, BasicTypeInfo)}
        known = all(isinstance(each, BasicTypeInfo) for each in types) and kinds <= _TYPES
        codec = codec_for(row_type) if plain and characters.isascii() and known and types else None
        return None if codec is None else CsvColumns(dialect, codec, width, chosen, kinds)

    def read(self, path: str, skipped_rows: int) -> Iterator[Batch]:
        """Raises ReadDifferently or one of Arrow's errors before the first record about which the readers differ."""
        done = 0
        if self._only_texts:  # an empty line is then a row of nothing but empty texts, which costs less to look for
            for columns in self._open(_Inspected(blocks_without_mark(path), ()), skipped_rows):
                if _has_empty_row(columns):
                    break
                yield from self._batches(columns)
                done += columns.num_rows
            else:
                return
        for columns in self._open(_Inspected(blocks_without_mark(path), self._pairs), skipped_rows):
            known = min(done, columns.num_rows)
            done -= known
            yield from self._batches(columns.slice(known))

    def read_messages(self, messages: list[bytes]) -> Batch | None:
        """Messages of one record each; None when they have to be read one by one."""
        joined = b"\n".join(messages)
        if joined.count(b"\n") != len(messages) - 1 or b"\r" in joined:
            return None
        try:
            parts = list(self._open(_Inspected(iter([joined, b""]), self._pairs), skipped_rows=0))
        except (ReadDifferently, pa.ArrowException):
            return None
        # A quote that is left open takes the next message in: there are fewer records then.
        if sum(part.num_rows for part in parts) != len(messages):
            return None
        return Batch.of_columns(self._codec, self._named(pa.concat_batches(parts)))

    def _batches(self, columns: pa.RecordBatch) -> Iterator[Batch]:
        if columns.num_rows:
            yield Batch.of_columns(self._codec, self._named(columns))

    def _named(self, columns: pa.RecordBatch) -> pa.RecordBatch:
        return pa.RecordBatch.from_arrays(columns.columns, schema=self._codec.schema)

    def _open(self, content: _Inspected, skipped_rows: int) -> Iterator[pa.RecordBatch]:
        from pyarrow import csv  # late: where work is only planned it is not needed

        dialect, schema = self._dialect, self._codec.schema
        null = dialect.null_literal
        reader: Iterator[pa.RecordBatch] = csv.open_csv(
            pa.PythonFile(content, "r"),
            csv.ReadOptions(
                use_threads=False,
                block_size=_BLOCK,
                column_names=self._names,
                skip_rows_after_names=skipped_rows,
            ),
            csv.ParseOptions(
                delimiter=dialect.separator,
                quote_char=dialect.quote or False,
                newlines_in_values=dialect.quote is not None,
                ignore_empty_lines=False,
            ),
            csv.ConvertOptions(
                include_columns=self._chosen,
                column_types=dict(zip(self._chosen, schema.types, strict=True)),
                null_values=[] if null is None else [null],
                strings_can_be_null=null is not None,
                true_values=["true", "True", "TRUE"],
                false_values=["false", "False", "FALSE"],
            ),
        )
        return reader


def blocks_without_mark(path: str) -> Iterator[bytes]:
    """Spreadsheets put a mark in front of UTF-8, which is not part of the first field (Jackson leaves it out, too)."""
    mark = _BYTE_ORDER_MARK
    for block in blocks(path):
        yield block.removeprefix(mark)
        mark = b""


class _Inspected:
    """Bytes, none of which Arrow gets before they were looked at."""

    closed = False

    def __init__(self, content: Iterator[bytes], pairs: tuple[int, ...]) -> None:
        self._blocks = content
        self._pairs = pairs
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
        seam = self._before + block[:2]
        if _has_pair(seam, self._pairs) or _has_pair(block, self._pairs):
            raise ReadDifferently
        if (b"\r" in seam or b"\r" in block) and _has_odd_return(self._before + block):
            raise ReadDifferently
        self._before = (self._before + block[-2:])[-2:]

    def close(self) -> None:
        self.closed = True
        if isinstance(self._blocks, Generator):
            self._blocks.close()


def _has_empty_row(columns: pa.RecordBatch) -> bool:
    empty = None
    for column in columns.columns:
        none = np.diff(text_bytes(column)[0]) == 0
        empty = none if empty is None else empty & none
        if not empty.any():
            return False
    return empty is not None


def _has_pair(content: bytes, pairs: tuple[int, ...]) -> bool:
    """Whether two bytes that follow each other are one of the pairs.

    All bytes are compared two at a time, from the first and from the second one on, and the lock of the interpreter is
    not held: Python's own search takes ten times as long, in which no other thread of the process computes.
    """
    for start in (0, 1) if len(content) > 1 else ():
        twos = np.frombuffer(content, "<u2", (len(content) - start) // 2, start)
        if any((twos == pair).any() for pair in pairs):
            return True
    return False


def _has_odd_return(content: bytes) -> bool:
    """Whether a carriage return stands without its line feed, or in an empty line.

    About one at the very end the next block decides.
    """
    alone = content.count(b"\r") - content.endswith(b"\r") != content.count(b"\r\n")
    return alone or b"\n\r\n" in content

"""Columns as lines of CSV: what has to be in quotes, and the lines that Arrow's own writer can write."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.columns.kernels.text_buffers import text_bytes
from penstock.formats.csv_dialect import LONGEST_TEXT_LOOKED_AT, CsvDialect
from penstock.table.formats.text_columns import joined_texts

_ASCII = 0x80
_ROWS_AT_ONCE = 1 << 14  # Arrow's own 1,024 take a fifth longer


class Quotes(Enum):
    """NONE: no cell needs any; ALL: every cell is to get them; DONE: they are there, or nobody has looked."""

    NONE = "none"
    ALL = "all"
    DONE = "done"


@dataclass(frozen=True)
class CsvCells:
    """A column of texts or whole numbers on its way into lines."""

    column: pa.Array
    quotes: Quotes = Quotes.NONE

    @property
    def texts(self) -> pa.Array:
        return pc.cast(self.column, pa.string()) if pa.types.is_integer(self.column.type) else self.column


def quoted_cells(texts: pa.Array, dialect: CsvDialect) -> CsvCells:
    """In quotes where Flink's writer puts them, which does not look closely.

    It quotes what is long, and what has a character that does not come after separator and quote in the order of codes.
    One look at the bytes of all texts tells if none is to be quoted, or all.
    """
    quote, last = dialect.quote or "", last_quoted(dialect)
    ends, content = text_bytes(texts)
    content = content[ends[0] : ends[-1]]
    lengths = np.diff(ends)
    if last < _ASCII and lengths.max(initial=0) <= LONGEST_TEXT_LOOKED_AT and not (content <= last).any():
        return CsvCells(texts)
    if lengths.min(initial=0) > LONGEST_TEXT_LOOKED_AT and content.max(initial=0) < _ASCII:
        return CsvCells(texts, Quotes.ALL)
    unsafe = pc.match_substring_regex(texts, rf"[\x00-\x{{{last:x}}}]")
    needs = pc.or_(unsafe, pc.greater(pc.utf8_length(texts), LONGEST_TEXT_LOOKED_AT))
    if not pc.any(needs).as_py():
        return CsvCells(texts)
    if pc.all(needs).as_py() and not texts.null_count:
        return CsvCells(texts, Quotes.ALL)
    quoted = joined_texts([quote, doubled(texts, quote), quote])
    return CsvCells(pc.if_else(needs, quoted, texts), Quotes.DONE)


def last_quoted(dialect: CsvDialect) -> int:
    """Texts with this character or one before it are put in quotes."""
    return ord(max(dialect.separator, dialect.quote or "", "\n"))


def doubled(texts: pa.Array, quote: str) -> pa.Array:
    """Texts for between quotes."""
    ends, content = text_bytes(texts)
    inside = ord(quote) >= _ASCII or (content[ends[0] : ends[-1]] == ord(quote)).any()
    return pc.replace_substring(texts, quote, quote * 2) if inside else texts


def lines_by_arrow(cells: list[CsvCells], dialect: CsvDialect) -> memoryview | None:
    """All lines with their ends; None unless all texts are quoted, or none, as Arrow's writer knows no other way."""
    styles = {each.quotes for each in cells if not pa.types.is_integer(each.column.type)}
    nulls = bool(dialect.null_literal) and any(each.column.null_count for each in cells)
    if Quotes.DONE in styles or len(styles) > 1 or nulls or dialect.quote != '"' or not dialect.separator.isascii():
        return None
    from pyarrow import csv  # late: where work is only planned it is not needed

    options = csv.WriteOptions(
        include_header=False,
        delimiter=dialect.separator,
        quoting_style="needed" if Quotes.ALL in styles else "none",  # "needed" puts all texts in quotes
        batch_size=_ROWS_AT_ONCE,
    )
    columns = [each.column for each in cells]
    rows = pa.RecordBatch.from_arrays(columns, [str(place) for place in range(len(columns))])
    stream = pa.BufferOutputStream()
    csv.write_csv(rows, stream, options)
    return memoryview(stream.getvalue()).cast("B")

"""CSV messages, by Flink's options."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from penstock.columns.kernels.equal_runs import by_runs
from penstock.columns.typesystem import families, scalars
from penstock.common.errors import JobExecutionError, NotSupportedError, ProgramError
from penstock.formats.csv_dialect import CsvDialect
from penstock.runtime.batch import Kinds
from penstock.table.formats.base import Decoded, Decoder, Encoder, FormatOptions, TableFormat, columns_of, every_message
from penstock.table.formats.csv_lines import (
    CsvCells,
    Quotes,
    doubled,
    last_quoted,
    lines_by_arrow,
    quoted_cells,
)
from penstock.table.formats.text_columns import (
    content_of,
    from_texts,
    joined_texts,
    messages_of,
    number_texts,
    timestamp_texts,
    to_texts,
)
from penstock.table.logical.nodes import Field, Fields

OPTIONS = (
    "field-delimiter", "disable-quote-character", "quote-character", "allow-comments", "ignore-parse-errors",
    "array-element-delimiter", "escape-character", "null-literal", "write-bigdecimal-in-scientific-notation",
)  # fmt: skip


def dialect_of(options: FormatOptions) -> CsvDialect:
    options.checked(OPTIONS)
    quote = None if options.boolean("disable-quote-character") else options.text("quote-character", '"')
    return CsvDialect(
        _character(options, "field-delimiter", ",") or ",",
        quote,
        _character(options, "escape-character", None),
        options.text("null-literal"),
        options.boolean("allow-comments"),
        "",
    )


def _character(options: FormatOptions, key: str, default: str | None) -> str | None:
    value = options.text(key, default)
    value = {"\\t": "\t", "\\n": "\n"}.get(value or "", value)
    if value is not None and len(value) != 1:
        raise ProgramError(f"'csv.{key}' of {options.table} must be one character, not {value!r}.")
    return value


def check_types(fields: Fields) -> None:
    for field in fields:
        if field.data_type.children():
            raise NotSupportedError(
                f"CSV has no form for {field.data_type.as_summary_string()} (column {field.name!r}): use json."
            )


class CsvDecoder(Decoder):
    """One record in each message."""

    def __init__(self, fields: Fields, options: FormatOptions) -> None:
        super().__init__(fields)
        check_types(fields)
        self._dialect, self._zone = dialect_of(options), options.zone
        self._lenient = options.boolean("ignore-parse-errors")

    def decode(self, messages: Sequence[bytes]) -> Decoded:
        rows: list[list[str | None]] = []
        kept = []
        for place, message in enumerate(messages):
            found = next(self._dialect.records(message.decode("utf-8", "replace").splitlines(True)), None)
            row = self._row(found[1] if found is not None else [], message)
            if row is not None:
                rows.append(row)
                kept.append(place)
        columns = columns_of(rows, len(self.fields))
        numbers = every_message(len(messages))[kept]
        return Decoded(self.columns([pa.array(column, pa.string()) for column in columns]), numbers)

    def _row(self, cells: list[str], message: bytes) -> list[str | None] | None:
        if len(cells) != len(self.fields):
            if self._lenient:
                return None
            raise JobExecutionError(
                f"A CSV record has {len(cells)} fields, but the table has {len(self.fields)} columns: {message!r:.200}"
            )
        return [None if cell == self._dialect.null_literal else cell for cell in cells]

    def columns(self, texts: Sequence[pa.Array]) -> list[pa.Array]:
        pairs = zip(texts, self.fields, strict=True)
        return [from_texts(column, field, self._zone, self._lenient) for column, field in pairs]


class CsvEncoder(Encoder):
    """One line for each row, without its end."""

    def __init__(self, fields: Fields, options: FormatOptions) -> None:
        super().__init__(fields)
        check_types(fields)
        self._dialect, self._zone = dialect_of(options), options.zone
        self._plain = not options.boolean("write-bigdecimal-in-scientific-notation", True)

    def encode(self, columns: Sequence[pa.Array], kinds: Kinds | None, rows: int) -> list[bytes]:
        return messages_of(joined_texts(self._parts(self._cells(columns))))

    def block(self, columns: Sequence[pa.Array], kinds: Kinds | None, rows: int) -> bytes | memoryview:
        cells = self._cells(columns)
        return lines_by_arrow(cells, self._dialect) or content_of(joined_texts([*self._parts(cells), "\n"]))

    def _cells(self, columns: Sequence[pa.Array]) -> list[CsvCells]:
        return [self._cells_of(column, field) for column, field in zip(columns, self.fields, strict=True)]

    def _cells_of(self, column: pa.Array, field: Field) -> CsvCells:
        kind, dialect = field.data_type, self._dialect
        if families.is_integer(kind):
            return CsvCells(column)
        if families.is_timestamp(kind):
            texts = by_runs(column, lambda part: timestamp_texts(part, kind))
            has_space = dialect.quote is not None and last_quoted(dialect) >= ord(" ")
            return CsvCells(texts, Quotes.ALL if has_space else Quotes.DONE)
        if isinstance(kind, scalars.DecimalType):
            return CsvCells(number_texts(column, kind, self._plain))
        texts = to_texts(column, kind, self._zone)
        if families.is_boolean(kind):
            return CsvCells(pc.ascii_lower(texts))
        looked_at = dialect.quote is not None and (families.is_text(kind) or families.is_moment(kind))
        return quoted_cells(texts, dialect) if looked_at else CsvCells(texts, Quotes.DONE)

    def _parts(self, cells: list[CsvCells]) -> list[pa.Array | str]:
        """What a line is joined of: separators and quotes are not joined to a column before."""
        quote, null = self._dialect.quote or "", self._dialect.null_literal or ""
        parts: list[pa.Array | str] = []
        between = ""
        for each in cells:
            texts = doubled(each.texts, quote) if each.quotes is Quotes.ALL else each.texts
            around = quote if each.quotes is Quotes.ALL else ""
            if texts.null_count:
                texts, around = joined_texts([around, texts, around]).fill_null(null), ""
            parts += [between, around, texts, around]
            between = self._dialect.separator
        return parts


FORMAT = TableFormat(CsvDecoder, CsvEncoder)

"""CSV messages, by Flink's options."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.columns.kernels.equal_runs import by_runs
from penstock.columns.kernels.text_buffers import text_bytes
from penstock.columns.typesystem import families, scalars
from penstock.common.errors import JobExecutionError, NotSupportedError, ProgramError
from penstock.formats.csv_dialect import CsvDialect
from penstock.runtime.batch import Kinds
from penstock.table.formats.base import Decoded, Decoder, Encoder, FormatOptions, TableFormat, columns_of, every_message
from penstock.table.formats.text_columns import (
    block_of,
    from_texts,
    joined_texts,
    messages_of,
    number_texts,
    timestamp_texts,
    to_texts,
)
from penstock.table.logical.nodes import Field, Fields

_ASCII = 0x80
_LOOKED_AT = 24  # characters; Flink's writer quotes longer texts
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
        return messages_of(self._lines(columns))

    def block(self, columns: Sequence[pa.Array], kinds: Kinds | None, rows: int) -> bytes:
        return block_of(self._lines(columns))

    def _lines(self, columns: Sequence[pa.Array]) -> pa.Array:
        null = self._dialect.null_literal or ""
        texts = [self._field(column, field) for column, field in zip(columns, self.fields, strict=True)]
        return joined_texts(
            [text.fill_null(null) if text.null_count else text for text in texts], self._dialect.separator
        )

    def _field(self, column: pa.Array, field: Field) -> pa.Array:
        if families.is_timestamp(field.data_type):
            return by_runs(column, lambda part: self._written(part, field))
        return self._written(column, field)

    def _written(self, part: pa.Array, field: Field) -> pa.Array:
        texts, quote = self._texts(part, field), self._dialect.quote
        if quote is None or not (families.is_text(field.data_type) or families.is_moment(field.data_type)):
            return texts
        return _quoted(texts, quote, ord(max(self._dialect.separator, quote, "\n")))

    def _texts(self, column: pa.Array, field: Field) -> pa.Array:
        kind = field.data_type
        if families.is_timestamp(kind):
            return timestamp_texts(column, kind)
        if isinstance(kind, scalars.DecimalType):
            return number_texts(column, kind, self._plain)
        texts = to_texts(column, kind, self._zone)
        return pc.ascii_lower(texts) if families.is_boolean(kind) else texts


def _quoted(texts: pa.Array, quote: str, last: int) -> pa.Array:
    """In quotes where Flink's writer puts them, which does not look closely.

    It quotes what is long, and what has a character that does not come after separator and quote in the order of codes:
    those up to `last`. One look at the bytes of all texts tells if none is to be quoted, or all.
    """
    ends, content = text_bytes(texts)
    content = content[ends[0] : ends[-1]]
    lengths = np.diff(ends)
    if last < _ASCII and lengths.max(initial=0) <= _LOOKED_AT and not (content <= last).any():
        return texts
    inside = last >= _ASCII or (content == ord(quote)).any()
    doubled = pc.replace_substring(texts, quote, quote * 2) if inside else texts
    if lengths.min(initial=0) > _LOOKED_AT and content.max(initial=0) < _ASCII:
        return joined_texts([quote, doubled, quote])
    unsafe = pc.match_substring_regex(texts, rf"[\x00-\x{{{last:x}}}]")
    needs = pc.or_(unsafe, pc.greater(pc.utf8_length(texts), _LOOKED_AT))
    if not pc.any(needs).as_py():
        return texts
    quoted = joined_texts([quote, doubled, quote])
    return quoted if pc.all(needs).as_py() else pc.if_else(needs, quoted, texts)


FORMAT = TableFormat(CsvDecoder, CsvEncoder)

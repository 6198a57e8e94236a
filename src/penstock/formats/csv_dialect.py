"""The characters that give CSV its structure, and records by them, as Flink reads and writes them."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from penstock.common.typeinfo import RowTypeInfo, TypeInformation
from penstock.common.types import Row
from penstock.formats.csv_values import Reader, field_text, reader_of
from penstock.formats.row_types import field_values

# Flink looks only at this many characters of a text before it puts it in quotes without looking further.
LONGEST_TEXT_LOOKED_AT = 24
_LONGEST_FIELD = 1 << 30


@dataclass(frozen=True)
class CsvDialect:
    """How records are separated, quoted and escaped."""

    separator: str = ","
    quote: str | None = '"'
    escape: str | None = None
    null_literal: str | None = None
    allow_comments: bool = False
    line_end: str = "\n"

    def records(self, lines: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
        """The fields of each record with the number of its last line; a record may have several lines in quotes."""
        csv.field_size_limit(_LONGEST_FIELD)
        source = _Lines(lines, self.allow_comments)
        reader = csv.reader(
            source,
            delimiter=self.separator,
            quotechar=self.quote,
            quoting=csv.QUOTE_NONE if self.quote is None else csv.QUOTE_MINIMAL,
            escapechar=self.escape,
        )
        while True:
            source.at_record_start = True
            try:
                fields = next(reader)
            except StopIteration:
                return
            yield source.number, fields or [""]


class _Lines:
    """Leaves comments out, but not lines inside quotes that look like one."""

    def __init__(self, lines: Iterable[str], allow_comments: bool) -> None:
        self._lines = iter(lines)
        self._allow_comments = allow_comments
        self.at_record_start = True
        self.number = 0

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        while True:
            line = next(self._lines)
            self.number += 1
            if self._allow_comments and self.at_record_start and line.lstrip().startswith("#"):
                continue
            self.at_record_start = False
            return line


class CsvRowReader:
    """Turns fields into rows."""

    def __init__(
        self,
        names: list[str],
        types: list[TypeInformation],
        separators: list[str],
        null_literal: str | None,
        scales: list[int | None] | None = None,
    ) -> None:
        self._names = names
        self._null = null_literal
        scales = scales or [None] * len(names)
        arguments = zip(types, separators, scales, strict=True)
        self._readers: list[Reader] = [reader_of(*each) for each in arguments]

    def row(self, fields: list[str]) -> Row:
        """Raises ValueError when the fields do not fit the types."""
        self.check_count(fields)
        null = self._null
        values = [None if text == null else reader(text) for reader, text in zip(self._readers, fields, strict=True)]
        return Row._of(values, self._names)

    def check_count(self, fields: list[str]) -> None:
        if len(fields) != len(self._readers):
            raise ValueError(f"{len(self._readers)} fields expected but there are {len(fields)}: {fields!r:.200}")

    def lenient_row(self, fields: list[str]) -> Row | None:
        """None in fields that cannot be read or are not there; no row at all if there are too many."""
        if len(fields) > len(self._readers):
            return None
        padded: list[str | None] = [*fields, *[None] * (len(self._readers) - len(fields))]
        pairs = zip(self._readers, padded, strict=True)
        return Row._of([self._lenient(reader, text) for reader, text in pairs], self._names)

    def _lenient(self, reader: Reader, text: str | None) -> Any:
        if text is None or text == self._null:
            return None
        try:
            return reader(text)
        except (ValueError, ArithmeticError):
            return None


class CsvRowWriter:
    """Turns rows into lines."""

    def __init__(
        self, names: list[str], types: list[TypeInformation], separators: list[str], dialect: CsvDialect
    ) -> None:
        self._names = names
        self._types = types
        self._separators = separators
        self._dialect = dialect
        quote = dialect.quote or ""
        self._first_safe = max(map(ord, dialect.separator + quote + dialect.line_end.strip("\r\n"))) + 1
        self._unsafe = {"\\", dialect.escape}

    @staticmethod
    def of(type_info: RowTypeInfo, separator: str, dialect: CsvDialect) -> CsvRowWriter:
        names = type_info.get_field_names()
        return CsvRowWriter(names, type_info.get_field_types(), [separator] * len(names), dialect)

    def unsafe_characters(self) -> str | None:
        """A pattern for the characters that make quotes necessary; None when it would need more than ASCII."""
        if self._first_safe > 0x80:
            return None
        others = "".join(f"\\x{{{ord(character):x}}}" for character in self._unsafe if character is not None)
        return f"[\\x{{0}}-\\x{{{self._first_safe - 1:x}}}{others}]"

    def header(self) -> str:
        return self._dialect.separator.join(map(self._quoted, self._names)) + self._dialect.line_end

    def line(self, row: Any) -> str:
        values = field_values(row, self._names)
        fields = map(self._field, values, self._types, self._separators)
        return self._dialect.separator.join(fields) + self._dialect.line_end

    def _field(self, value: Any, type_info: TypeInformation, separator: str) -> str:
        if value is None:
            return self._dialect.null_literal or ""
        text = field_text(value, type_info, separator)
        return text if isinstance(value, (bool, int, float)) else self._quoted(text)

    def _quoted(self, text: str) -> str:
        quote, escape = self._dialect.quote, self._dialect.escape
        if quote is None or not self._needs_quotes(text):
            return text
        if escape is not None:
            text = text.replace(escape, escape + escape)
        return quote + text.replace(quote, quote + quote) + quote

    def _needs_quotes(self, text: str) -> bool:
        if len(text) > LONGEST_TEXT_LOOKED_AT:
            return True
        return any(ord(character) < self._first_safe or character in self._unsafe for character in text)

"""CSV files: read from front to back, because a line feed inside quotes looks like the end of a record."""

from __future__ import annotations

import codecs
import csv
from collections.abc import Iterator
from itertools import islice
from typing import Any

import pyarrow as pa

from penstock.common.errors import JobExecutionError
from penstock.common.typeinfo import RowTypeInfo
from penstock.common.types import Row
from penstock.formats.csv_columns import CsvColumns, ReadDifferently, blocks_without_mark
from penstock.formats.csv_dialect import CsvDialect, CsvRowReader
from penstock.formats.file_formats import WholeFile
from penstock.runtime.batch import Batch

_ROWS_PER_LIST = 8_192


class CsvRecords(WholeFile):
    """Rows of CSV files, with or without a header."""

    def __init__(
        self,
        dialect: CsvDialect,
        names: list[str],
        rows: dict[str, Any],
        use_header: bool,
        strict_headers: bool,
        skip_first_data_row: bool,
        chosen: list[int] | None = None,
    ) -> None:
        self._dialect = dialect
        self._names = names
        self._rows = rows  # the arguments of CsvRowReader, which itself cannot be pickled
        self._use_header = use_header
        self._strict_headers = strict_headers
        self._skip_first_data_row = skip_first_data_row
        self._chosen = chosen  # the columns that rows are to have; None for all

    def read_all(self, path: str) -> Iterator[list[Row] | Batch]:
        columns = CsvColumns.of(self._dialect, RowTypeInfo(self._rows["types"], self._names), self._chosen)
        done = 0
        if columns is not None and not self._strict_headers:
            try:
                for batch in columns.read(path, self._use_header + self._skip_first_data_row):
                    yield batch
                    done += len(batch)
                return
            except (ReadDifferently, pa.ArrowException):
                pass  # from there on record by record, which also says what is wrong with the file
        yield from self._read_rows(path, done)

    def _read_rows(self, path: str, done: int) -> Iterator[list[Row]]:
        """The records after those that are done."""
        reader = CsvRowReader(**self._rows)
        records = self._dialect.records(_lines(path))
        rows: list[Row] = []
        line = 0
        try:
            self._skip(records)
            for record in islice(records, done):
                line = record[0]
            for record in records:
                line, fields = record
                rows.append(self._narrowed(reader.row(fields)))
                if len(rows) == _ROWS_PER_LIST:
                    yield rows
                    rows = []
        except (ValueError, ArithmeticError, csv.Error) as error:
            raise JobExecutionError(
                f"{path!r} does not fit its CSV schema in line {line or 1}: {error}. Correct the file or the schema."
            ) from error
        if rows:
            yield rows

    def _narrowed(self, row: Row) -> Row:
        if self._chosen is None:
            return row
        return Row._of([row[place] for place in self._chosen], [self._names[place] for place in self._chosen])

    def _skip(self, records: Iterator[tuple[int, list[str]]]) -> None:
        if self._use_header:
            _, header = next(records, (0, self._names))
            names = [name.strip() for name in header]
            if self._strict_headers and names != self._names:
                raise ValueError(f"the header is {names}, but the schema's columns are {self._names}")
        if self._skip_first_data_row:
            next(records, None)


def _lines(path: str) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    rest = ""
    for block in blocks_without_mark(path):
        *lines, rest = (rest + decoder.decode(block)).split("\n")
        for line in lines:
            yield line + "\n"
    rest += decoder.decode(b"", True)
    if rest:
        yield rest

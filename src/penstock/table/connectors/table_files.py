"""Files as batches of a table's columns, with the columns that their paths tell."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import unquote

import pyarrow as pa

from penstock.columns.kernels.datum import from_plain
from penstock.common.errors import JobExecutionError
from penstock.common.typeinfo import Types
from penstock.formats.csv_dialect import CsvDialect
from penstock.formats.csv_records import CsvRecords
from penstock.formats.file_formats import FileFormat
from penstock.formats.text_lines import ByteLines
from penstock.runtime.batch import Batch, Kinds
from penstock.runtime.table.codec import TableCodec
from penstock.storage.files import size_of_file
from penstock.table.connectors.base import ConnectorTable
from penstock.table.formats.base import Decoder
from penstock.table.formats.csv import CsvDecoder, check_types
from penstock.table.formats.text_columns import from_texts
from penstock.table.logical.nodes import Field, Fields


class TableFile(FileFormat):
    """Adds to the columns of a file those of its partition and its metadata."""

    def __init__(self, table: ConnectorTable, stored: Fields, default_partition: str) -> None:
        self.table = table
        self.stored = stored
        self._default = default_partition
        self._keys = dict(table.metadata)

    def batch(self, path: str, columns: list[pa.Array], rows: int, kinds: Kinds | None = None) -> Batch:
        inside = {field.name: column for field, column in zip(self.stored, columns, strict=True)}
        partition = _partition_of(path)
        arrays = []
        for field in self.table.fields:
            if field.name in inside:
                arrays.append(inside[field.name])
            elif field.name in self._keys:
                arrays.append(_repeated(_metadata(path, self._keys[field.name], field), rows))
            else:
                arrays.append(_repeated(self._partition_value(partition, field, path), rows))
        return TableCodec(self.table.row_type).batch(arrays, kinds, rows)

    def _partition_value(self, partition: dict[str, str], field: Field, path: str) -> pa.Array:
        if field.name not in partition:
            raise JobExecutionError(f"{path!r} is in no directory {field.name}=..., by which the table is partitioned.")
        text = partition[field.name]
        value = None if text == self._default else text
        return from_texts(pa.array([value], pa.string()), field, self.table.session.zone, False)


def _repeated(one: pa.Array, rows: int) -> pa.Array:
    return one.take(pa.array([0] * rows, pa.int64()))


def _partition_of(path: str) -> dict[str, str]:
    parts = [part.partition("=") for part in path.split(os.sep)[:-1]]
    return {unquote(key): unquote(value) for key, sign, value in parts if sign}


def _metadata(path: str, key: str, field: Field) -> pa.Array:
    facts: dict[str, Callable[[], Any]] = {
        "file.path": lambda: path,
        "file.name": lambda: os.path.basename(path),
        "file.size": lambda: size_of_file(path),
        "file.modification-time": lambda: int(os.path.getmtime(path) * 1000),
    }
    return from_plain([facts[key]()], field.data_type)


class LinesTableFile(TableFile):
    """A message in each line."""

    def __init__(self, table: ConnectorTable, decoder: Decoder, default_partition: str) -> None:
        super().__init__(table, decoder.fields, default_partition)
        self._lines = ByteLines()
        self._decoder = decoder
        self.block = self._lines.block

    def extent(self, path: str, size: int) -> int:
        return self._lines.extent(path, size)

    def records_per_unit(self, path: str, extent: int) -> float:
        return self._lines.records_per_unit(path, extent)

    def read(self, path: str, start: int, end: int, extent: int) -> Iterator[list[Any] | Batch]:
        for lines in self._lines.read(path, start, end, extent):
            messages = lines if self._decoder.reads_empty_lines else [line for line in lines if line]
            decoded = self._decoder.decode(messages)
            if len(decoded.messages):
                yield self.batch(path, decoded.columns, len(decoded.messages), decoded.kinds)


class CsvTableFile(TableFile):
    """CSV records, which may have line ends in quotes; read as texts, in columns where Arrow can.

    `every` are the columns of the files, of which the decoder gets some.
    """

    def __init__(
        self, table: ConnectorTable, decoder: CsvDecoder, every: Fields, dialect: CsvDialect, default_partition: str
    ) -> None:
        super().__init__(table, decoder.fields, default_partition)
        check_types(every)
        names = [field.name for field in every]
        rows = {
            "names": names,
            "types": [Types.STRING()] * len(names),
            "separators": [";"] * len(names),
            "null_literal": dialect.null_literal,
            "scales": [None] * len(names),
        }
        chosen = [names.index(field.name) for field in decoder.fields] or [0]  # of no column rows cannot be counted
        self._records = CsvRecords(
            dialect, names, rows, False, False, False, chosen if len(chosen) < len(names) else None
        )
        self._decoder = decoder
        self.block = self._records.block

    def extent(self, path: str, size: int) -> int:
        return self._records.extent(path, size)

    def records_per_unit(self, path: str, extent: int) -> float:
        return self._records.records_per_unit(path, extent)

    def read(self, path: str, start: int, end: int, extent: int) -> Iterator[list[Any] | Batch]:
        width = len(self.stored)
        for records in self._records.read(path, start, end, extent):
            columns = records.columns if isinstance(records, Batch) else None
            if columns is not None:
                texts = [columns.column(place) for place in range(width)]
            else:
                rows = records.values if isinstance(records, Batch) else records
                texts = [pa.array([row[place] for row in rows], pa.string()) for place in range(width)]
            yield self.batch(path, self._decoder.columns(texts), len(records))

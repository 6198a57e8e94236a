"""Writes rows as files of columns, a group of rows at a time."""

from __future__ import annotations

from typing import Any

import pyarrow

from penstock.common.typeinfo import RowTypeInfo
from penstock.formats.arrow_types import arrow_schema, to_arrow
from penstock.formats.field_columns import field_columns
from penstock.formats.row_types import field_values
from penstock.runtime.batch import Batch

_ROWS_PER_GROUP = 131_072


class ColumnarFileWriter:
    """Collects rows; a format says how a table of them is written and how its file ends."""

    def __init__(self, row_type: RowTypeInfo) -> None:
        self._names = row_type.get_field_names()
        self._converters = [to_arrow(field_type) for field_type in row_type.get_field_types()]
        self.schema = arrow_schema(row_type)
        self._types = row_type.get_field_types()
        self._rows: list[list[Any]] = []
        self._batches: list[pyarrow.RecordBatch] = []  # they come before the rows
        self._pending = 0

    def add_elements(self, rows: list[Any]) -> None:
        names = self._names
        self._rows += [field_values(row, names) for row in rows]
        self._added(len(rows))

    def add_batch(self, batch: Batch) -> None:
        """Columns that have the file's types are written as they are."""
        columns = field_columns(batch, self._names, self._types)
        if columns is None or not all(map(_same_values, columns, self.schema.types)):
            self.add_elements(batch.values)
            return
        self._rows_to_batch()
        arrays = [column.cast(kind) for column, kind in zip(columns, self.schema.types, strict=True)]
        self._batches.append(pyarrow.record_batch(arrays, schema=self.schema))
        self._added(len(batch))

    def _added(self, count: int) -> None:
        self._pending += count
        if self._pending >= _ROWS_PER_GROUP:
            self._write_group()

    def _rows_to_batch(self) -> None:
        if not self._rows:
            return
        columns = list(zip(*self._rows, strict=True))
        arrays = [
            pyarrow.array(list(values) if convert is None else list(map(convert, values)), field.type)
            for values, convert, field in zip(columns, self._converters, self.schema, strict=True)
        ]
        self._batches.append(pyarrow.record_batch(arrays, schema=self.schema))
        self._rows = []

    def _write_group(self) -> None:
        self._rows_to_batch()
        self._write(pyarrow.Table.from_batches(self._batches, self.schema))
        self._batches, self._pending = [], 0

    def finish(self) -> None:
        if self._pending:
            self._write_group()
        self._close()

    def _write(self, group: pyarrow.Table) -> None:
        raise NotImplementedError

    def _close(self) -> None:
        raise NotImplementedError


def _same_values(column: pyarrow.Array, wanted: pyarrow.DataType) -> bool:
    """Whether a column of a batch holds what the file shall hold; of moments only the time zone's mark may differ."""
    kinds = pyarrow.types
    if kinds.is_timestamp(column.type) and kinds.is_timestamp(wanted):
        return bool(column.type.unit == wanted.unit)
    return bool(column.type == wanted) and not kinds.is_nested(wanted)

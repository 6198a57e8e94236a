"""Parquet files: any range of their row groups can be read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow.parquet as parquet
import pyarrow.types as kinds

from penstock.common.errors import JobExecutionError
from penstock.common.typeinfo import RowTypeInfo
from penstock.common.types import Row
from penstock.formats.arrow_types import arrow_type, from_arrow
from penstock.formats.file_formats import FileFormat


class ParquetRows(FileFormat):
    """Rows with the columns of a row type; a column that a file does not have is None."""

    def __init__(
        self, row_type: RowTypeInfo, batch_size: int, utc: bool, case_sensitive: bool, splittable: bool
    ) -> None:
        self._row_type = row_type
        self._batch_size = batch_size
        self._utc = utc
        self._case_sensitive = case_sensitive
        self._splittable = splittable

    def extent(self, path: str, size: int) -> int:
        groups: int = _open(path).metadata.num_row_groups
        return groups if self._splittable else min(1, groups)

    def records_per_unit(self, path: str, extent: int) -> float:
        return float(_open(path).metadata.num_rows / extent)

    def read(self, path: str, start: int, end: int, extent: int) -> Iterator[list[Row]]:
        file = _open(path)
        groups = range(start, end) if self._splittable else range(file.metadata.num_row_groups)
        positions = self._columns_of(file)
        names = self._row_type.get_field_names()
        for batch in file.iter_batches(
            self._batch_size, row_groups=list(groups), columns=[name for name in positions if name is not None]
        ):
            columns = [self._values(batch, name, i, path) for i, name in enumerate(positions)]
            yield [Row._of(list(values), names) for values in zip(*columns, strict=True)]

    def _columns_of(self, file: Any) -> list[str | None]:
        """For each field the name of its column in this file."""
        there = file.schema_arrow.names
        if self._case_sensitive:
            return [name if name in there else None for name in self._row_type.get_field_names()]
        by_lower = {name.lower(): name for name in there}
        return [by_lower.get(name.lower()) for name in self._row_type.get_field_names()]

    def _values(self, batch: Any, name: str | None, field: int, path: str) -> list[Any]:
        if name is None:
            return [None] * batch.num_rows
        type_info = self._row_type.get_field_types()[field]
        column, expected = batch.column(name), arrow_type(type_info)
        if column.type != expected and not _keeps_values(column.type, expected):
            try:
                column = column.cast(expected)
            except ValueError as error:
                raise JobExecutionError(
                    f"{path!r} does not fit its row type: column {name!r} has the Parquet type {column.type}, which"
                    f" cannot be read as {type_info!r} ({error}). Correct the row type or the file."
                ) from error
        values: list[Any] = column.to_pylist()
        convert = from_arrow(type_info, self._utc)
        return values if convert is None else list(map(convert, values))


def _keeps_values(found: Any, expected: Any) -> bool:
    """Python has one form for all decimals, and one for all timestamps with a time zone."""
    both_decimals = kinds.is_decimal(found) and kinds.is_decimal(expected)
    both_timestamps = kinds.is_timestamp(found) and kinds.is_timestamp(expected) and found.unit in ("us", "ms", "s")
    return bool(both_decimals or both_timestamps)


def _open(path: str) -> Any:
    try:
        return parquet.ParquetFile(path)
    except (OSError, ValueError) as error:
        raise JobExecutionError(f"{path!r} cannot be read as a Parquet file: {error}") from error

"""Files of columns: any range of their row groups (Parquet) or stripes (ORC) can be read."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.orc as orc
import pyarrow.parquet as parquet
import pyarrow.types as kinds

from penstock.common.errors import JobExecutionError
from penstock.common.typeinfo import RowTypeInfo, TypeInformation, Types
from penstock.common.types import Row
from penstock.formats.arrow_types import arrow_type, from_arrow
from penstock.formats.file_formats import FileFormat
from penstock.runtime.arrow_codec import codec_for
from penstock.runtime.batch import Batch
from penstock.storage.files import is_remote, open_file

_ROWS_PER_BATCH = 32_768


class ColumnarRows(FileFormat):
    """Rows with the columns of a row type; a column that a file does not have is None."""

    def __init__(
        self, row_type: RowTypeInfo, batch_size: int, utc: bool, case_sensitive: bool, splittable: bool
    ) -> None:
        self._row_type = row_type
        self._batch_size = batch_size
        self._utc = utc
        self._case_sensitive = case_sensitive
        self._splittable = splittable
        # CHAR is checked only at the next task boundary.
        self._in_columns = bool(row_type.get_field_types()) and Types.CHAR() not in row_type.get_field_types()

    form: str  # as people call it

    @abstractmethod
    def _file(self, source: Any) -> Any: ...

    @abstractmethod
    def _size(self, file: Any) -> tuple[int, int]:
        """Groups and rows."""

    @abstractmethod
    def _names(self, file: Any) -> list[str]: ...

    @abstractmethod
    def _batches(self, file: Any, groups: range, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]: ...

    def _open(self, path: str) -> Any:
        try:
            return self._file(open_file(path) if is_remote(path) else path)
        except (OSError, ValueError) as error:
            raise JobExecutionError(f"{path!r} cannot be read as {self.form} file: {error}") from error

    def extent(self, path: str, size: int) -> int:
        groups, _ = self._size(self._open(path))
        return groups if self._splittable else min(1, groups)

    def records_per_unit(self, path: str, extent: int) -> float:
        return self._size(self._open(path))[1] / extent

    def read(self, path: str, start: int, end: int, extent: int) -> Iterator[list[Row] | Batch]:
        file = self._open(path)
        groups = range(start, end) if self._splittable else range(self._size(file)[0])
        names = self._columns_of(file)
        codec = codec_for(self._row_type)
        assert codec is not None
        wanted = [name for name in names if name is not None]
        for found in self._batches(file, groups, wanted, max(self._batch_size, _ROWS_PER_BATCH)):
            columns = [self._column(found, name, field, path) for field, name in enumerate(names)]
            fitting = [_fitting(column, kind) for column, kind in zip(columns, codec.schema.types, strict=True)]
            if self._in_columns and all(column is not None for column in fitting):
                yield Batch.of_columns(codec, pa.RecordBatch.from_arrays(fitting, schema=codec.schema))
            else:
                yield self._rows(columns)

    def _rows(self, columns: list[pa.Array]) -> list[Row]:
        names, types = self._row_type.get_field_names(), self._row_type.get_field_types()
        values = [_values(column, type_info, self._utc) for column, type_info in zip(columns, types, strict=True)]
        return [Row._of(list(fields), names) for fields in zip(*values, strict=True)]

    def _columns_of(self, file: Any) -> list[str | None]:
        """For each field the name of its column in this file."""
        there = self._names(file)
        if self._case_sensitive:
            return [name if name in there else None for name in self._row_type.get_field_names()]
        by_lower = {name.lower(): name for name in there}
        return [by_lower.get(name.lower()) for name in self._row_type.get_field_names()]

    def _column(self, batch: Any, name: str | None, field: int, path: str) -> pa.Array:
        """The column of a field as its type wants it; nothing but nulls if the file has none."""
        type_info = self._row_type.get_field_types()[field]
        expected = arrow_type(type_info)
        if name is None:
            return pa.nulls(batch.num_rows, expected)
        column = batch.column(name)
        if column.type != expected and not _keeps_values(column.type, expected):
            try:
                return column.cast(expected)
            except ValueError as error:
                raise JobExecutionError(
                    f"{path!r} does not fit its row type: column {name!r} has the type {column.type}, which"
                    f" cannot be read as {type_info!r} ({error}). Correct the row type or the file."
                ) from error
        return column


class ParquetRows(ColumnarRows):
    form = "a Parquet"

    def _file(self, source: Any) -> Any:
        return parquet.ParquetFile(source)

    def _size(self, file: Any) -> tuple[int, int]:
        return file.metadata.num_row_groups, file.metadata.num_rows

    def _names(self, file: Any) -> list[str]:
        names: list[str] = file.schema_arrow.names
        return names

    def _batches(self, file: Any, groups: range, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:
        yield from file.iter_batches(rows, row_groups=list(groups), columns=columns)


class OrcRows(ColumnarRows):
    form = "an ORC"

    def _file(self, source: Any) -> Any:
        return orc.ORCFile(source)

    def _size(self, file: Any) -> tuple[int, int]:
        return file.nstripes, file.nrows

    def _names(self, file: Any) -> list[str]:
        names: list[str] = file.schema.names
        return names

    def _batches(self, file: Any, groups: range, columns: list[str], rows: int) -> Iterator[pa.RecordBatch]:
        for group in groups:
            stripe = file.read_stripe(group, columns=columns)
            for start in range(0, stripe.num_rows, rows):
                yield stripe.slice(start, rows)


def _values(column: pa.Array, type_info: TypeInformation, utc: bool) -> list[Any]:
    values: list[Any] = column.to_pylist()
    convert = from_arrow(type_info, utc)
    return values if convert is None else list(map(convert, values))


def _fitting(column: pa.Array, wanted: pa.DataType) -> pa.Array | None:
    """The column in the form that batches have; None when only records can be made of it."""
    if column.type == wanted and not kinds.is_timestamp(wanted):
        return None if kinds.is_nested(wanted) or kinds.is_time(wanted) else column
    if not (kinds.is_timestamp(wanted) and kinds.is_timestamp(column.type) and column.type.tz is None):
        return None
    # The type has milliseconds: whatever is finer is cut off only at the next task boundary.
    moments = column.cast(wanted)
    finer = pc.any(pc.not_equal(moments.cast(pa.timestamp("ms"), safe=False).cast(wanted), moments))
    return None if finer.as_py() else moments


def _keeps_values(found: Any, expected: Any) -> bool:
    """Python has one form for all decimals, and one for all timestamps with a time zone."""
    both_decimals = kinds.is_decimal(found) and kinds.is_decimal(expected)
    both_timestamps = kinds.is_timestamp(found) and kinds.is_timestamp(expected) and found.unit in ("us", "ms", "s")
    return bool(both_decimals or both_timestamps)

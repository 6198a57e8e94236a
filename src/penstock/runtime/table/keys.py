"""Keys of table rows: some columns, compared as SQL groups them, where NULL is equal to NULL and NaN to NaN.

A key column holds 64-bit integers, texts, or structs of these, and nulls. The key of a row in state is the same value
in Python: an int, a str, None, or a tuple of these; rows without key columns have the key 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.columns.kernels.datum import plain_values
from penstock.columns.typesystem.base import DataType
from penstock.common.types import Row
from penstock.functions.element import KeySelector
from penstock.runtime.batch import Batch
from penstock.runtime.key_columns import integers_as_column, keys_of_column
from penstock.runtime.table.codec import TableCodec
from penstock.runtime.table.row_type import TableRowType


class RowKey(KeySelector):
    """Selects some columns of table rows as the key, for whole batches."""

    def __init__(self, type_info: TableRowType, positions: Sequence[int]) -> None:
        self.type_info = type_info
        self.positions = tuple(positions)
        self._codec: TableCodec | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_codec": None}

    def key_column_of(self, batch: Batch) -> pa.Array:
        if self._codec is None:
            self._codec = TableCodec(self.type_info)
        arrays = self._codec.arrays(batch)
        chosen = [arrays[place] for place in self.positions]
        return key_column(chosen, [self.type_info.types[place] for place in self.positions], len(batch))

    def get_key(self, value: Any) -> Any:
        row = value if isinstance(value, Row) else Row(*value)
        return keys_of_column(self.key_column_of(Batch([row])))[0]


def key_column(columns: Sequence[pa.Array], types: Sequence[DataType], rows: int) -> pa.Array:
    """One column of keys from the columns that make them up."""
    if not columns:
        return integers_as_column(np.zeros(rows, np.int64))
    parts = [_key_form(column, kind) for column, kind in zip(columns, types, strict=True)]
    if len(parts) == 1:
        return parts[0]
    return pa.StructArray.from_arrays(parts, [f"f{place}" for place in range(len(parts))])


def _key_form(column: pa.Array, data_type: DataType) -> pa.Array:
    kind = column.type
    if pa.types.is_string(kind) or kind == pa.int64():
        return column
    if pa.types.is_integer(kind) or pa.types.is_boolean(kind):
        return column.cast(pa.int64())
    if pa.types.is_floating(kind):
        # The bits: all NaN are one key, and 0.0 and -0.0 are two, as in Flink.
        numbers = pc.fill_null(column, 0).to_numpy(zero_copy_only=False).astype(np.float64)
        bits = np.where(np.isnan(numbers), np.float64("nan"), numbers).view(np.int64)
        return pa.array(bits, mask=pc.is_null(column).to_numpy(zero_copy_only=False))
    if pa.types.is_temporal(kind):
        return column.view(pa.int32() if kind.bit_width == 32 else pa.int64()).cast(pa.int64())
    if pa.types.is_decimal(kind):
        return column.cast(pa.string())
    if pa.types.is_null(kind):
        return pa.nulls(len(column), pa.int64())
    return pa.array([None if value is None else repr(value) for value in plain_values(column, data_type)], pa.string())

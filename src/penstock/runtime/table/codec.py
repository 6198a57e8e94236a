"""Rows of a table as Arrow columns and back: what exchanges, state and sinks of tables carry."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from penstock.columns.kernels.python_columns import from_python, to_python
from penstock.columns.typesystem.arrow_mapping import to_arrow_type
from penstock.common.typeinfo import TypeInformation
from penstock.common.types import Row, RowKind
from penstock.runtime.batch import KIND, Batch, Kinds
from penstock.runtime.table.row_type import TableRowType

_KINDS = tuple(RowKind)


class TableCodec:
    """The columns are called f0, f1, ... in their order, whatever the table calls them, and the kinds are the last.

    Batches of tables have columns only: whoever reads `batch.values` makes Rows, which operators never do.
    """

    mutable = True

    def __init__(self, type_info: TableRowType) -> None:
        self.type_info: TypeInformation = type_info
        self.row_type = type_info
        self.schema = pa.schema([(f"f{place}", to_arrow_type(kind)) for place, kind in enumerate(type_info.types)])
        # Names and nullability make no difference to columns: plans rename and unite tables without touching rows.
        self.form = f"table {self.schema.types}"

    # -- columns -----------------------------------------------------------------------------------------------

    def batch(self, columns: list[pa.Array], kinds: Kinds | None = None, rows: int | None = None) -> Batch:
        """A batch of these columns, in the order of the type; `rows` is needed only if there may be no column."""
        if not columns:
            columns_of_nothing = pa.RecordBatch.from_struct_array(pa.array([{}] * (rows or 0), pa.struct([])))
            return Batch.of_columns(self, columns_of_nothing, kinds=kinds)
        return Batch.of_columns(self, pa.RecordBatch.from_arrays(columns, schema=self.schema), kinds=kinds)

    def arrays(self, batch: Batch) -> list[pa.Array]:
        """The columns of a batch without its kinds; of rows they are made first."""
        columns: Any = batch.in_columns(self).columns
        return list(columns.columns[: len(self.row_type)])

    # -- the protocol of codecs --------------------------------------------------------------------------------

    def encode(self, values: list[Any]) -> pa.RecordBatch:
        kinds = np.fromiter((_kind_of(value) for value in values), np.int8, len(values))
        rows = [value._values if isinstance(value, Row) else value for value in values]
        cells = list(zip(*rows, strict=True)) if rows else [()] * len(self.row_type)
        described = zip(cells, self.row_type.types, self.row_type.names, strict=True)
        arrays = [from_python(column, kind, f"Column {name!r}") for column, kind, name in described]
        batch = self.batch(arrays, kinds if kinds.any() else None, len(values))
        assert batch.columns is not None
        return batch.columns

    def decode(self, columns: pa.RecordBatch) -> list[Any]:
        types, names = self.row_type.types, list(self.row_type.names)
        cells = [to_python(columns.column(place), kind) for place, kind in enumerate(types)]
        rows = list(zip(*cells, strict=True)) if cells else [()] * columns.num_rows
        if KIND not in columns.schema.names:
            return [Row._of(row, names) for row in rows]
        kinds = columns.column(KIND).to_pylist()
        return [Row._of(row, names, _KINDS[kind]) for row, kind in zip(rows, kinds, strict=True)]

    def field(self, columns: pa.RecordBatch, position: Any) -> pa.Array | None:
        return columns.column(position) if isinstance(position, int) and position < len(self.row_type) else None

    def field_values(self, columns: pa.RecordBatch, position: Any) -> list[Any] | None:
        column = self.field(columns, position)
        return None if column is None else to_python(column, self.row_type.types[position])


def _kind_of(value: Any) -> int:
    return int(value._row_kind.value) if isinstance(value, Row) else 0


def with_kinds(batch: Batch) -> Kinds:
    """The kinds of a batch, also when all are insertions."""
    kinds = batch.kinds
    return np.zeros(len(batch), np.int8) if kinds is None else kinds

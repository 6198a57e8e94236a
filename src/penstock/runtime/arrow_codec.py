"""Batches: all records of a chunk of a typed stream as one Arrow record batch, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from penstock.common.typeinfo import (
    ExternalTypeInfo,
    PickledBytesTypeInfo,
    RowTypeInfo,
    TupleTypeInfo,
    TypeInformation,
)
from penstock.runtime.arrow_columns import Fields, RowFields, column_for
from penstock.runtime.batch import Codec
from penstock.runtime.table.codec import TableCodec
from penstock.runtime.table.row_type import TableRowType
from penstock.runtime.type_description import as_text, describe_type

_VALUE = "v"
_PRESENT = "$present"


def codec_for(type_info: TypeInformation) -> Codec | None:
    """The codec of a declared type; None for a pickled one, which has no columns.

    Decoding what was encoded gives what coercion gives, record by record.
    """
    if isinstance(type_info, PickledBytesTypeInfo):
        return None
    if isinstance(type_info, ExternalTypeInfo):
        return codec_for(type_info.type_info)
    if isinstance(type_info, TableRowType):
        return TableCodec(type_info)
    if isinstance(type_info, RowTypeInfo):
        return _RecordCodec(type_info, RowFields(type_info))
    if isinstance(type_info, TupleTypeInfo):
        return _RecordCodec(type_info, Fields(type_info, type_info.get_field_types()))
    return _ValueCodec(type_info)


class _ValueCodec:
    """Records that are one value each: one column, in which null is None."""

    def __init__(self, type_info: TypeInformation) -> None:
        self.type_info = type_info
        self.form = as_text(describe_type(type_info))
        self._column = column_for(type_info)
        self.mutable = self._column.mutable
        self.schema = pa.schema([(_VALUE, self._column.arrow_type)])

    def encode(self, values: list[Any]) -> pa.RecordBatch:
        return pa.RecordBatch.from_arrays([self._column.encode(values)], [_VALUE])

    def decode(self, columns: pa.RecordBatch) -> list[Any]:
        return self._column.decode(columns.column(0))

    def field(self, columns: pa.RecordBatch, position: Any) -> pa.Array | None:
        return columns.column(0) if position == 0 else None

    def field_values(self, columns: pa.RecordBatch, position: Any) -> list[Any] | None:
        return self._column.decode(columns.column(0)) if position == 0 else None


class _RecordCodec:
    """Records with fields: one column for each, and one that tells which records are None when some are."""

    def __init__(self, type_info: TypeInformation, fields: Fields) -> None:
        self.type_info = type_info
        self.form = as_text(describe_type(type_info))
        self._fields = fields
        self.mutable = fields.mutable
        self.schema = pa.schema(fields.schema)

    def encode(self, values: list[Any]) -> pa.RecordBatch:
        arrays, names, missing = self._fields.encode(values)
        if missing is not None or not arrays:
            present: Sequence[bool] = [True] * len(values) if missing is None else [not gone for gone in missing]
            arrays, names = [*arrays, pa.array(present, pa.bool_())], [*names, _PRESENT]
        return pa.RecordBatch.from_arrays(arrays, names)

    def decode(self, columns: pa.RecordBatch) -> list[Any]:
        arrays = dict(zip(columns.schema.names, columns.columns, strict=True))
        marks = arrays.get(_PRESENT)
        present = None if marks is None else marks.to_numpy(zero_copy_only=False).tolist()
        return self._fields.decode(arrays, columns.num_rows, present)

    def field(self, columns: pa.RecordBatch, position: Any) -> pa.Array | None:
        if _PRESENT in columns.schema.names:
            return None
        name = self._fields.name_of(position)
        return None if name is None else columns.column(name)

    def field_values(self, columns: pa.RecordBatch, position: Any) -> list[Any] | None:
        column = self.field(columns, position)
        return None if column is None else self._fields.column_at(position).decode(column)

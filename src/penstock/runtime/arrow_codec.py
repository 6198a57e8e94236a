"""Batches: all records of a chunk of a typed stream as one Arrow record batch, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import pyarrow as pa

from penstock.common.typeinfo import (
    ExternalTypeInfo,
    PickledBytesTypeInfo,
    RowTypeInfo,
    TupleTypeInfo,
    TypeInformation,
)
from penstock.runtime.arrow_columns import Column, Fields, RowFields, column_for

_VALUE = "v"
_PRESENT = "$present"


class ColumnCodec(Protocol):
    """Decoding what was encoded gives what coercion gives, record by record."""

    def encode(self, values: list[Any]) -> pa.RecordBatch: ...

    def decode(self, batch: pa.RecordBatch) -> list[Any]: ...

    def field(self, batch: pa.RecordBatch, position: Any) -> pa.Array | None: ...


def codec_for(type_info: TypeInformation) -> ColumnCodec | None:
    """The codec of a declared type; None for a pickled one, whose chunks are not Arrow's."""
    if isinstance(type_info, PickledBytesTypeInfo):
        return None
    if isinstance(type_info, ExternalTypeInfo):
        return codec_for(type_info.type_info)
    if isinstance(type_info, RowTypeInfo):
        return _RecordCodec(RowFields(type_info))
    if isinstance(type_info, TupleTypeInfo):
        return _RecordCodec(Fields(type_info, type_info.get_field_types()))
    return _ValueCodec(column_for(type_info))


class _ValueCodec:
    """Records that are one value each: one column, in which null is None."""

    def __init__(self, column: Column) -> None:
        self._column = column

    def encode(self, values: list[Any]) -> pa.RecordBatch:
        return pa.RecordBatch.from_arrays([self._column.encode(values)], [_VALUE])

    def decode(self, batch: pa.RecordBatch) -> list[Any]:
        return self._column.decode(batch.column(0))

    def field(self, batch: pa.RecordBatch, position: Any) -> pa.Array | None:
        return batch.column(0) if position == 0 else None


class _RecordCodec:
    """Records with fields: one column for each, and one that tells which records are None when some are."""

    def __init__(self, fields: Fields) -> None:
        self._fields = fields

    def encode(self, values: list[Any]) -> pa.RecordBatch:
        arrays, names, missing = self._fields.encode(values)
        if missing is not None or not arrays:
            present: Sequence[bool] = [True] * len(values) if missing is None else [not gone for gone in missing]
            arrays, names = [*arrays, pa.array(present, pa.bool_())], [*names, _PRESENT]
        return pa.RecordBatch.from_arrays(arrays, names)

    def decode(self, batch: pa.RecordBatch) -> list[Any]:
        arrays = dict(zip(batch.schema.names, batch.columns, strict=True))
        marks = arrays.get(_PRESENT)
        present = None if marks is None else marks.to_numpy(zero_copy_only=False).tolist()
        return self._fields.decode(arrays, batch.num_rows, present)

    def field(self, batch: pa.RecordBatch, position: Any) -> pa.Array | None:
        if _PRESENT in batch.schema.names:
            return None
        name = self._fields.name_of(position)
        return None if name is None else batch.column(name)

"""Records between streams and the columns of table files."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from penstock.common.errors import JobExecutionError, ProgramError
from penstock.common.typeinfo import RowTypeInfo, TypeInformation
from penstock.common.types import Row
from penstock.formats.arrow_types import arrow_type, from_arrow
from penstock.runtime.arrow_codec import codec_for
from penstock.runtime.batch import Batch


def named_row_type(type_info: TypeInformation | None, owner: str) -> RowTypeInfo:
    if not isinstance(type_info, RowTypeInfo) or not type_info.has_declared_names():
        raise ProgramError(
            f"{owner} takes the columns of its rows as Types.ROW_NAMED(names, types), not {type_info!r}."
        )
    return type_info


def same_kind(ours: pa.DataType, theirs: pa.DataType | None) -> bool:
    """Whether a column of a table can have ours: tables have one unit of time, and one kind of text."""
    if theirs is None:
        return False
    if pa.types.is_timestamp(ours) and pa.types.is_timestamp(theirs):
        return (ours.tz is None) == (theirs.tz is None)
    alike = (
        (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view),
        (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_binary_view),
    )
    return bool(ours == theirs) or any(
        any(kind(ours) for kind in kinds) and any(kind(theirs) for kind in kinds) for kinds in alike
    )


def records_of(found: pa.RecordBatch, row_type: RowTypeInfo, place: str) -> Batch | list[Row]:
    """Columns that have the form of batches stay columns; others become rows."""
    names, types = row_type.get_field_names(), row_type.get_field_types()
    columns = [_column(found, name, type_info, place) for name, type_info in zip(names, types, strict=True)]
    codec = codec_for(row_type)
    assert codec is not None
    if all(
        column.type == kind and not _needs_values(kind)
        for column, kind in zip(columns, codec.schema.types, strict=True)
    ):
        return Batch.of_columns(codec, pa.RecordBatch.from_arrays(columns, schema=codec.schema))
    converters = [from_arrow(type_info, utc=True) for type_info in types]
    values = [
        column.to_pylist() if convert is None else list(map(convert, column.to_pylist()))
        for column, convert in zip(columns, converters, strict=True)
    ]
    return [Row._of(list(fields), names) for fields in zip(*values, strict=True)]


def _needs_values(kind: pa.DataType) -> bool:
    """Moments have finer units in files than in streams, and nested values have other forms."""
    return bool(pa.types.is_temporal(kind) and not pa.types.is_date(kind)) or bool(pa.types.is_nested(kind))


def _column(found: pa.RecordBatch, name: str, type_info: TypeInformation, place: str) -> Any:
    expected = arrow_type(type_info)
    if name not in found.schema.names:
        raise JobExecutionError(f"{place} has no column {name!r}; its columns are {', '.join(found.schema.names)}.")
    column = found.column(name)
    if column.type == expected or (pa.types.is_timestamp(column.type) and pa.types.is_timestamp(expected)):
        return column
    try:
        return column.cast(expected)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise JobExecutionError(
            f"{place}: the column {name!r} has the type {column.type}, which cannot be read as {type_info!r} ({error})."
        ) from error

"""Columns as functions of pandas see them, and what these give: rows are DataFrames, moments have a zone."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from penstock.columns.kernels.failure import ValueFailure
from penstock.columns.typesystem import scalars
from penstock.columns.typesystem.arrow_mapping import to_arrow_type
from penstock.columns.typesystem.base import DataType
from penstock.columns.typesystem.nested import RowType


def as_series(column: pa.Array, data_type: DataType) -> Any:
    """As in PyFlink whole numbers with NULLs among them are floats."""
    if isinstance(data_type, RowType):
        import pandas

        fields = zip(column.flatten(), data_type.names, strict=True)
        return pandas.concat([field.to_pandas(date_as_object=True).rename(name) for field, name in fields], axis=1)
    series = column.to_pandas(date_as_object=True)
    return series.dt.tz_localize("UTC") if isinstance(data_type, scalars.LocalZonedTimestampType) else series


def from_series(given: Any, data_type: DataType, count: int, function: str) -> pa.Array:
    """What the function gave for so many rows. The columns of a DataFrame are fields by their places."""
    import pandas

    wanted: Any = pandas.DataFrame if isinstance(data_type, RowType) else pandas.Series
    if not isinstance(given, wanted) or len(given) != count:
        found = type(given).__name__
        found += f" of {len(given)}" if isinstance(given, (pandas.Series, pandas.DataFrame)) else ""
        raise ValueFailure(f"{function} must give a {wanted.__name__} of {count} values, but gave {found}.")
    if not isinstance(data_type, RowType):
        return pa.Array.from_pandas(given, type=to_arrow_type(data_type))
    if len(given.columns) != len(data_type.names):
        raise ValueFailure(
            f"{function} must give a DataFrame with the columns {', '.join(data_type.names)}, but gave"
            f" {', '.join(map(str, given.columns)) or 'none'}."
        )
    fields = to_arrow_type(data_type)
    columns = [
        pa.Array.from_pandas(given.iloc[:, place], type=fields.field(place).type) for place in range(len(given.columns))
    ]
    return pa.StructArray.from_arrays(columns, fields=list(fields))

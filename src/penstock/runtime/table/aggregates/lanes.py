"""How the values of a type lie in the arrays of slots: as numbers where 64 bits hold them, else as Python values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from penstock.columns.kernels.datum import as_numpy, from_numpy, from_plain, plain_values
from penstock.columns.kernels.decimal_columns import from_unscaled, unscaled
from penstock.columns.typesystem import families, scalars
from penstock.columns.typesystem.arrow_mapping import to_arrow_type
from penstock.columns.typesystem.base import DataType
from penstock.columns.typesystem.intervals import DayTimeIntervalType

Values = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]

_LONG_DIGITS = 18  # decimals up to these are 64-bit numbers


@dataclass(frozen=True)
class Lane:
    """Values with something in place of nulls, and beside them where they are valid (None: everywhere)."""

    data_type: DataType
    dtype: Any

    @property
    def numbers(self) -> bool:
        return self.dtype is not object

    @property
    def nothing(self) -> Any:
        return None if self.dtype is object else 0

    def read(self, column: pa.Array) -> tuple[Values, Mask | None]:
        kind = column.type
        if self.dtype is object:
            values = np.empty(len(column), object)
            values[:] = plain_values(column, self.data_type)
            return values, _valid(column)
        if pa.types.is_decimal(kind):
            found = unscaled(column)
            assert found is not None
            return found
        if pa.types.is_temporal(kind):
            width = pa.int32() if kind.bit_width == 32 else pa.int64()
            column = column.view(width)
        values, valid = as_numpy(column)
        return (values if values.dtype == self.dtype else values.astype(self.dtype)), valid

    def write(self, values: Values, valid: Mask | None) -> pa.Array:
        if valid is not None and valid.all():
            valid = None
        if self.dtype is object:
            if valid is not None:
                values = values.copy()
                values[~valid] = None
            return from_plain(values.tolist(), self.data_type)
        if isinstance(self.data_type, scalars.DecimalType):
            return from_unscaled(values, valid, self.data_type)
        arrow_type = to_arrow_type(self.data_type)
        if pa.types.is_temporal(arrow_type):
            width = pa.int32() if arrow_type.bit_width == 32 else pa.int64()
            return from_numpy(values, valid, width).view(arrow_type)
        if pa.types.is_boolean(arrow_type):
            return from_numpy(values.astype(np.bool_), valid, arrow_type)
        return from_numpy(values.astype(arrow_type.to_pandas_dtype(), copy=False), valid, arrow_type)


def lane_of(data_type: DataType) -> Lane:
    if isinstance(data_type, scalars.DecimalType):
        return Lane(data_type, np.int64 if data_type.precision <= _LONG_DIGITS else object)
    if isinstance(data_type, scalars.FloatType):
        return Lane(data_type, np.float32)
    if isinstance(data_type, scalars.DoubleType):
        return Lane(data_type, np.float64)
    whole = families.is_integer(data_type) or families.is_moment(data_type)
    if whole or isinstance(data_type, (scalars.BooleanType, DayTimeIntervalType)):
        return Lane(data_type, np.int64)
    return Lane(data_type, object)


def whole_digits(column: pa.Array) -> tuple[Values, Mask | None]:
    """Decimals as whole numbers of their last digit: 64-bit ones, or Python's when some are larger."""
    found = unscaled(column)
    if found is not None:
        return found
    digits = np.empty(len(column), object)
    scale = column.type.scale
    digits[:] = [0 if value is None else int(value.scaleb(scale)) for value in column.to_pylist()]
    return digits, _valid(column)


def _valid(column: pa.Array) -> Mask | None:
    return None if column.null_count == 0 else pc.is_valid(column).to_numpy(zero_copy_only=False)

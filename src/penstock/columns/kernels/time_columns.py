"""Columns of moments as whole numbers: ticks of a unit since 1970, days, ticks of a day, months, milliseconds."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from penstock.columns.kernels.datum import Datum, as_array
from penstock.columns.kernels.time_zone import PER_SECOND, to_instant, to_local
from penstock.columns.typesystem.arrow_mapping import to_arrow_type, unit_of
from penstock.columns.typesystem.base import DataType
from penstock.columns.typesystem.scalars import DateType, LocalZonedTimestampType, TimestampType, TimeType

_Ints = npt.NDArray[np.int64]
_Valid = npt.NDArray[np.bool_] | None


def ticks_of(datum: Datum) -> tuple[_Ints, _Valid]:
    """The whole numbers that Arrow keeps, with 0 in place of nulls."""
    array = as_array(datum, 1)
    plain = array
    if not pa.types.is_integer(array.type):
        plain = array.view(pa.int32() if array.type.bit_width == 32 else pa.int64())
    valid = None if array.null_count == 0 else pc.is_valid(array).to_numpy(zero_copy_only=False)
    values = plain.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    return values, valid


def column_of(ticks: npt.NDArray[Any], valid: _Valid, data_type: DataType, scalar: bool = False) -> Datum:
    arrow_type = to_arrow_type(data_type)
    width = pa.int32() if arrow_type.bit_width == 32 else pa.int64()
    mask = None if valid is None else ~valid
    found = pa.array(np.asarray(ticks).astype(width.to_pandas_dtype()), width, mask=mask)
    if arrow_type != width:
        found = found.view(arrow_type)
    return found[0] if scalar else found


def unit(data_type: DataType) -> str:
    return unit_of(int(getattr(data_type, "precision", 0)))


def rescaled(ticks: _Ints, source: str, target: str) -> _Ints:
    """Ticks of another unit, rounded down."""
    have, want = PER_SECOND[source], PER_SECOND[target]
    return ticks * (want // have) if want >= have else np.floor_divide(ticks, have // want)


def cut_to_precision(ticks: _Ints, tick_unit: str, precision: int) -> _Ints:
    """Digits of the fraction beyond the precision become zero."""
    step = PER_SECOND[tick_unit] // 10**precision if PER_SECOND[tick_unit] >= 10**precision else 1
    return ticks if step <= 1 else np.floor_divide(ticks, step) * step


def local_ticks(datum: Datum, data_type: DataType, zone: str, want: str) -> tuple[_Ints, _Valid]:
    """What the wall clock shows, in a unit: of a date midnight, of a time of day the time on 1970-01-01."""
    ticks, valid = ticks_of(datum)
    if isinstance(data_type, DateType):
        return ticks * 86_400 * PER_SECOND[want], valid
    have = unit(data_type)
    if isinstance(data_type, LocalZonedTimestampType):
        ticks = to_local(ticks, have, zone)
    return rescaled(ticks, have, want), valid


def from_local(ticks: _Ints, have: str, valid: _Valid, target: DataType, zone: str, scalar: bool = False) -> Datum:
    """A column of the target type from what the wall clock shows."""
    if isinstance(target, DateType):
        return column_of(np.floor_divide(ticks, 86_400 * PER_SECOND[have]), valid, target, scalar)
    if isinstance(target, TimeType):
        ticks = np.mod(ticks, 86_400 * PER_SECOND[have])
    assert isinstance(target, (TimestampType, LocalZonedTimestampType, TimeType))
    want = unit(target)
    ticks = cut_to_precision(rescaled(ticks, have, want), want, target.precision)
    if isinstance(target, LocalZonedTimestampType):
        ticks = to_instant(ticks, want, zone)
    return column_of(ticks, valid, target, scalar)


def finest(*types: DataType) -> str:
    """The unit that loses nothing of any of these types."""
    units = [unit(data_type) for data_type in types] or ["s"]
    return max(units, key=lambda name: PER_SECOND[name])

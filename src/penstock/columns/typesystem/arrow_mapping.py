"""How values of a type lie in Arrow columns: one mapping for kernels, operators, exchanges and users."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from penstock.columns.typesystem import scalars
from penstock.columns.typesystem.base import DataType
from penstock.columns.typesystem.intervals import DayTimeIntervalType, YearMonthIntervalType
from penstock.columns.typesystem.nested import ArrayType, MapType, MultisetType, RowField, RowType
from penstock.common.errors import NotSupportedError

# Intervals are what Flink keeps: months as int, milliseconds as long.
_PLAIN: dict[type[DataType], pa.DataType] = {
    scalars.NullType: pa.null(),
    scalars.BooleanType: pa.bool_(),
    scalars.TinyIntType: pa.int8(),
    scalars.SmallIntType: pa.int16(),
    scalars.IntType: pa.int32(),
    scalars.BigIntType: pa.int64(),
    scalars.FloatType: pa.float32(),
    scalars.DoubleType: pa.float64(),
    scalars.CharType: pa.string(),
    scalars.VarCharType: pa.string(),
    scalars.BinaryType: pa.binary(),
    scalars.VarBinaryType: pa.binary(),
    scalars.DateType: pa.date32(),
    scalars.RawType: pa.binary(),
    scalars.VariantType: pa.string(),
    scalars.BitmapType: pa.binary(),
    YearMonthIntervalType: pa.int32(),
    DayTimeIntervalType: pa.duration("ms"),
}


def unit_of(precision: int) -> str:
    """The coarsest unit of Arrow that holds so many digits of a second."""
    return ("s", "ms", "ms", "ms", "us", "us", "us", "ns", "ns", "ns")[precision]


def to_arrow_type(data_type: DataType) -> pa.DataType:
    """The type of the Arrow column that holds values of a type.

    >>> str(to_arrow_type(scalars.TimestampType(3)))
    'timestamp[ms]'
    """
    plain = _PLAIN.get(type(data_type))
    if plain is not None:
        return plain
    if isinstance(data_type, scalars.DecimalType):
        return pa.decimal128(data_type.precision, data_type.scale)
    if isinstance(data_type, (scalars.TimestampType, scalars.LocalZonedTimestampType)):
        return pa.timestamp(unit_of(data_type.precision))
    if isinstance(data_type, scalars.TimeType):
        unit = unit_of(data_type.precision)
        return pa.time32(unit) if unit in ("s", "ms") else pa.time64(unit)
    if isinstance(data_type, MultisetType):
        return pa.map_(to_arrow_type(data_type.element_type), pa.int32())
    if isinstance(data_type, ArrayType):
        return pa.list_(to_arrow_type(data_type.element_type))
    if isinstance(data_type, MapType):
        return pa.map_(to_arrow_type(data_type.key_type), to_arrow_type(data_type.value_type))
    if isinstance(data_type, RowType):
        return pa.struct([_field(field) for field in data_type])
    raise NotSupportedError(f"Values of type {data_type!r} cannot be kept in columns: convert them to another type.")


def _field(field: RowField) -> pa.Field:
    return pa.field(field.name, to_arrow_type(field.data_type), field.data_type.is_nullable)


def create_arrow_schema(field_names: Sequence[str], field_types: Sequence[DataType]) -> pa.Schema:
    pairs = zip(field_names, field_types, strict=True)
    return pa.schema([pa.field(name, to_arrow_type(kind), kind.is_nullable) for name, kind in pairs])


_BACK: tuple[tuple[pa.DataType, type[DataType]], ...] = (
    (pa.bool_(), scalars.BooleanType),
    (pa.int8(), scalars.TinyIntType),
    (pa.int16(), scalars.SmallIntType),
    (pa.int32(), scalars.IntType),
    (pa.int64(), scalars.BigIntType),
    (pa.float32(), scalars.FloatType),
    (pa.float64(), scalars.DoubleType),
    (pa.date32(), scalars.DateType),
)
_PRECISION = {"s": 0, "ms": 3, "us": 6, "ns": 9}


def from_arrow_type(arrow_type: pa.DataType, nullable: bool = True) -> DataType:
    """The type whose values an Arrow column holds; a timestamp with a zone is TIMESTAMP_LTZ."""
    for known, data_type in _BACK:
        if arrow_type.equals(known):
            return data_type(nullable)
    if pa.types.is_decimal(arrow_type):
        return scalars.DecimalType(arrow_type.precision, arrow_type.scale, nullable)
    if pa.types.is_string(arrow_type) or pa.types.is_large_string(arrow_type):
        return scalars.VarCharType(scalars.MAX_LENGTH, nullable)
    if pa.types.is_fixed_size_binary(arrow_type):
        return scalars.BinaryType(arrow_type.byte_width, nullable)
    if pa.types.is_binary(arrow_type) or pa.types.is_large_binary(arrow_type):
        return scalars.VarBinaryType(scalars.MAX_LENGTH, nullable)
    if pa.types.is_time(arrow_type):
        return scalars.TimeType(_PRECISION[arrow_type.unit], nullable)
    if pa.types.is_timestamp(arrow_type):
        kind = scalars.LocalZonedTimestampType if arrow_type.tz else scalars.TimestampType
        return kind(_PRECISION[arrow_type.unit], nullable)
    if pa.types.is_duration(arrow_type):
        return DayTimeIntervalType(DayTimeIntervalType.DayTimeResolution.DAY_TO_SECOND, nullable=nullable)
    if pa.types.is_map(arrow_type):
        return MapType(from_arrow_type(arrow_type.key_type, False), from_arrow_type(arrow_type.item_type), nullable)
    if pa.types.is_list(arrow_type) or pa.types.is_large_list(arrow_type):
        return ArrayType(from_arrow_type(arrow_type.value_type), nullable)
    if pa.types.is_struct(arrow_type):
        members = [arrow_type.field(index) for index in range(arrow_type.num_fields)]
        return RowType([RowField(f.name, from_arrow_type(f.type, f.nullable)) for f in members], nullable)
    if pa.types.is_null(arrow_type):
        return scalars.NullType()
    raise NotSupportedError(f"There is no SQL type for Arrow's {arrow_type}: cast the column before handing it over.")

"""Types of streams and types of columns: each as the other."""

from __future__ import annotations

from penstock.columns.typesystem import scalars
from penstock.columns.typesystem.base import DataType
from penstock.columns.typesystem.nested import ArrayType, MapType, MultisetType, RowField, RowType
from penstock.common.errors import NotSupportedError
from penstock.common.typeinfo import (
    BasicType,
    BasicTypeInfo,
    DateTypeInfo,
    ExternalTypeInfo,
    LocalTimeTypeInfo,
    MapTypeInfo,
    PrimitiveArrayTypeInfo,
    RowTypeInfo,
    TimestampTypeInfo,
    TimeTypeInfo,
    TupleTypeInfo,
    TypeInformation,
    Types,
    _ElementsTypeInfo,
)

_BASIC: dict[BasicType, DataType] = {
    BasicType.STRING: scalars.VarCharType(scalars.MAX_LENGTH),
    BasicType.BYTE: scalars.TinyIntType(),
    BasicType.BOOLEAN: scalars.BooleanType(),
    BasicType.SHORT: scalars.SmallIntType(),
    BasicType.INT: scalars.IntType(),
    BasicType.LONG: scalars.BigIntType(),
    BasicType.FLOAT: scalars.FloatType(),
    BasicType.DOUBLE: scalars.DoubleType(),
    BasicType.CHAR: scalars.CharType(1),
    BasicType.BIG_INT: scalars.DecimalType(38, 0),
    BasicType.BIG_DEC: scalars.DecimalType(38, 18),
    BasicType.INSTANT: scalars.LocalZonedTimestampType(3),
}


def data_type_of(type_info: TypeInformation) -> DataType:
    """The type of a column that holds values of a stream's type."""
    if isinstance(type_info, ExternalTypeInfo):
        return data_type_of(type_info.type_info)
    if isinstance(type_info, BasicTypeInfo):
        return _BASIC[type_info.basic_type]
    if isinstance(type_info, (RowTypeInfo, TupleTypeInfo)):
        types = type_info.get_field_types()
        names = [f"f{place}" for place in range(len(types))]
        if isinstance(type_info, RowTypeInfo):
            names = type_info.get_field_names()
        return RowType([RowField(name, data_type_of(kind)) for name, kind in zip(names, types, strict=True)])
    if isinstance(type_info, PrimitiveArrayTypeInfo) and type_info == Types.PRIMITIVE_ARRAY(Types.BYTE()):
        return scalars.VarBinaryType(scalars.MAX_LENGTH)
    if isinstance(type_info, _ElementsTypeInfo):
        return ArrayType(data_type_of(type_info.element_type))
    if isinstance(type_info, MapTypeInfo):
        return MapType(data_type_of(type_info.key_type), data_type_of(type_info.value_type))
    if isinstance(type_info, (DateTypeInfo,)):
        return scalars.DateType()
    if isinstance(type_info, TimeTypeInfo):
        return scalars.TimeType()
    if isinstance(type_info, TimestampTypeInfo):
        return scalars.TimestampType(3)
    if isinstance(type_info, LocalTimeTypeInfo):
        return _local_time(type_info)
    raise NotSupportedError(
        f"Records of the type {type_info!r} have no columns: declare a type with"
        " map(.., output_type=Types.ROW_NAMED(..)) before the stream becomes a table."
    )


def _local_time(type_info: LocalTimeTypeInfo) -> DataType:
    text = repr(type_info).lower()
    if "datetime" in text:
        return scalars.TimestampType(3)
    return scalars.DateType() if "date" in text else scalars.TimeType()


_BACK: dict[type[DataType], TypeInformation] = {
    scalars.BooleanType: Types.BOOLEAN(),
    scalars.TinyIntType: Types.BYTE(),
    scalars.SmallIntType: Types.SHORT(),
    scalars.IntType: Types.INT(),
    scalars.BigIntType: Types.LONG(),
    scalars.FloatType: Types.FLOAT(),
    scalars.DoubleType: Types.DOUBLE(),
    scalars.CharType: Types.STRING(),
    scalars.VarCharType: Types.STRING(),
    scalars.DecimalType: Types.BIG_DEC(),
    scalars.DateType: Types.SQL_DATE(),
    scalars.TimeType: Types.SQL_TIME(),
    scalars.TimestampType: Types.SQL_TIMESTAMP(),
    scalars.LocalZonedTimestampType: Types.INSTANT(),
    scalars.BinaryType: Types.PRIMITIVE_ARRAY(Types.BYTE()),
    scalars.VarBinaryType: Types.PRIMITIVE_ARRAY(Types.BYTE()),
}


def type_info_of(data_type: DataType) -> TypeInformation:
    """The type of a stream's field that holds values of a column."""
    found = _BACK.get(type(data_type))
    if found is not None:
        return found
    if isinstance(data_type, MultisetType):
        return Types.MAP(type_info_of(data_type.element_type), Types.INT())
    if isinstance(data_type, ArrayType):
        return Types.OBJECT_ARRAY(type_info_of(data_type.element_type))
    if isinstance(data_type, MapType):
        return Types.MAP(type_info_of(data_type.key_type), type_info_of(data_type.value_type))
    if isinstance(data_type, RowType):
        return Types.ROW_NAMED(data_type.field_names(), [type_info_of(kind) for kind in data_type.field_types()])
    return Types.PICKLED_BYTE_ARRAY()

"""The row types that formats take: types of the Table API, or ``Types.ROW_NAMED`` in their place."""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

from penstock.common.errors import NotSupportedError, ProgramError
from penstock.common.typeinfo import BasicType, BasicTypeInfo, RowTypeInfo, TypeInformation, Types

_MOST_DIGITS = 200  # of a value before it is cut to the digits of its type

# The Table API's types by the names of their classes: this module must not need the Table API.
_BY_CLASS_NAME: dict[str, Callable[[], TypeInformation]] = {
    "CharType": Types.STRING,
    "VarCharType": Types.STRING,
    "BooleanType": Types.BOOLEAN,
    "TinyIntType": Types.BYTE,
    "SmallIntType": Types.SHORT,
    "IntType": Types.INT,
    "BigIntType": Types.LONG,
    "FloatType": Types.FLOAT,
    "DoubleType": Types.DOUBLE,
    "DateType": Types.SQL_DATE,
    "TimeType": Types.SQL_TIME,
    "TimestampType": Types.SQL_TIMESTAMP,
    "LocalZonedTimestampType": Types.INSTANT,
    "BinaryType": lambda: Types.PRIMITIVE_ARRAY(Types.BYTE()),
    "VarBinaryType": lambda: Types.PRIMITIVE_ARRAY(Types.BYTE()),
}


class DeclaredDecimal(BasicTypeInfo):
    """Decimals with the digits of DataTypes.DECIMAL(precision, scale); streams know only Types.BIG_DEC()."""

    def __init__(self, precision: int, scale: int) -> None:
        super().__init__(BasicType.BIG_DEC)
        self.precision = precision
        self.scale = scale

    def fitted(self, value: Decimal) -> Decimal | None:
        """Rounded half up, as Flink does; what is too large is None."""
        rounded = value.quantize(Decimal(1).scaleb(-self.scale), ROUND_HALF_UP, Context(prec=_MOST_DIGITS))
        return None if len(rounded.as_tuple().digits) > self.precision else rounded


def type_info_of(data_type: Any) -> TypeInformation:
    """The type information of a Table API type; type information stays as it is."""
    if isinstance(data_type, TypeInformation):
        return data_type
    name = type(data_type).__name__
    if name in _BY_CLASS_NAME:
        return _BY_CLASS_NAME[name]()
    if name == "DecimalType":
        return DeclaredDecimal(data_type.precision, data_type.scale)
    if name == "ArrayType":
        return Types.OBJECT_ARRAY(type_info_of(data_type.element_type))
    if name == "MapType":
        return Types.MAP(type_info_of(data_type.key_type), type_info_of(data_type.value_type))
    if hasattr(data_type, "field_names") and hasattr(data_type, "field_types"):
        types = [type_info_of(field_type) for field_type in data_type.field_types()]
        return Types.ROW_NAMED(list(data_type.field_names()), types)
    raise NotSupportedError(
        f"{data_type!r} is no type that formats can read or write; use a type of DataTypes, or type information"
        " such as Types.LONG()."
    )


def row_type_info_of(row_type: Any, owner: str) -> RowTypeInfo:
    type_info = type_info_of(row_type)
    if not isinstance(type_info, RowTypeInfo):
        raise ProgramError(
            f"{owner} takes a row type, such as DataTypes.ROW([...]) or Types.ROW_NAMED(names, types), not"
            f" {row_type!r}."
        )
    return type_info


def field_values(row: Any, names: list[str]) -> list[Any]:
    """The values of a Row, tuple, list or dict in the order of the names."""
    if isinstance(row, dict):
        return [row.get(name) for name in names]
    fields = getattr(row, "_fields", None)
    values = row.get_fields_by_names(names) if fields and set(names) <= set(fields) else list(row)
    if len(values) != len(names):
        raise ValueError(f"The record has {len(values)} fields, but the format's row type has {names}: {row!r:.200}")
    return list(values)

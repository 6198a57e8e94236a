"""Values of Python programs and the plain form that columns are made of: checks, conversion, and inferred types."""

from __future__ import annotations

import array
import datetime
from collections.abc import Iterable, Sequence
from decimal import Decimal
from functools import reduce
from typing import Any

from penstock.columns.typesystem import families, scalars
from penstock.columns.typesystem.arrow_mapping import unit_of
from penstock.columns.typesystem.base import DataType
from penstock.columns.typesystem.decimals import fit
from penstock.columns.typesystem.intervals import DayTimeIntervalType
from penstock.columns.typesystem.nested import ArrayType, MapType, MultisetType, RowField, RowType
from penstock.common.errors import ProgramError
from penstock.common.types import Row

_EPOCH = datetime.datetime(1970, 1, 1)
_MICROSECOND = datetime.timedelta(microseconds=1)
_PER_MICRO = {"s": 1_000_000, "ms": 1_000, "us": 1}


def plain_value(value: Any, data_type: DataType) -> Any:
    """A value as columns take it: moments as whole numbers, rows as tuples."""
    if value is None:
        return None
    if isinstance(data_type, MultisetType):
        return dict(value) if isinstance(value, dict) else {item: list(value).count(item) for item in value}
    if isinstance(data_type, ArrayType):
        return [plain_value(item, data_type.element_type) for item in value]
    if isinstance(data_type, MapType):
        pairs = value.items()
        return {plain_value(k, data_type.key_type): plain_value(v, data_type.value_type) for k, v in pairs}
    if isinstance(data_type, RowType):
        parts = zip(data_type.values_of(value), data_type.children(), strict=True)
        return tuple(plain_value(item, part) for item, part in parts)
    if families.is_moment(data_type) or isinstance(data_type, DayTimeIntervalType):
        return _ticks(value, data_type)
    if isinstance(data_type, scalars.DecimalType):
        # As Flink takes the numbers of Python: rounded to the scale, NULL where they have too many digits.
        return fit(value if isinstance(value, Decimal) else Decimal(str(value)), data_type)
    if families.is_floating(data_type):
        return float(value)
    return bytes(value) if isinstance(value, bytearray) else value


def _ticks(value: Any, data_type: DataType) -> int:
    if isinstance(value, int):
        return value
    if isinstance(data_type, DayTimeIntervalType):
        return int(value // datetime.timedelta(milliseconds=1))
    if isinstance(data_type, scalars.DateType):
        return int(value.toordinal()) - _EPOCH.toordinal()
    if isinstance(data_type, scalars.TimeType):
        micros = ((value.hour * 60 + value.minute) * 60 + value.second) * 1_000_000 + value.microsecond
    elif isinstance(data_type, scalars.LocalZonedTimestampType):
        aware = value if value.tzinfo else value.replace(tzinfo=datetime.UTC)
        micros = (aware.astimezone(datetime.UTC).replace(tzinfo=None) - _EPOCH) // _MICROSECOND
    else:
        micros = (value - _EPOCH) // _MICROSECOND
    unit = unit_of(int(getattr(data_type, "precision", 6)))
    return int(micros * 1_000) if unit == "ns" else int(micros // _PER_MICRO[unit])


_INFERRED: tuple[tuple[type, DataType], ...] = (
    (bool, scalars.BooleanType()),
    (int, scalars.BigIntType()),
    (float, scalars.DoubleType()),
    (str, scalars.VarCharType(scalars.MAX_LENGTH)),
    (bytes, scalars.VarBinaryType(scalars.MAX_LENGTH)),
    (bytearray, scalars.VarBinaryType(scalars.MAX_LENGTH)),
    (Decimal, scalars.DecimalType(38, 18)),
    (datetime.datetime, scalars.LocalZonedTimestampType()),
    (datetime.date, scalars.DateType()),
    (datetime.time, scalars.TimeType()),
)
_ARRAY_CODES = {
    "b": scalars.TinyIntType(), "h": scalars.SmallIntType(), "i": scalars.IntType(), "l": scalars.BigIntType(),
    "f": scalars.FloatType(), "d": scalars.DoubleType(), "u": scalars.CharType(1),
}  # fmt: skip


def infer_type(value: Any) -> DataType:
    """The type of a record or field, as PyFlink's from_elements infers it."""
    if value is None:
        return scalars.NullType()
    for python_type, data_type in _INFERRED:
        if isinstance(value, python_type):
            return data_type
    if isinstance(value, dict):
        for key, item in value.items():
            if key is not None and item is not None:
                return MapType(infer_type(key), infer_type(item))
        return MapType(scalars.NullType(), scalars.NullType())
    if isinstance(value, list):
        known = [infer_type(item) for item in value if item is not None]
        return ArrayType(known[0] if known else scalars.NullType())
    if isinstance(value, array.array):
        return ArrayType(_ARRAY_CODES[value.typecode])
    return infer_row(value)


def infer_row(record: Any, names: Sequence[str] | None = None) -> RowType:
    """The type of a record; fields without names are called _1, _2, .."""
    if isinstance(record, dict):
        items: Iterable[tuple[str, Any]] = sorted(record.items())
    elif isinstance(record, (Row, tuple, list)):
        own = getattr(record, "_fields", None)
        values = list(record._values) if isinstance(record, Row) else list(record)
        given = list(own or names or [])
        items = zip([*given, *(f"_{place + 1}" for place in range(len(given), len(values)))], values, strict=True)
    elif hasattr(record, "__dict__"):
        items = sorted(vars(record).items())
    else:
        raise ProgramError(f"{record!r} is no record: give rows, tuples, lists, dicts or objects.")
    return RowType([RowField(name, infer_type(value)) for name, value in items])


def infer_schema(records: Sequence[Any], names: Sequence[str] | None = None) -> RowType:
    """The common type of all records; None may stand for a value in some of them, not in all."""
    if not records:
        raise ProgramError("The types of an empty list are not known: declare the schema.")
    rows: list[DataType] = [infer_row(record, names) for record in records]
    merged = reduce(_merged, rows)
    if _has_unknown(merged):
        raise ProgramError("Some column is None in every record, so that its type is not known: declare the schema.")
    assert isinstance(merged, RowType)
    return merged


def _merged(left: DataType, right: DataType) -> DataType:
    if families.is_null(left) or families.is_null(right):
        return right if families.is_null(left) else left
    if type(left) is not type(right):
        raise ProgramError(
            f"Records disagree on a type: {left.as_summary_string()} and {right.as_summary_string()}."
            " Declare the schema."
        )
    if isinstance(left, ArrayType) and isinstance(right, ArrayType):
        return type(left)(_merged(left.element_type, right.element_type))
    if isinstance(left, MapType) and isinstance(right, MapType):
        return MapType(_merged(left.key_type, right.key_type), _merged(left.value_type, right.value_type))
    if isinstance(left, RowType) and isinstance(right, RowType):
        others = {field.name: field.data_type for field in right}
        fields = [RowField(f.name, _merged(f.data_type, others.pop(f.name, scalars.NullType()))) for f in left]
        return RowType([*fields, *(RowField(name, data_type) for name, data_type in others.items())])
    return left


def _has_unknown(data_type: DataType) -> bool:
    return families.is_null(data_type) or any(_has_unknown(child) for child in data_type.children())

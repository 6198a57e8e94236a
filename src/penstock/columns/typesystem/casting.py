"""Which type may become which: by itself (implicit), when the program asks with CAST (explicit), or never."""

from __future__ import annotations

from collections.abc import Callable

from penstock.columns.typesystem import families, scalars
from penstock.columns.typesystem.base import DataType
from penstock.columns.typesystem.decimals import as_decimal
from penstock.columns.typesystem.intervals import DayTimeIntervalType, YearMonthIntervalType
from penstock.columns.typesystem.nested import ArrayType, MapType, MultisetType, RowType

_INTEGERS = (scalars.TinyIntType, scalars.SmallIntType, scalars.IntType, scalars.BigIntType)
_FLOATS = (scalars.FloatType, scalars.DoubleType)
_NUMBERS = (*_INTEGERS, scalars.DecimalType, *_FLOATS)
_TEXTS = (scalars.CharType, scalars.VarCharType)
_BYTES = (scalars.BinaryType, scalars.VarBinaryType)
_TIMESTAMPS = (scalars.TimestampType, scalars.LocalZonedTimestampType)
_Types = tuple[type[DataType], ...]

# What becomes the key by itself, other than itself.
_IMPLICIT: dict[type[DataType], _Types] = {
    scalars.CharType: (),
    scalars.VarCharType: _TEXTS,
    scalars.BinaryType: (),
    scalars.VarBinaryType: _BYTES,
    scalars.DecimalType: _NUMBERS,
    scalars.SmallIntType: _INTEGERS[:1],
    scalars.IntType: _INTEGERS[:2],
    scalars.BigIntType: _INTEGERS[:3],
    scalars.FloatType: (*_INTEGERS, scalars.DecimalType),
    scalars.DoubleType: _NUMBERS,
    scalars.DateType: (scalars.TimestampType,),
    scalars.TimeType: (scalars.TimestampType,),
    scalars.TimestampType: _TIMESTAMPS,
    scalars.LocalZonedTimestampType: _TIMESTAMPS,
    DayTimeIntervalType: (DayTimeIntervalType,),
    YearMonthIntervalType: (YearMonthIntervalType,),
    MultisetType: (),
}

# What becomes the key only with CAST, beyond the above; texts take everything.
_EXPLICIT: dict[type[DataType], _Types] = {
    scalars.BooleanType: (*_TEXTS, *_NUMBERS),
    **dict.fromkeys(_INTEGERS, (*_NUMBERS, *_TEXTS, scalars.BooleanType)),
    **dict.fromkeys(_FLOATS, (*_NUMBERS, *_TEXTS, scalars.BooleanType)),
    scalars.DecimalType: (*_TEXTS, scalars.BooleanType),
    scalars.BinaryType: (*_TEXTS, *_BYTES, scalars.RawType),
    scalars.VarBinaryType: (*_TEXTS, scalars.RawType),
    scalars.DateType: (*_TIMESTAMPS, *_TEXTS),
    scalars.TimeType: (*_TIMESTAMPS, *_TEXTS),
    scalars.TimestampType: (scalars.DateType, scalars.TimeType, *_TEXTS),
    scalars.LocalZonedTimestampType: (scalars.DateType, scalars.TimeType, *_TEXTS),
    DayTimeIntervalType: (*_INTEGERS, *_TEXTS),
    YearMonthIntervalType: (*_INTEGERS, *_TEXTS),
}


def implicitly_castable(source: DataType, target: DataType) -> bool:
    """Whether a value becomes one of the target type without being asked to; null where there must be none does not."""
    if source.is_nullable and not target.is_nullable:
        return False
    if families.is_null(source):
        return True
    if source.same_but_nullability(target):
        return True
    if isinstance(source, _TEXTS) and isinstance(target, scalars.CharType):
        return isinstance(source, scalars.CharType)
    nested = _nested(source, target, implicitly_castable)
    if nested is not None:
        return nested
    return type(source) is type(target) or isinstance(source, _IMPLICIT.get(type(target), ()))


def explicitly_castable(source: DataType, target: DataType) -> bool:
    """Whether CAST may be asked for; the value may still turn out to be none of the target type."""
    if families.is_null(source) or source.same_but_nullability(target):
        return True
    if isinstance(target, _TEXTS):
        return not isinstance(source, scalars.DescriptorType)
    nested = _nested(source, target, explicitly_castable)
    if nested is not None:
        return nested
    if type(source) is type(target):
        return True
    if isinstance(source, scalars.VariantType):
        return isinstance(target, (*_NUMBERS, scalars.BooleanType, *_BYTES, scalars.DateType, *_TIMESTAMPS))
    allowed = _IMPLICIT.get(type(target), ()) + _EXPLICIT.get(type(target), ())
    return isinstance(source, allowed)


def _nested(source: DataType, target: DataType, check: Callable[[DataType, DataType], bool]) -> bool | None:
    """The answer for arrays, maps and rows, by what is inside; None for all others."""
    if isinstance(source, MultisetType) != isinstance(target, MultisetType):
        return False if isinstance(source, (MultisetType, ArrayType)) else None
    if isinstance(source, ArrayType) and isinstance(target, ArrayType):
        return check(source.element_type, target.element_type.nullable())
    if isinstance(source, MapType) and isinstance(target, MapType):
        keys, values = (source.key_type, target.key_type), (source.value_type, target.value_type)
        return check(keys[0], keys[1].nullable()) and check(values[0], values[1].nullable())
    if isinstance(source, RowType) and isinstance(target, RowType):
        pairs = list(zip(source.children(), target.children(), strict=False))
        same = len(source) == len(target)
        return same and all(check(inner, outer.nullable()) for inner, outer in pairs)
    return None


def cast_advice(source: DataType, target: DataType) -> str:
    """What to write instead of a cast that is refused."""
    if families.is_number(source) and families.is_timestamp(target):
        return "use TO_TIMESTAMP_LTZ(number, precision), or TO_TIMESTAMP(FROM_UNIXTIME(number))"
    if families.is_timestamp(source) and families.is_number(target):
        return "use UNIX_TIMESTAMP(CAST(timestamp AS STRING)) or EXTRACT(EPOCH FROM timestamp)"
    return "go through STRING, or compute the value with a function"


def loses_nothing(source: DataType, target: DataType) -> bool:
    """Whether every value of one type keeps its worth in the other; then comparing after the cast is right."""
    if source.same_but_nullability(target) or families.is_null(source):
        return True
    first, second = as_decimal(source), as_decimal(target)
    if first is not None and second is not None:
        return second.scale >= first.scale and second.precision - second.scale >= first.precision - first.scale
    if isinstance(source, _TEXTS) and isinstance(target, scalars.VarCharType):
        return target.length >= source.length
    return isinstance(source, (*_INTEGERS[:3], scalars.FloatType)) and isinstance(target, scalars.DoubleType)

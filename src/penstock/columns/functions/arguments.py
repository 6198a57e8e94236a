"""Rules for arguments: how many, of which kinds, and what they are cast to before the kernel sees them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from penstock.columns.functions.function import ArgumentRule, SignatureError, Site
from penstock.columns.typesystem import families, scalars
from penstock.columns.typesystem.base import DataType
from penstock.columns.typesystem.data_types import DataTypes
from penstock.columns.typesystem.merging import common_type
from penstock.columns.typesystem.nested import ArrayType, MapType, MultisetType, RowType


@dataclass(frozen=True)
class Kind:
    """A kind of argument: its name in messages, the test, and what an untyped NULL becomes."""

    name: str
    test: Callable[[DataType], bool]
    null: DataType


STRING = DataTypes.STRING()
TEXT = Kind("text", families.is_text, STRING)
NUMBER = Kind("number", families.is_number, DataTypes.DOUBLE())
INTEGER = Kind("whole number", families.is_integer, DataTypes.INT())
EXACT = Kind("exact number", families.is_exact_number, DataTypes.INT())
BOOLEAN = Kind("boolean", families.is_boolean, DataTypes.BOOLEAN())
BYTES = Kind("bytes", families.is_bytes, DataTypes.BYTES())
TEXT_OR_BYTES = Kind("text or bytes", lambda t: families.is_text(t) or families.is_bytes(t), STRING)
TEXT_OR_INTEGER = Kind("text or whole number", lambda t: families.is_text(t) or families.is_integer(t), STRING)
MOMENT = Kind("date, time or timestamp", families.is_moment, DataTypes.TIMESTAMP(3))
TIMESTAMP = Kind("timestamp", families.is_timestamp, DataTypes.TIMESTAMP(3))
MOMENT_OR_INTERVAL = Kind(
    "moment or interval", lambda t: families.is_moment(t) or families.is_interval(t), DataTypes.TIMESTAMP(3)
)
MOMENT_OR_TEXT = Kind("timestamp or text", lambda t: families.is_moment(t) or families.is_text(t), STRING)
NUMBER_OR_TEXT = Kind("number or text", lambda t: families.is_number(t) or families.is_text(t), STRING)
ARRAY = Kind("array", lambda t: isinstance(t, ArrayType) and not isinstance(t, MultisetType), DataTypes.ARRAY(STRING))
MAP = Kind("map", lambda t: isinstance(t, MapType), DataTypes.MAP(STRING, STRING))
COLLECTION = Kind("array, map or multiset", families.is_collection, DataTypes.ARRAY(STRING))
ROW = Kind("row", lambda t: isinstance(t, RowType), DataTypes.ROW())
ORDERED = Kind("value with an order", families.is_comparable, STRING)
ANY = Kind("value", lambda t: True, STRING)


def takes(*kinds: Kind, optional: int = 0, repeated: bool = False) -> ArgumentRule:
    """So many arguments of these kinds; the last `optional` may be left out, the last one may be repeated."""
    least = len(kinds) - optional

    def rule(site: Site) -> tuple[DataType, ...]:
        count = len(site.types)
        if count < least or (count > len(kinds) and not repeated):
            raise SignatureError(f"it takes {_listed(kinds, optional, repeated)}")
        found = []
        for place, data_type in enumerate(site.types):
            kind = kinds[min(place, len(kinds) - 1)]
            if families.is_null(data_type):
                found.append(kind.null)
            elif kind.test(data_type):
                found.append(data_type)
            else:
                raise SignatureError(f"it takes {_listed(kinds, optional, repeated)}")
        return tuple(found)

    return rule


def _listed(kinds: tuple[Kind, ...], optional: int, repeated: bool) -> str:
    if not kinds:
        return "no arguments"
    names = [kind.name for kind in kinds]
    required, rest = names[: len(names) - optional], names[len(names) - optional :]
    text = ", ".join(required)
    for name in rest:
        text += f"[, {name}]" if text else f"[{name}]"
    return f"({text}{', ..' if repeated else ''})"


def anything(least: int = 0, most: int | None = None) -> ArgumentRule:
    def rule(site: Site) -> tuple[DataType, ...]:
        if len(site.types) < least or (most is not None and len(site.types) > most):
            raise SignatureError(f"it takes {least} to {most} arguments" if most else f"it takes {least} or more")
        return site.types

    return rule


def shared(least: int = 1, skip: int = 0, kind: Kind = ANY) -> ArgumentRule:
    """All arguments after the first `skip` become their common type."""

    def rule(site: Site) -> tuple[DataType, ...]:
        if len(site.types) < least + skip:
            raise SignatureError(f"it takes at least {least + skip} arguments")
        target = common_type(site.types[skip:])
        if target is None or not (families.is_null(target) or kind.test(target)):
            shown = ", ".join(data_type.as_summary_string() for data_type in site.types[skip:])
            raise SignatureError(f"its arguments must have a common type ({kind.name}), but they are {shown}")
        wanted = tuple(target.with_nullability(data_type.is_nullable) for data_type in site.types[skip:])
        return (*site.types[:skip], *wanted)

    return rule


def compared(equality: bool) -> ArgumentRule:
    """Two values that can be compared: of one family, or a moment and its text."""

    def rule(site: Site) -> tuple[DataType, ...]:
        if len(site.types) != 2:
            raise SignatureError("it takes two values")
        left, right = site.types
        for one, other, back in ((left, right, False), (right, left, True)):
            if families.is_text(one) and _converts_text(other, equality):
                pair = (other.with_nullability(one.is_nullable), other)
                return (pair[1], pair[0]) if back else pair
        target = None if _never_compared(left, right) else common_type((left, right))
        nested = target is not None and not families.is_comparable(target)
        if target is None or (nested and not equality):
            raise SignatureError(_advice(left, right))
        if families.is_text(target):
            return left, right
        return target.with_nullability(left.is_nullable), target.with_nullability(right.is_nullable)

    return rule


def _converts_text(other: DataType, equality: bool) -> bool:
    """A text beside a moment is read as one; beside a number only in an ordering, as in Flink."""
    return families.is_moment(other) or (families.is_number(other) and not equality)


def _never_compared(left: DataType, right: DataType) -> bool:
    dates = isinstance(left, scalars.DateType) != isinstance(right, scalars.DateType)
    times = isinstance(left, scalars.TimeType) != isinstance(right, scalars.TimeType)
    return families.is_moment(left) and families.is_moment(right) and (dates or times)


def _advice(left: DataType, right: DataType) -> str:
    return (
        f"{left.as_summary_string()} and {right.as_summary_string()} cannot be compared:"
        " CAST one of them to the type of the other"
    )

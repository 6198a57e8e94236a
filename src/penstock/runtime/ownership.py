"""A record belongs to whoever gets it: what a function changes later does not change what it has given away.

Flink hands a record on at once, or writes it down. Here the records of a batch wait for each other, in which time a
function may change a list that it has yielded and kept, or one of two branches a record that both have got.
"""

from __future__ import annotations

import datetime
import decimal
import enum
import sys
from collections.abc import Callable, Iterator
from typing import Any

from penstock.common.time import Instant
from penstock.common.typeinfo import (
    BasicTypeInfo,
    DateTypeInfo,
    LocalTimeTypeInfo,
    SqlTimeTypeInfo,
    TimestampTypeInfo,
    TimeTypeInfo,
    TupleTypeInfo,
    TypeInformation,
)
from penstock.common.types import Row, RowKind
from penstock.runtime.pickling import dumps, loads

_CONSTANT_TYPES = (BasicTypeInfo, DateTypeInfo, TimeTypeInfo, TimestampTypeInfo, SqlTimeTypeInfo, LocalTimeTypeInfo)
_CONSTANTS = frozenset(
    {int, float, complex, str, bool, bytes, type(None), frozenset, range, decimal.Decimal, RowKind, Instant}
    | {datetime.date, datetime.datetime, datetime.time, datetime.timedelta, datetime.timezone}
)


def can_change(type_info: TypeInformation | None) -> bool:
    """Whether values of the declared type have parts that can be replaced; of undeclared ones anything is possible."""
    if isinstance(type_info, TupleTypeInfo):
        return any(map(can_change, type_info.get_field_types()))
    return not isinstance(type_info, _CONSTANT_TYPES)


def given(value: Any) -> Any:
    """What user code has just returned or yielded: the same object if nobody can change it any more, else a copy.

    To be called with a variable that holds the value: an object to which there are no other references is new.
    """
    kind = type(value)
    if kind in _CONSTANTS:
        return value
    if kind is tuple:
        return value if _CONSTANTS.issuperset(map(type, value)) else tuple(map(copied, value))
    if sys.getrefcount(value) <= _REFERENCES_TO_NEW:
        parts = _PARTS.get(kind) or _attributes_of(kind)
        if parts is not None and _CONSTANTS.issuperset(map(type, parts(value))):
            return value
    return copied(value)


def _attributes_of(kind: type) -> Callable[[Any], Any] | None:
    """For classes whose objects have nothing but a dictionary of attributes: no slots, no insides in C."""
    if kind.__basicsize__ != _PlainObject.__basicsize__ or not kind.__dictoffset__:
        return None
    return lambda value: value.__dict__.values()


class _PlainObject:
    pass


def copied(value: Any) -> Any:
    """With nothing in it that can change in common with the original; what cannot be copied is given as it is."""
    kind = type(value)
    if kind in _CONSTANTS or isinstance(value, enum.Enum):
        return value
    if isinstance(value, tuple) and _CONSTANTS.issuperset(map(type, value)):
        return value
    copy = _COPIES.get(kind)
    if copy is not None:
        return copy(value)
    try:
        return loads(dumps(value))
    except Exception:  # an open file, a lock: only inside a chain, where Flink hands on the object, too
        return value


def _copied_row(row: Row) -> Row:
    return Row._of(list(map(copied, row._values)), row._fields, row._row_kind)


_PARTS: dict[type, Callable[[Any], Any]] = {Row: lambda row: row._values, list: lambda items: items, dict: dict.values}
_COPIES: dict[type, Callable[[Any], Any]] = {
    Row: _copied_row,
    tuple: lambda items: tuple(map(copied, items)),
    list: lambda items: list(map(copied, items)),
    dict: lambda entries: {key: copied(value) for key, value in entries.items()},
    set: set,
    bytearray: bytearray,
}


def _references_to_a_new_object() -> int:
    """As given() counts them, for an object that a generator has just made."""

    def count(value: Any) -> int:
        return sys.getrefcount(value)

    def make() -> Iterator[Any]:
        yield []

    return [count(made) for made in make()][0]


# Where references are not counted nothing is taken for new.
_REFERENCES_TO_NEW = _references_to_a_new_object() if sys.implementation.name == "cpython" else -1

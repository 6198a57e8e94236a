"""Keys that Python cannot hash (lists, dicts, sets, bytearrays, data classes, and what holds them) as equal values
that it can.

The stand-ins are subclasses, so that functions which look at the key see a list, a dict or a set. State is kept under
them, so they must not be changed; PyFlink's functions get a copy with every record.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator
from typing import Any

from penstock.common.types import Row


class KeyList(list[Any]):
    """A list that is a key."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self))


class KeyDict(dict[Any, Any]):
    """A dict that is a key; as for ==, the order of entries does not matter."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))


class KeySet(set[Any]):
    """A set that is a key."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self))

    def __repr__(self) -> str:  # that of a set has the name of its class
        return repr(set(self))


class KeyBytes(bytearray):
    """A bytearray that is a key."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(bytes(self))

    def __repr__(self) -> str:
        return repr(bytearray(self))

    __str__ = __repr__


def hashable(key: Any) -> Any:
    """An equal value that can be hashed; a value of another kind as it is."""
    if isinstance(key, list):
        return KeyList(map(hashable, key))
    if isinstance(key, dict):
        return KeyDict({name: hashable(value) for name, value in key.items()})
    if isinstance(key, set):
        return KeySet(key)
    if isinstance(key, bytearray):
        return KeyBytes(key)
    if type(key) is tuple:
        return tuple(map(hashable, key))
    if isinstance(key, tuple):
        return _named_tuple(key)
    if isinstance(key, Row):
        return Row._of(list(map(hashable, key._values)), key._fields, key._row_kind)
    if type(key).__hash__ is None and dataclasses.is_dataclass(key):
        kind: Any = type(key)
        return _in_class(key, _key_class(kind))
    return key


@functools.cache
def _key_class(kind: Any) -> Any:
    """A subclass of a data class whose objects may be keys; it has the name of the original, for who prints them."""

    def parts(key: Any) -> tuple[Any, ...]:
        return tuple(hashable(getattr(key, field.name)) for field in dataclasses.fields(key) if field.compare)

    members = {
        "__slots__": (),
        "__qualname__": kind.__qualname__,
        "__module__": kind.__module__,
        "__hash__": lambda key: hash(parts(key)),
        "__eq__": lambda key, other: isinstance(other, kind) and parts(key) == parts(other),
        "__reduce__": lambda key: (hashable, (_in_class(key, kind),)),
    }
    return type(kind.__name__, (kind,), members)


def _in_class(key: Any, kind: Any) -> Any:
    """The same values in an object of another class; not copy.copy(), which would ask __reduce__."""
    made = object.__new__(kind)
    for field in dataclasses.fields(key):
        object.__setattr__(made, field.name, getattr(key, field.name))
    return made


def _named_tuple(key: tuple[Any, ...]) -> tuple[Any, ...]:
    parts: Iterator[Any] = map(hashable, key)
    make = getattr(type(key), "_make", type(key))
    return make(parts)

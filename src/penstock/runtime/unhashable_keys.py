"""Keys that Python cannot hash, or not the same way in every process (lists, dicts, sets, bytearrays, objects of the
program's own classes, and what holds them) as equal values that it can.

The stand-ins are subclasses, so that functions which look at the key see a list, a dict or a set. State is kept under
them, so they must not be changed; PyFlink's functions get a copy with every record.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator
from typing import Any

from penstock.common.types import Row
from penstock.runtime.keys import stable_hash

_WRITTEN_IN_PYTHON = 1 << 9  # Py_TPFLAGS_HEAPTYPE


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
    return _stand_in(key) if _is_of_own_class(key) and not _can_be_a_key(key) else key


def _is_of_own_class(key: Any) -> bool:
    """Of a class written in Python that says nothing about how its objects are made."""
    kind: Any = type(key)
    plain = kind.__reduce__ is object.__reduce__ and kind.__reduce_ex__ is object.__reduce_ex__
    return bool(kind.__flags__ & _WRITTEN_IN_PYTHON) and plain and not hasattr(kind, "__getnewargs__")


def _can_be_a_key(key: Any) -> bool:
    try:
        hash(key)
        stable_hash(key)
    except TypeError:
        return False
    return True


def _stand_in(key: Any) -> Any:
    kind: Any = type(key)
    return _with_state(_key_class(kind), key.__getstate__())


@functools.cache
def _key_class(kind: Any) -> Any:
    """A subclass whose objects may be keys; it has the name of the original, for who prints them.

    Keys are equal when what they hold is, as PyFlink compares pickles: an `__eq__` of the program's own comes without
    a hash that is the same in every process. Only a data class tells which of its fields are compared.
    """

    def parts(key: Any) -> tuple[Any, ...]:
        if dataclasses.is_dataclass(key):
            return tuple(hashable(getattr(key, field.name)) for field in dataclasses.fields(key) if field.compare)
        return kind.__qualname__, hashable(key.__getstate__())

    def original(key: Any) -> Any:
        return _with_state(kind, key.__getstate__())

    def equal(key: Any, other: Any) -> Any:
        return parts(key) == parts(other) if type(other) is type(key) else kind.__eq__(original(key), other)

    members = {
        "__slots__": (),
        "__qualname__": kind.__qualname__,
        "__module__": kind.__module__,
        "__hash__": lambda key: hash(parts(key)),
        "__eq__": equal,
        "__reduce__": lambda key: (hashable, (original(key),)),
        "_key_parts": parts,
    }
    return type(kind.__name__, (kind,), members)


def _with_state(kind: Any, state: Any) -> Any:
    """An object as unpickling would make it; not copy.copy(), which would ask __reduce__."""
    made = kind.__new__(kind)
    if hasattr(kind, "__setstate__"):
        made.__setstate__(state)
        return made
    in_dict, in_slots = state if isinstance(state, tuple) else (state, None)
    for name, value in {**(in_dict or {}), **(in_slots or {})}.items():
        object.__setattr__(made, name, value)
    return made


def _named_tuple(key: tuple[Any, ...]) -> tuple[Any, ...]:
    parts: Iterator[Any] = map(hashable, key)
    make = getattr(type(key), "_make", type(key))
    return make(parts)

"""Keys that Python cannot hash (lists, dicts, sets, bytearrays, and what holds them) as equal values that it can.

The stand-ins are subclasses, so that functions which look at the key see a list, a dict or a set. State is kept under
them, so they must not be changed; PyFlink's functions get a copy with every record.
"""

from __future__ import annotations

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


class KeyBytes(bytearray):
    """A bytearray that is a key."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(bytes(self))


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
    return key


def _named_tuple(key: tuple[Any, ...]) -> tuple[Any, ...]:
    parts: Iterator[Any] = map(hashable, key)
    make = getattr(type(key), "_make", type(key))
    return make(parts)

"""Keys: one stable rule for equality and for the subtask that owns a key.

Keys are compared with Python's == and hash(); the hash that picks the owner agrees with that equality (1, 1.0 and
True are one key) and is the same in every process and on every day, which Python's own hash() of text is not.
"""

from __future__ import annotations

import dataclasses
import datetime
import enum
import math
import numbers
import uuid
import zlib
from collections.abc import Callable
from typing import Any

from penstock.common.time import Instant
from penstock.common.types import Row

_MASK = (1 << 64) - 1
_REMEMBERED_KEYS = 1 << 20


class UnstableKeyError(TypeError):
    """The key has no hash that is the same in every process."""


def stable_hash(key: Any) -> int:
    """A 64-bit hash that depends on nothing but the key's value."""
    hasher = _HASHERS.get(type(key))
    if hasher is not None:
        return hasher(key)
    return _hash_uncommon(key)


def _mix(number: int) -> int:
    number &= _MASK
    number = ((number ^ (number >> 33)) * 0xFF51AFD7ED558CCD) & _MASK
    number = ((number ^ (number >> 33)) * 0xC4CEB9FE1A85EC53) & _MASK
    return number ^ (number >> 33)


def _hash_number(key: Any) -> int:
    # Python's numeric hash is not randomised and equal numbers of different types share it.
    if key != key:
        raise UnstableKeyError("NaN is not equal to itself, so it cannot be a key")
    return _mix(hash(key))


def _hash_bytes(key: bytes) -> int:
    return _mix(zlib.crc32(key) | (len(key) << 32))


def _hash_text(key: str) -> int:
    return _hash_bytes(key.encode("utf-8", "surrogatepass"))


def _hash_sequence(key: Any) -> int:
    result = len(key)
    for item in key:
        result = _mix(result * 31 + stable_hash(item))
    return result


def _hash_datetime(key: datetime.datetime) -> int:
    # Aware datetimes are equal when they are the same instant, so the hash must not see the zone.
    if key.tzinfo is not None:
        return _hash_number(key.timestamp())
    return _hash_text(key.isoformat())


_HASHERS: dict[type, Callable[[Any], int]] = {
    int: _hash_number,
    str: _hash_text,
    tuple: _hash_sequence,
    float: _hash_number,
    bool: _hash_number,
    bytes: _hash_bytes,
    type(None): lambda _key: 0x9E3779B97F4A7C15,
    Row: lambda row: _hash_sequence(tuple(row)),
    datetime.datetime: _hash_datetime,
    Instant: lambda moment: _hash_sequence((moment.seconds, moment.nanos)),
}


def _hash_uncommon(key: Any) -> int:
    # Members of IntEnum and StrEnum are equal to their values, so enums come after these.
    if isinstance(key, numbers.Number):
        if isinstance(key, float) and math.isnan(key):
            raise UnstableKeyError("NaN is not equal to itself, so it cannot be a key")
        return _hash_number(key)
    if isinstance(key, (str, bytes, tuple)):
        return next(_HASHERS[base](key) for base in (str, bytes, tuple) if isinstance(key, base))
    if isinstance(key, (list, dict, bytearray)):  # as stand-ins, see unhashable_keys.py
        return _hash_container(key)
    if isinstance(key, enum.Enum):
        return _hash_text(f"{type(key).__qualname__}.{key.name}")
    if isinstance(key, datetime.datetime):
        return _hash_datetime(key)
    if isinstance(key, (datetime.date, datetime.time)):
        return _hash_text(key.isoformat())
    if isinstance(key, datetime.timedelta):
        return _hash_number(key.total_seconds())
    if isinstance(key, uuid.UUID):
        return _mix(key.int)
    if isinstance(key, (frozenset, set)):
        return _mix(sum(stable_hash(item) for item in key))
    if hasattr(type(key), "_key_parts"):  # a stand-in too
        return _hash_sequence(key._key_parts())
    if dataclasses.is_dataclass(key) and type(key).__hash__ is not None and type(key).__eq__ is not object.__eq__:
        return _hash_sequence(tuple(getattr(key, field.name) for field in dataclasses.fields(key) if field.compare))
    raise UnstableKeyError(
        f"a key of type {type(key).__qualname__!r} has no hash that is the same in every process; "
        "use numbers, text, bytes, dates, tuples or Rows of these, enum members or frozen dataclasses"
    )


def _hash_container(key: Any) -> int:
    if isinstance(key, dict):
        return _mix(sum(_hash_sequence(entry) for entry in key.items()))
    return _hash_bytes(bytes(key)) if isinstance(key, bytearray) else _hash_sequence(key)


def key_group_of(key: Any, max_parallelism: int) -> int:
    return stable_hash(key) % max_parallelism


def owner_of_key_group(key_group: int, parallelism: int, max_parallelism: int) -> int:
    """The subtask that owns a key group: contiguous ranges, as in Flink."""
    return key_group * parallelism // max_parallelism


class KeyOwners(dict[Any, int]):
    """Key -> owning subtask; remembers keys because most streams repeat theirs and a look-up runs at C speed."""

    def __init__(self, parallelism: int, max_parallelism: int) -> None:
        super().__init__()
        self._parallelism = parallelism
        self._max_parallelism = max_parallelism

    def __missing__(self, key: Any) -> int:
        group = key_group_of(key, self._max_parallelism)
        owner = owner_of_key_group(group, self._parallelism, self._max_parallelism)
        if len(self) >= _REMEMBERED_KEYS:
            self.clear()
        self[key] = owner
        return owner


class DeclaredKeys(dict[Any, Any]):
    """Key as the selector gave it -> key as its declared type wants it, remembered like the owners."""

    def __init__(self, coerce: Callable[[Any], Any]) -> None:
        super().__init__()
        self._coerce = coerce

    def __missing__(self, key: Any) -> Any:
        declared = self._coerce(key)
        if len(self) >= _REMEMBERED_KEYS:
            self.clear()
        self[key] = declared
        return declared

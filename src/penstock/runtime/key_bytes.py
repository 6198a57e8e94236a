"""Keys as bytes for stores that know nothing else: equal keys, and only those, have equal bytes.

Pickling will not do: 1, 1.0 and True are one key (see keys.py) and have three pickles.
"""

from __future__ import annotations

import dataclasses
import datetime
import enum
import numbers
import struct
import uuid
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

from penstock.common.types import Row
from penstock.runtime.keys import UnstableKeyError

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_MICROSECOND = datetime.timedelta(microseconds=1)


def key_bytes(key: Any) -> bytes:
    """The first byte tells kinds apart that are never equal to each other."""
    encoder = _ENCODERS.get(type(key))
    return _uncommon(key) if encoder is None else encoder(key)


def _integer(key: int) -> bytes:
    return b"i%d" % key


def _float(key: float) -> bytes:
    if key != key:
        raise UnstableKeyError("NaN is not equal to itself, so it cannot be a key")
    return _integer(int(key)) if key.is_integer() else b"f" + struct.pack(">d", key)


def _text(key: str) -> bytes:
    return b"s" + key.encode("utf-8", "surrogatepass")


def _sequence(items: Iterable[Any]) -> bytes:
    return b"t" + _sequence_of_parts(key_bytes(item) for item in items)


def _sequence_of_parts(parts: Iterable[bytes]) -> bytes:
    return b"".join(b"%d:%b" % (len(part), part) for part in parts)


def _datetime(key: datetime.datetime) -> bytes:
    if key.tzinfo is None:
        return b"l" + key.isoformat().encode()
    return b"d%d" % ((key - _EPOCH) // _MICROSECOND)


def _row(key: Row) -> bytes:
    # Rows with names are equal whatever the order of their fields.
    names = key._fields
    items = key._values if names is None else sorted(zip(names, key._values, strict=True), key=lambda pair: pair[0])
    return b"r%b" % key.get_row_kind().name.encode() + (b"" if names is None else b"*") + _sequence(items)


_ENCODERS: dict[type, Callable[[Any], bytes]] = {
    int: _integer,
    str: _text,
    tuple: _sequence,
    float: _float,
    bool: _integer,
    bytes: lambda key: b"b" + key,
    type(None): lambda _key: b"n",
    Row: _row,
    datetime.datetime: _datetime,
}


def _uncommon(key: Any) -> bytes:
    if isinstance(key, numbers.Number):
        return _number(key)
    for base in (str, bytes, tuple):
        if isinstance(key, base):
            return _ENCODERS[base](key)
    if isinstance(key, enum.Enum):
        return b"e" + _text(f"{type(key).__qualname__}.{key.name}")
    if isinstance(key, datetime.datetime):
        return _datetime(key)
    if isinstance(key, (datetime.date, datetime.time)):
        return type(key).__name__.encode() + key.isoformat().encode()
    if isinstance(key, datetime.timedelta):
        return b"p%d" % (key // _MICROSECOND)
    if isinstance(key, uuid.UUID):
        return b"u" + key.bytes
    if isinstance(key, (frozenset, set)):
        return b"z" + _sequence_of_parts(sorted(map(key_bytes, key)))
    if isinstance(key, dict):
        return b"m" + _sequence_of_parts(sorted(map(_sequence, key.items())))
    if isinstance(key, list):
        return b"[" + _sequence(key)
    if isinstance(key, bytearray):
        return b"b" + bytes(key)
    if hasattr(type(key), "_key_parts"):  # a stand-in of unhashable_keys.py
        return b"c" + _sequence(key._key_parts())
    if dataclasses.is_dataclass(key):
        return b"c" + _sequence(getattr(key, field.name) for field in dataclasses.fields(key) if field.compare)
    raise UnstableKeyError(f"a key of type {type(key).__qualname__!r} has no bytes of its own")


def _number(key: Any) -> bytes:
    """Decimals, fractions, numbers of NumPy and members of IntEnum are equal to plain numbers of the same value."""
    if isinstance(key, numbers.Complex) and not isinstance(key, numbers.Real):
        if key.imag:
            return b"x" + _float(float(key.real)) + b"," + _float(float(key.imag))
        key = key.real
    if key != key:
        raise UnstableKeyError("NaN is not equal to itself, so it cannot be a key")
    if isinstance(key, float) or key in (float("inf"), float("-inf")):
        return _float(float(key))
    exact = Fraction(*key.as_integer_ratio()) if hasattr(key, "as_integer_ratio") else Fraction(int(key))
    if exact.denominator == 1:
        return _integer(exact.numerator)
    return _float(float(exact)) if Fraction(float(exact)) == exact else b"q%d/%d" % exact.as_integer_ratio()

"""The subtasks that own many integer keys at once: the rule of `keys`, computed by NumPy instead of key by key."""

from __future__ import annotations

import array
from typing import Any

import numpy as np
import numpy.typing as npt

from penstock.common.typeinfo import BasicType, BasicTypeInfo

_HASH_MODULUS = (1 << 61) - 1  # below it Python's hash of an integer is the integer
_DECLARED_BITS = {BasicType.BYTE: 8, BasicType.SHORT: 16, BasicType.INT: 32, BasicType.LONG: 64}


def largest_integer_key(key_type: Any) -> int | None:
    """Up to which absolute value integers are keys as they are; None when keys of this type are no integers."""
    if key_type is None:
        return _HASH_MODULUS - 1
    if isinstance(key_type, BasicTypeInfo) and key_type.basic_type in _DECLARED_BITS:
        return min(_HASH_MODULUS, 1 << (_DECLARED_BITS[key_type.basic_type] - 1)) - 1
    return None


def owners_of_integers(
    keys: list[Any], largest: int, parallelism: int, max_parallelism: int
) -> npt.NDArray[np.int64] | None:
    """The owner of each key; None when some key is not an int, or a larger one than `largest`."""
    if not keys or set(map(type, keys)) != {int}:
        return None
    try:
        numbers = np.frombuffer(array.array("q", keys), np.int64)
    except OverflowError:
        return None
    if int(numbers.max()) > largest or int(numbers.min()) < -largest:
        return None
    mixed = np.where(numbers == -1, -2, numbers).view(np.uint64)  # Python's hash(-1) is -2
    shift = np.uint64(33)
    mixed = (mixed ^ (mixed >> shift)) * np.uint64(0xFF51AFD7ED558CCD)
    mixed = (mixed ^ (mixed >> shift)) * np.uint64(0xC4CEB9FE1A85EC53)
    mixed ^= mixed >> shift
    groups = (mixed % np.uint64(max_parallelism)).astype(np.int64)
    return groups * parallelism // max_parallelism

"""Sets of 32-bit integers. A value is the bytes of the portable form of Roaring bitmaps, of which a set has one."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from penstock.columns.kernels.failure import ValueFailure

Members = npt.NDArray[np.uint32]

_PLAIN, _WITH_RUNS = 12346, 12347
_ARRAY_MOST = 4096  # members of a container that are listed; of more there are bits
_NO_OFFSETS_BELOW = 4


def packed(members: Any) -> bytes:
    """The form of a set: for each upper half the lower halves, as a list or as bits."""
    values = np.unique(np.asarray(members, np.int64).astype(np.uint32))
    highs, starts, counts = np.unique(values >> 16, return_index=True, return_counts=True)
    head = [struct.pack("<II", _PLAIN, len(highs))]
    bodies = []
    for high, start, count in zip(highs.tolist(), starts.tolist(), counts.tolist(), strict=True):
        head.append(struct.pack("<HH", high, count - 1))
        lows = (values[start : start + count] & 0xFFFF).astype("<u2")
        if count > _ARRAY_MOST:
            bits = np.zeros(1 << 16, np.uint8)
            bits[lows] = 1
            bodies.append(np.packbits(bits, bitorder="little").tobytes())
        else:
            bodies.append(lows.tobytes())
    offset = 8 + 8 * len(highs)
    for body in bodies:
        head.append(struct.pack("<I", offset))
        offset += len(body)
    return b"".join([*head, *bodies])


def members_of(data: bytes) -> Members:
    """The members in the order of unsigned numbers; also of forms that others wrote with runs."""
    try:
        return _members(data)
    except (struct.error, ValueError, IndexError):
        raise ValueFailure("These bytes are no bitmap in the portable form of Roaring bitmaps.") from None


def _members(data: bytes) -> Members:
    (cookie,) = struct.unpack_from("<I", data)
    position = 4
    runs = np.zeros(0, np.uint8)
    if cookie & 0xFFFF == _WITH_RUNS:
        count = (cookie >> 16) + 1
        length = (count + 7) // 8
        runs = np.unpackbits(np.frombuffer(data, np.uint8, length, position), bitorder="little")
        position += length
    elif cookie == _PLAIN:
        (count,) = struct.unpack_from("<I", data, position)
        position += 4
    else:
        raise ValueError
    heads = np.frombuffer(data, "<u2", 2 * count, position).astype(np.uint32).reshape(count, 2)
    position += 4 * count
    if cookie == _PLAIN or count >= _NO_OFFSETS_BELOW:
        position += 4 * count
    parts = []
    for place, (high, fewer) in enumerate(heads.tolist()):
        lows, position = _container(data, position, fewer + 1, bool(len(runs) and runs[place]))
        parts.append(lows.astype(np.uint32) | np.uint32(high << 16))
    return np.concatenate(parts) if parts else np.zeros(0, np.uint32)


def _container(data: bytes, position: int, count: int, by_runs: bool) -> tuple[npt.NDArray[Any], int]:
    if by_runs:
        (number,) = struct.unpack_from("<H", data, position)
        pairs = np.frombuffer(data, "<u2", 2 * number, position + 2).astype(np.uint32).reshape(number, 2)
        lows = [np.arange(start, start + more + 1) for start, more in pairs.tolist()]
        return np.concatenate(lows) if lows else np.zeros(0, np.uint32), position + 2 + 4 * number
    if count > _ARRAY_MOST:
        bits = np.unpackbits(np.frombuffer(data, np.uint8, 8192, position), bitorder="little")
        return np.flatnonzero(bits), position + 8192
    return np.frombuffer(data, "<u2", count, position), position + 2 * count


# -- functions -----------------------------------------------------------------------------------------------------


def built(items: list[int | None]) -> bytes:
    return packed([item for item in items if item is not None])


def from_bytes(data: bytes) -> bytes:
    return packed(members_of(data))


def to_bytes(bitmap: bytes) -> bytes:
    return bitmap


def to_array(bitmap: bytes) -> list[int]:
    found: list[int] = members_of(bitmap).view(np.int32).tolist()
    return found


def to_text(bitmap: bytes) -> str:
    return f"{{{','.join(map(str, members_of(bitmap).tolist()))}}}"


def cardinality(bitmap: bytes) -> int:
    return len(members_of(bitmap))


def _of_both(combine: Callable[[Members, Members], Any]) -> Callable[[bytes, bytes], bytes]:
    def function(one: bytes, other: bytes) -> bytes:
        return packed(combine(members_of(one), members_of(other)))

    return function


both = _of_both(np.intersect1d)
either = _of_both(np.union1d)
one_of = _of_both(np.setxor1d)
without = _of_both(np.setdiff1d)

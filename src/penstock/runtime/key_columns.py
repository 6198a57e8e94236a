"""Keys as columns: hashed, numbered and sent many at a time, with the same owners as one by one (see `keys`).

A column holds keys that are all int within 64 bits, all str, or all tuples of these; keys of other types, and mixed
ones such as 1 and 1.0, stay lists. Keys of table rows may be null.
"""

from __future__ import annotations

import zlib
from array import array
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from penstock.common.typeinfo import BasicType, BasicTypeInfo
from penstock.runtime.keys import stable_hash

Integers = npt.NDArray[np.int64]
Booleans = npt.NDArray[np.bool_]
Hashes = npt.NDArray[np.uint64]

_HASH_MODULUS = (1 << 61) - 1  # of Python's hash of an integer
_DECLARED_BITS = {BasicType.BYTE: 8, BasicType.SHORT: 16, BasicType.INT: 32, BasicType.LONG: 64}
_FEW = 64  # texts are hashed one by one below this, and when they have more bytes


def column_of_keys(keys: list[Any], only: type | None = None) -> pa.Array | None:
    """A column that gives back exactly these keys; None when there is none, or they are not `only` of this type."""
    kinds = set(map(type, keys))
    if only is not None and kinds != {only}:
        return None
    if len(kinds) != 1:
        return None
    [kind] = kinds
    try:
        if kind is int:
            return integers_as_column(np.frombuffer(array("q", keys), np.int64))
        if kind is str:
            return pa.array(keys, pa.string())
    except (pa.ArrowException, OverflowError, UnicodeError):
        return None
    return _column_of_tuples(keys) if kind is tuple and len(set(map(len, keys))) == 1 else None


def integers_as_column(numbers: Integers) -> pa.Array:
    """As pa.array() makes it, but quicker, and without loading pandas first."""
    return pa.Array.from_buffers(pa.int64(), len(numbers), [None, pa.py_buffer(np.ascontiguousarray(numbers))])


def _column_of_tuples(keys: list[tuple[Any, ...]]) -> pa.Array | None:
    fields = [
        None if set(map(type, part)) == {tuple} else column_of_keys(list(part)) for part in zip(*keys, strict=True)
    ]
    return tuple_column(fields) if fields else None


def tuple_column(fields: list[pa.Array | None]) -> pa.Array | None:
    """The column of tuples with these fields; None when some field has no column."""
    if any(field is None for field in fields):
        return None
    return pa.StructArray.from_arrays(fields, [f"f{position}" for position in range(len(fields))])


def key_column_from(column: pa.Array | None) -> pa.Array | None:
    """The column of a field in the form that keys have; None when some value in it is no key for a column."""
    if column is None or column.null_count:
        return None
    if pa.types.is_integer(column.type):
        return column.cast(pa.int64())
    return column if pa.types.is_string(column.type) else None


def keys_of_column(column: pa.Array) -> list[Any]:
    if pa.types.is_struct(column.type):
        return list(zip(*(keys_of_column(field) for field in column.flatten()), strict=True))
    return list(column.to_pylist() if column.null_count else column.to_numpy(zero_copy_only=False).tolist())


# -- owners ------------------------------------------------------------------------------------------------------------


def owners_of(column: pa.Array, parallelism: int, max_parallelism: int) -> Integers:
    """The subtask that owns each key."""
    groups = (hashes_of(column) % np.uint64(max_parallelism)).astype(np.int64)
    return groups * parallelism // max_parallelism


def hashes_of(column: pa.Array) -> Hashes:
    """`stable_hash` of each key."""
    if pa.types.is_struct(column.type):
        fields = column.flatten()
        hashes = np.full(len(column), len(fields), np.uint64)
        for field in fields:
            hashes = _mix(hashes * np.uint64(31) + hashes_of(field))
        return hashes
    if column.null_count:
        present = column.is_valid().to_numpy(zero_copy_only=False)
        hashes = np.full(len(column), stable_hash(None), np.uint64)
        hashes[present] = hashes_of(column.drop_null())
        return hashes
    if pa.types.is_string(column.type):
        different = column.dictionary_encode()
        codes: npt.NDArray[np.int32] = different.indices.to_numpy()
        return _hashes_of_texts(different.dictionary)[codes]
    return _hashes_of_integers(column.to_numpy())


def _hashes_of_integers(numbers: Integers) -> Hashes:
    # Python's own hash: the sign, and the size modulo a prime; but never -1.
    sizes = (np.abs(numbers).view(np.uint64) % np.uint64(_HASH_MODULUS)).view(np.int64)
    hashes = np.where(numbers < 0, -sizes, sizes)
    return _mix(np.where(hashes == -1, -2, hashes).view(np.uint64))


def _mix(hashes: Hashes) -> Hashes:
    shift = np.uint64(33)
    hashes = (hashes ^ (hashes >> shift)) * np.uint64(0xFF51AFD7ED558CCD)
    hashes = (hashes ^ (hashes >> shift)) * np.uint64(0xC4CEB9FE1A85EC53)
    return hashes ^ (hashes >> shift)


def _hashes_of_texts(texts: pa.Array) -> Hashes:
    if len(texts) < _FEW:
        return np.array([stable_hash(text) for text in texts.to_pylist()], np.uint64)
    _, offsets, content = texts.buffers()
    ends = np.frombuffer(offsets, np.int32)[texts.offset : texts.offset + len(texts) + 1].astype(np.int64)
    lengths = np.diff(ends)
    data = np.frombuffer(content, np.uint8) if content is not None and content.size else np.zeros(1, np.uint8)
    checks = _checksums(data, ends[:-1], lengths).astype(np.uint64)
    return _mix(checks | (lengths.astype(np.uint64) << np.uint64(32)))


def _checksums(data: npt.NDArray[np.uint8], starts: Integers, lengths: Integers) -> npt.NDArray[np.uint32]:
    """zlib.crc32 of many pieces of the data: a byte of all of them at a time, the longest first."""
    order = np.argsort(-lengths, kind="stable")
    long = int(np.count_nonzero(lengths > _FEW))
    places, by_length = starts[order[long:]], lengths[order[long:]]
    checks = np.full(len(places), 0xFFFFFFFF, np.uint32)
    for position in range(int(by_length[0]) if len(by_length) else 0):
        active = int(np.searchsorted(-by_length, -position, side="left"))  # those with more bytes than that
        part = checks[:active]
        checks[:active] = _CHECK_TABLE[(part ^ data[places[:active] + position]) & 0xFF] ^ (part >> np.uint32(8))
    result = np.empty(len(starts), np.uint32)
    result[order[long:]] = checks ^ np.uint32(0xFFFFFFFF)
    for place in order[:long].tolist():
        result[place] = zlib.crc32(data[starts[place] : starts[place] + lengths[place]].tobytes())
    return result


def _check_table() -> npt.NDArray[np.uint32]:
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = np.where(table & 1, (table >> np.uint32(1)) ^ np.uint32(0xEDB88320), table >> np.uint32(1))
    return table


_CHECK_TABLE = _check_table()


# -- lists of integers -------------------------------------------------------------------------------------------------


def largest_integer_key(key_type: Any) -> int | None:
    """Up to which absolute value integers are keys as they are; None when keys of this type are no integers."""
    bits = 64 if key_type is None else None
    if isinstance(key_type, BasicTypeInfo):
        bits = _DECLARED_BITS.get(key_type.basic_type)
    return None if bits is None else (1 << (bits - 1)) - 1


def integer_column(keys: list[Any], largest: int) -> pa.Array | None:
    """A column of these keys; None when some key is not an int, or a larger one than `largest`."""
    column = column_of_keys(keys, only=int)
    if column is None:
        return None
    numbers = column.to_numpy()
    return column if int(numbers.max()) <= largest and int(numbers.min()) >= -largest else None


# -- numbers -----------------------------------------------------------------------------------------------------------


class NumberedKeys(NamedTuple):
    """Keys numbered in the order in which they first appear: the number of each record's key, and the keys."""

    codes: npt.NDArray[np.int32]
    distinct: pa.Array


def numbered(column: pa.Array) -> NumberedKeys:
    if not pa.types.is_struct(column.type):
        encoded = column.dictionary_encode(null_encoding="encode")
        return NumberedKeys(encoded.indices.to_numpy(), encoded.dictionary)
    codes = np.zeros(len(column), np.int32)
    for field in column.flatten():
        of_field = numbered(field)
        pairs = codes.astype(np.int64) * len(of_field.distinct) + of_field.codes
        codes = numbered(pa.array(pairs)).codes
    return NumberedKeys(codes, column.take(pa.array(first_positions(codes))))


def first_positions(codes: npt.NDArray[np.int32] | Integers) -> Integers:
    """Where each number appears first."""
    first = np.empty(int(codes.max(initial=-1)) + 1, np.int64)
    # Of several assignments to one place the last one stays, so the first records go last.
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    return first

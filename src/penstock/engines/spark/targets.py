"""Integers that Spark's hash partitioning sends to a chosen partition, so that each task owns exactly one subtask."""

from __future__ import annotations

import functools

_MASK = 0xFFFFFFFF
_SPARK_SEED = 42


@functools.cache
def targets(partitions: int) -> tuple[int, ...]:
    """For each partition the smallest integer that Spark places there."""
    found: dict[int, int] = {}
    candidate = 0
    while len(found) < partitions:
        found.setdefault(_murmur3(candidate) % partitions, candidate)
        candidate += 1
    return tuple(found[partition] for partition in range(partitions))


def _murmur3(number: int) -> int:
    """Spark's `hash(int)`: Murmur3, 32 bit, of four bytes, as a signed integer."""
    k = (number * 0xCC9E2D51) & _MASK
    k = (_rotl(k, 15) * 0x1B873593) & _MASK
    h = (_rotl(_SPARK_SEED ^ k, 13) * 5 + 0xE6546B64) & _MASK
    h ^= 4
    h = ((h ^ (h >> 16)) * 0x85EBCA6B) & _MASK
    h = ((h ^ (h >> 13)) * 0xC2B2AE35) & _MASK
    h ^= h >> 16
    return h - (1 << 32) if h >> 31 else h


def _rotl(number: int, bits: int) -> int:
    return ((number << bits) | (number >> (32 - bits))) & _MASK

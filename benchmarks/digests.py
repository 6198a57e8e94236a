"""A digest of a multiset of lines: equal when the same lines are there equally often, in whatever order and files."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd

_LINES_AT_ONCE = 500_000
Hashes = np.ndarray[tuple[int], np.dtype[np.uint64]]


@dataclass(frozen=True)
class Digest:
    lines: int = 0
    total: int = 0

    def __add__(self, other: Digest) -> Digest:
        return Digest(self.lines + other.lines, (self.total + other.total) % 2**64)

    def text(self) -> str:
        return f"{self.lines}:{self.total:016x}"


def digest_of_lines(lines: Iterable[str]) -> Digest:
    found, waiting = Digest(), []
    for line in lines:
        waiting.append(line)
        if len(waiting) == _LINES_AT_ONCE:
            found, waiting = found + _digest_of_list(waiting), []
    return found + _digest_of_list(waiting)


def _digest_of_list(lines: list[str]) -> Digest:
    if not lines:
        return Digest()
    return Digest(len(lines), int(hashes_of_lines(lines).sum(dtype=np.uint64)))


def hashes_of_lines(lines: list[str]) -> Hashes:
    return pd.util.hash_array(np.array(lines, dtype=object), categorize=False)


def is_part_of(some: Hashes, all_sorted: Hashes) -> bool:
    """Whether a multiset of hashes is contained in another one."""
    values, counts = np.unique(some, return_counts=True)
    there = np.searchsorted(all_sorted, values, "right") - np.searchsorted(all_sorted, values, "left")
    return bool((counts <= there).all())


def result_digest(case: str, lines: Iterable[str]) -> Digest:
    return digest_of_lines(last_of_each(lines) if case == "three_hops" else lines)


def last_of_each(lines: Iterable[str]) -> list[str]:
    """Of a running "key,count,total" the line with each key's highest count: those before it depend on the order."""
    last: dict[str, tuple[int, str]] = {}
    for line in lines:
        key, count, _ = line.split(",")
        last[key] = max(last.get(key, (0, "")), (int(count), line))
    return [line for _, line in last.values()]

"""Intervals of keys, and which of them touch: sessions of whole batches."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from penstock.runtime.key_columns import Integers


class Intervals(NamedTuple):
    """By a number of the key, and both ends."""

    keys: Integers
    starts: Integers
    ends: Integers

    def joined(self) -> tuple[Integers, Intervals]:
        """For each interval the number of the one that it is part of, when those that touch are one; and these."""
        count = len(self.keys)
        order = np.lexsort((self.starts, self.keys))
        keys, starts, ends = self.keys[order], self.starts[order], self.ends[order]
        by_end = np.argsort(ends, kind="stable")
        rank = np.empty(count, np.int64)
        rank[by_end] = np.arange(count)
        reach = ends[by_end][np.maximum.accumulate(keys * count + rank) % count]  # how far those of the key have come
        first = np.r_[True, (keys[1:] != keys[:-1]) | (starts[1:] > reach[:-1])]
        numbers = np.empty(count, np.int64)
        numbers[order] = np.cumsum(first) - 1
        last = np.r_[first[1:], True]
        return numbers, Intervals(keys[first], starts[first], reach[last])

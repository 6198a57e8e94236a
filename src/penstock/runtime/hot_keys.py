"""The keys that come most often, from a sample of the records and in bounded memory."""

from __future__ import annotations

from collections import Counter
from heapq import nlargest
from typing import Any

from penstock.runtime.batch import Batch

_STRIDE = 17  # every 17th record; a prime, so that inputs with a rhythm of their own are met everywhere
_OF_A_BATCH = 128  # about so many are enough of one; those of large batches are further apart
_KEPT = 64
_SHOWN = 10
_LONGEST_TEXT = 80


class HotKeys:
    """A Misra-Gries summary: a key of which more than 1/65 of the sample consists is in it for certain.

    What is subtracted to make room is at most the error of each count, and always the same for all.
    """

    def __init__(self) -> None:
        self._counts: Counter[Any] = Counter()
        self._phase = 0
        self.sampled = 0

    def look_at(self, batch: Batch) -> None:
        count, start = len(batch), self._phase
        if start >= count:
            self._phase = start - count
            return
        stride = max(_STRIDE, count // _OF_A_BATCH | 1)
        self._phase = (start - count) % stride
        keys = batch.some_keys(start, stride)
        self.sampled += len(keys)
        counts = self._counts
        counts.update(keys)
        if len(counts) > _KEPT:
            removed = nlargest(_KEPT + 1, counts.values())[-1]
            self._counts = Counter({key: seen - removed for key, seen in counts.items() if seen > removed})

    def hottest(self) -> tuple[tuple[str, int], ...]:
        return tuple((repr(key)[:_LONGEST_TEXT], seen) for key, seen in self._counts.most_common(_SHOWN))

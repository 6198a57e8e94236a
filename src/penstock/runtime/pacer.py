"""Cuts batches so that the clock is looked at often enough, however slow the operators after them are.

Periodic watermarks and processing-time timers come between batches. With fast operators a batch of thousands takes
milliseconds; with a function that waits for a service, one record may take a second.
"""

from __future__ import annotations

from collections.abc import Callable

from penstock.runtime.batch import Batch
from penstock.runtime.clock import Clock

_SHORT_MS = 5
_LONG_MS = 50
_LONGEST_MS = 500
_LARGEST = 1 << 20
_WORTH = 0.75  # of what a record costs in a batch of half the length
_PATIENCE = 4  # batches until a longer one is tried again


class Pacer:
    """Finds the batch length by the time that batches take.

    What a batch costs whatever its length (operators of SQL make dozens of calls for one row as for thousands) must not
    make batches short: longer ones are tried, and kept where they make a record much cheaper.
    """

    def __init__(self, clock: Clock, between: Callable[[], None]) -> None:
        self._clock = clock
        self._between = between
        self._length = 1
        self._allowed_ms = _LONG_MS
        self._shorter: float | None = None  # what a record cost in the batch before, when a longer one is being tried
        self._patience = 0

    def emit(self, process: Callable[[Batch], None], batch: Batch) -> None:
        count, start = len(batch), 0
        while start < count:
            end = min(count, start + self._length)
            part = batch if end - start == count else batch.slice(start, end)
            before = self._clock()
            process(part)
            self._adapt(len(part), self._clock() - before)
            start = end
            self._between()

    def _adapt(self, count: int, elapsed: int) -> None:
        full, tried, self._shorter = count == self._length, self._shorter, None
        if full and tried is not None:
            if elapsed > _LONGEST_MS or elapsed / count > _WORTH * tried:
                self._length, self._patience = max(1, count // 2), _PATIENCE
                return
            self._allowed_ms = max(_LONG_MS, 2 * elapsed)
        if elapsed > self._allowed_ms:
            # By what was really processed: the length may have grown far beyond it while all was fast.
            share = min(0.5, max(0.06, _LONG_MS / 2 / elapsed))
            self._length, self._allowed_ms = max(1, int(count * share)), _LONG_MS
        elif not full or self._length >= _LARGEST:
            return
        elif elapsed < _SHORT_MS:
            self._length *= 4
        elif self._patience:
            self._patience -= 1
        elif elapsed < 2 * _LONG_MS:
            self._shorter = elapsed / count
            self._length *= 2

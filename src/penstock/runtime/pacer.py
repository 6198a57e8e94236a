"""Cuts batches so that the clock is looked at often enough, however slow the operators after them are.

Periodic watermarks and processing-time timers come between batches. With fast operators a batch of thousands takes
milliseconds; with a function that waits for a service, one record may take a second.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from penstock.runtime.batch import Batch
from penstock.runtime.clock import Clock

_SHORT_MS = 5
_LONG_MS = 50
_LARGEST = 1 << 20


class Pacer:
    """Finds the batch length by the time that batches take."""

    def __init__(self, clock: Clock, between: Callable[[], None]) -> None:
        self._clock = clock
        self._between = between
        self._length = 1

    def emit(self, process: Callable[[Batch], None], batch: Batch) -> Iterator[None]:
        """Pauses when much time has passed and something is left: others may want to run."""
        count, start, since_pause = len(batch), 0, 0
        while start < count:
            end = min(count, start + self._length)
            part = batch if end - start == count else batch.slice(start, end)
            before = self._clock()
            process(part)
            elapsed = self._clock() - before
            if elapsed > _LONG_MS:
                # By what was really processed: the length may have grown far beyond it while all was fast.
                self._length = max(1, len(part) // 4)
            elif elapsed < _SHORT_MS and self._length < _LARGEST and len(part) == self._length:
                self._length *= 4
            start = end
            self._between()
            since_pause += elapsed
            if since_pause > _LONG_MS and start < count:
                since_pause = 0
                yield

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
_LONGEST_MS = 500
_LARGEST = 1 << 20
_WORTH = 0.75  # of what a record costs in a batch of half the length
_PATIENCE = 4  # batches until a longer one is tried again


class Pacer:
    """Finds the batch length by the time that batches take.

    What a batch costs whatever its length (operators of SQL make dozens of calls for one row as for thousands) must not
    make batches short: longer ones are tried, and kept where they make a record much cheaper; shorter ones are given up
    where they take as long.
    """

    def __init__(self, clock: Clock, between: Callable[[], None]) -> None:
        self._clock = clock
        self._between = between
        self._length = 1
        self._allowed_ms = _LONG_MS
        self._shorter: float | None = None  # what a record cost in the batch before, when a longer one is being tried
        self._longer: tuple[int, int] | None = None  # length and time of the batch before, when a shorter one is tried
        self._patience = 0

    def emit(self, process: Callable[[Batch], None], batch: Batch) -> Iterator[None]:
        """Pauses when much time has passed and something is left: others may want to run."""
        count, start, since_pause = len(batch), 0, 0
        while start < count:
            end = min(count, start + self._length)
            part = batch if end - start == count else batch.slice(start, end)
            before = self._clock()
            process(part)
            elapsed = self._clock() - before
            self._adapt(len(part), elapsed)
            start = end
            self._between()
            since_pause += elapsed
            if since_pause > _LONG_MS and start < count:
                since_pause = 0
                yield

    def _adapt(self, count: int, elapsed: int) -> None:
        full, tried, longer = count == self._length, self._shorter, self._longer
        self._shorter = self._longer = None
        if full and longer is not None and elapsed > _WORTH * longer[1]:
            # Half the records took as long: the length was not the reason.
            self._length, self._allowed_ms = longer[0], min(_LONGEST_MS, 2 * longer[1])
            return
        if full and tried is not None:
            if elapsed > _LONGEST_MS or elapsed / count > _WORTH * tried:
                self._length, self._patience = max(1, count // 2), _PATIENCE if count > 2 else _PATIENCE**3
                return
            self._allowed_ms = max(self._allowed_ms, min(_LONGEST_MS, 2 * elapsed))
        if elapsed > self._allowed_ms and (count > 1 or elapsed > _LONGEST_MS / 2):
            # By what was really processed: the length may have grown far beyond it while all was fast.
            self._longer = (count, elapsed) if count > 1 and elapsed <= _LONGEST_MS else None
            share = min(0.5, max(0.06, _LONG_MS / 2 / elapsed)) if self._longer is None else 0.5
            self._length, self._allowed_ms = max(1, int(count * share)), _LONG_MS
        elif not full or self._length >= _LARGEST:
            return
        elif elapsed < _SHORT_MS:
            self._length *= 4
        elif elapsed < _LONG_MS / 2:
            self._length *= 2
        elif self._patience:
            self._patience -= 1
        elif elapsed < max(self._allowed_ms, 2 * _LONG_MS) or count == 1:
            self._shorter = elapsed / count
            self._length *= 2

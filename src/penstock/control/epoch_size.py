"""How many records the next epoch should read: many when there is a backlog, few when the stream is slow."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

_GROWTH = 32.0
_SHRINKING = 4.0
_REMEMBERED = 8
_OVERHEAD_SHARE = 0.2
_LONGEST = 5  # times the wanted duration


class _Sample(NamedTuple):
    records: int
    ms: float
    busy_ms: float


class EpochSizer:
    """Aims at a duration, and lets epochs grow beyond it while their fixed cost would eat too much of it.

    An epoch takes about `overhead + records * cost`. The cost is at least the time that operators worked, which the
    first epoch shows already; what data costs on its way shows once epochs had different sizes. The size is chosen so
    that the overhead is at most a fifth of the epoch, within bounds.
    """

    def __init__(self, initial: int, maximum: int, target_ms: int) -> None:
        self._budget = float(min(initial, maximum))
        self._maximum = maximum
        self._target_ms = target_ms
        self._samples: deque[_Sample] = deque(maxlen=_REMEMBERED)
        self._warm = False

    @property
    def budget(self) -> int:
        return max(1, int(self._budget))

    def observe(self, records: int, milliseconds: float, busy_ms: float, backlog: bool) -> None:
        """Learns from a completed epoch, in which operators worked for a part of the time.

        Without a backlog some source found less than it was allowed to read, and none more: then the size is right.
        """
        if records <= 0 or milliseconds <= 0:
            return
        if not self._warm:
            # The first epoch starts processes: only the work in it says something about those after it.
            self._warm, milliseconds = True, max(busy_ms, 1.0)
            known = [_Sample(records, milliseconds, busy_ms)]
        else:
            self._samples.append(_Sample(records, milliseconds, busy_ms))
            known = list(self._samples)
        if not backlog:
            return
        lowest = self._budget / _SHRINKING if milliseconds <= _LONGEST * self._target_ms else 1.0  # too long: at once
        wanted = min(max(self._wanted(known), lowest), self._budget * _GROWTH)
        self._budget = min(max(wanted, 1.0), float(self._maximum))

    def _wanted(self, known: list[_Sample]) -> float:
        overhead, cost = _estimate(known)
        worthwhile = max(self._target_ms - overhead, overhead / _OVERHEAD_SHARE - overhead)
        # However large the overhead is (a machine under load), an epoch of hardly any records would not be shorter.
        bearable = max(_LONGEST * self._target_ms - overhead, self._target_ms)
        return min(worthwhile, bearable) / cost


def _estimate(known: list[_Sample]) -> tuple[float, float]:
    """Overhead (ms) and cost (ms per record): a line through the epochs, not flatter than the work of the last one."""
    count = len(known)
    mean_records = sum(sample.records for sample in known) / count
    mean_ms = sum(sample.ms for sample in known) / count
    spread = sum((sample.records - mean_records) ** 2 for sample in known)
    cost = known[-1].busy_ms / known[-1].records
    if spread >= count * (0.1 * mean_records) ** 2:
        slope = sum((sample.records - mean_records) * (sample.ms - mean_ms) for sample in known) / spread
        cost = max(cost, slope)
    cost = min(max(cost, 1e-6), mean_ms / mean_records)
    return max(0.0, mean_ms - cost * mean_records), cost

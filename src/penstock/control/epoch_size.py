"""How many records the next epoch should read: many when there is a backlog, few when the stream is slow."""

from __future__ import annotations

from collections import deque

_GROWTH = 4.0
_REMEMBERED = 8
_PROBE = 2.0
_OVERHEAD_SHARE = 0.2
_LONGEST = 5  # times the wanted duration


class EpochSizer:
    """Aims at a duration, and lets epochs grow beyond it while their fixed cost would eat too much of it.

    An epoch takes about `overhead + records * cost`. Both are estimated from the last epochs; the size is chosen so
    that the overhead is at most a fifth of the epoch, within bounds.
    """

    def __init__(self, initial: int, maximum: int, target_ms: int) -> None:
        self._budget = float(min(initial, maximum))
        self._maximum = maximum
        self._target_ms = target_ms
        self._samples: deque[tuple[int, float]] = deque(maxlen=_REMEMBERED)
        self._warm = False

    @property
    def budget(self) -> int:
        return max(1, int(self._budget))

    def observe(self, records: int, milliseconds: float) -> None:
        """Learns from a completed epoch; one that found less than it was allowed to read is no backlog."""
        if records <= 0 or milliseconds <= 0:
            return
        if not self._warm:
            self._warm = True  # the first epoch starts processes and says nothing about those after it
            return
        self._samples.append((records, milliseconds))
        if records < self._budget / 2:
            return
        lowest = self._budget / _GROWTH if milliseconds <= _LONGEST * self._target_ms else 1.0  # too long: at once
        growth = min(max(self._wanted(), lowest), self._budget * _GROWTH)
        self._budget = min(max(growth, 1.0), float(self._maximum))

    def _wanted(self) -> float:
        fit = self._fit()
        target_ms, longest_ms = self._target_ms, _LONGEST * self._target_ms
        if fit is None:
            # Equal sizes say nothing about the overhead: a larger epoch does, as long as it cannot become too long.
            last_ms = self._samples[-1][1]
            return self._budget * (min(_PROBE, longest_ms / last_ms) if last_ms <= longest_ms else target_ms / last_ms)
        overhead, cost = fit
        wanted_ms = min(max(target_ms, overhead / _OVERHEAD_SHARE), longest_ms)
        return (wanted_ms - overhead) / cost

    def _fit(self) -> tuple[float, float] | None:
        """Overhead (ms) and cost (ms per record) by least squares; None while sizes do not differ."""
        count = len(self._samples)
        mean_records = sum(records for records, _ in self._samples) / count
        mean_ms = sum(ms for _, ms in self._samples) / count
        spread = sum((records - mean_records) ** 2 for records, _ in self._samples)
        if spread < count * (0.1 * mean_records) ** 2:
            return None
        slope = sum((r - mean_records) * (ms - mean_ms) for r, ms in self._samples) / spread
        cost = min(max(slope, 0.05 * mean_ms / mean_records), mean_ms / mean_records)
        return max(0.0, mean_ms - cost * mean_records), cost

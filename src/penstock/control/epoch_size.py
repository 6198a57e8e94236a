"""How many records the next epoch should read: large when there is a backlog, small when the stream is slow."""

from __future__ import annotations

_GROWTH = 4.0
_SMOOTHING = 0.5


class EpochSizer:
    """Aims at a duration: follows the measured rate, grows by a bounded factor."""

    def __init__(self, initial: int, maximum: int, target_ms: int) -> None:
        self._budget = float(initial)
        self._maximum = maximum
        self._target_ms = target_ms
        self._rate: float | None = None  # records per millisecond

    @property
    def budget(self) -> int:
        return max(1, int(self._budget))

    def observe(self, records: int, milliseconds: float) -> None:
        """Learns from a completed epoch."""
        if records <= 0 or milliseconds <= 0:
            return
        rate = records / milliseconds
        self._rate = rate if self._rate is None else _SMOOTHING * rate + (1 - _SMOOTHING) * self._rate
        wanted = self._rate * self._target_ms
        self._budget = min(max(wanted, self._budget / _GROWTH, 1.0), self._budget * _GROWTH, float(self._maximum))

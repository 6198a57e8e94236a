"""Restart strategies: whether, and after what delay, a failed job starts again. Decisions only, no waiting."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from penstock.common.configuration import Configuration
from penstock.common.errors import ConfigurationError
from penstock.common.options import value_of


class RestartStrategy(Protocol):
    def next_delay_ms(self, now_ms: int) -> int | None:
        """Called at a failure: the pause before the next attempt, or None when the job has failed for good."""


class NoRestart:
    """The first failure is the last."""

    def next_delay_ms(self, now_ms: int) -> int | None:
        return None


@dataclass
class FixedDelay:
    """A number of attempts, with the same pause before each."""

    attempts: int
    delay_ms: int
    _used: int = 0

    def next_delay_ms(self, now_ms: int) -> int | None:
        if self._used >= self.attempts:
            return None
        self._used += 1
        return self.delay_ms


@dataclass
class FailureRate:
    """Any number of attempts, as long as failures do not come too close to each other."""

    failures_per_interval: int
    interval_ms: int
    delay_ms: int
    _failures: deque[int] = field(default_factory=deque)

    def next_delay_ms(self, now_ms: int) -> int | None:
        self._failures.append(now_ms)
        while self._failures and self._failures[0] <= now_ms - self.interval_ms:
            self._failures.popleft()
        return self.delay_ms if len(self._failures) <= self.failures_per_interval else None


@dataclass
class ExponentialDelay:
    """Pauses that grow with every failure and shrink back after a quiet time."""

    initial_ms: int
    maximum_ms: int
    multiplier: float
    reset_after_ms: int
    jitter: float
    attempts: int
    random_source: Callable[[], float] = random.random
    _delay_ms: float = 0.0
    _used: int = 0
    _last_failure_ms: int | None = None

    def next_delay_ms(self, now_ms: int) -> int | None:
        quiet = self._last_failure_ms is not None and now_ms - self._last_failure_ms >= self.reset_after_ms
        if self._last_failure_ms is None or quiet:
            self._delay_ms, self._used = float(self.initial_ms), 0
        else:
            self._delay_ms = min(self._delay_ms * self.multiplier, float(self.maximum_ms))
        self._last_failure_ms = now_ms
        if self._used >= self.attempts:
            return None
        self._used += 1
        spread = self._delay_ms * self.jitter * (2 * self.random_source() - 1)
        return max(0, round(self._delay_ms + spread))


def restart_strategy(configuration: Configuration) -> RestartStrategy:
    """The configured strategy; without one, jobs with checkpoints restart and others do not, as in Flink."""
    name = value_of(configuration, "restart-strategy.type") or value_of(configuration, "restart-strategy")
    if name is None:
        checkpointing = value_of(configuration, "execution.checkpointing.interval") is not None
        name = "exponential-delay" if checkpointing else "none"
    make = _STRATEGIES.get(name.lower().replace("_", "-"))
    if make is None:
        raise ConfigurationError(f"restart-strategy.type is one of {', '.join(_STRATEGIES)}; got {name!r}")
    return make(lambda key: value_of(configuration, f"restart-strategy.{key}"))


_STRATEGIES: dict[str, Callable[[Callable[[str], Any]], RestartStrategy]] = {
    "none": lambda option: NoRestart(),
    "off": lambda option: NoRestart(),
    "disable": lambda option: NoRestart(),
    "fixed-delay": lambda option: FixedDelay(option("fixed-delay.attempts"), option("fixed-delay.delay")),
    "failure-rate": lambda option: FailureRate(
        option("failure-rate.max-failures-per-interval"),
        option("failure-rate.failure-rate-interval"),
        option("failure-rate.delay"),
    ),
    "exponential-delay": lambda option: ExponentialDelay(
        option("exponential-delay.initial-backoff"),
        option("exponential-delay.max-backoff"),
        option("exponential-delay.backoff-multiplier"),
        option("exponential-delay.reset-backoff-threshold"),
        option("exponential-delay.jitter-factor"),
        option("exponential-delay.attempts-before-reset-backoff"),
    ),
}

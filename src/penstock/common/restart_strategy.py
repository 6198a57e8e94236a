"""What happens when a job fails: descriptions of restart strategies, carried out by the job manager."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from penstock.common.utils import refuse_java_object

__all__ = ["RestartStrategies", "RestartStrategyConfiguration"]


class RestartStrategyConfiguration:
    """Base of the strategies; compared by their settings."""

    def __init__(self, j_restart_strategy_configuration: Any = None) -> None:
        refuse_java_object(
            type(self).__name__,
            "j_restart_strategy",
            j_restart_strategy_configuration,
            "Use a factory of RestartStrategies.",
        )

    def get_description(self) -> str:
        """One line for logs and plans."""
        return "Restart strategy of the cluster."

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash((type(self).__name__, tuple(sorted(self.__dict__.items()))))

    def __repr__(self) -> str:
        return f"<{self.get_description()}>"


class RestartStrategies:
    """Factory of restart strategies, for example ``RestartStrategies.fixed_delay_restart(3, 10_000)``."""

    class NoRestartStrategyConfiguration(RestartStrategyConfiguration):
        """The job fails at once."""

        def __init__(self, j_restart_strategy: Any = None) -> None:
            super().__init__(j_restart_strategy)

        def get_description(self) -> str:
            return "Restart deactivated."

    class FixedDelayRestartStrategyConfiguration(RestartStrategyConfiguration):
        """A number of restarts with the same pause before each."""

        def __init__(
            self,
            restart_attempts: int | None = None,
            delay_between_attempts_interval: timedelta | int | None = None,
            j_restart_strategy: Any = None,
        ) -> None:
            super().__init__(j_restart_strategy)
            self._restart_attempts = _count(restart_attempts, "restart_attempts", at_least=0)
            self._delay = _interval(delay_between_attempts_interval, "delay_between_attempts")

        def get_restart_attempts(self) -> int:
            return self._restart_attempts

        def get_delay_between_attempts_interval(self) -> timedelta:
            return self._delay

        def get_description(self) -> str:
            return f"Restart with fixed delay ({self._delay}). #{self._restart_attempts} restart attempts."

    class FailureRateRestartStrategyConfiguration(RestartStrategyConfiguration):
        """Restarts until there are too many failures in one interval."""

        def __init__(
            self,
            max_failure_rate: int | None = None,
            failure_interval: timedelta | int | None = None,
            delay_between_attempts_interval: timedelta | int | None = None,
            j_restart_strategy: Any = None,
        ) -> None:
            super().__init__(j_restart_strategy)
            self._max_failure_rate = _count(max_failure_rate, "failure_rate", at_least=1)
            self._failure_interval = _interval(failure_interval, "failure_interval")
            self._delay = _interval(delay_between_attempts_interval, "delay_interval")

        def get_max_failure_rate(self) -> int:
            return self._max_failure_rate

        def get_failure_interval(self) -> timedelta:
            return self._failure_interval

        def get_delay_between_attempts_interval(self) -> timedelta:
            return self._delay

        def get_description(self) -> str:
            return (
                f"Failure rate restart with maximum of {self._max_failure_rate} failures within interval"
                f" {self._failure_interval} and fixed delay {self._delay}."
            )

    class FallbackRestartStrategyConfiguration(RestartStrategyConfiguration):
        """What the configuration of the cluster says."""

        def __init__(self, j_restart_strategy: Any = None) -> None:
            super().__init__(j_restart_strategy)

        def get_description(self) -> str:
            return "Cluster level default restart strategy"

    @staticmethod
    def no_restart() -> NoRestartStrategyConfiguration:
        return RestartStrategies.NoRestartStrategyConfiguration()

    @staticmethod
    def fall_back_restart() -> FallbackRestartStrategyConfiguration:
        return RestartStrategies.FallbackRestartStrategyConfiguration()

    @staticmethod
    def fixed_delay_restart(
        restart_attempts: int, delay_between_attempts: int
    ) -> FixedDelayRestartStrategyConfiguration:
        """Up to ``restart_attempts`` restarts, ``delay_between_attempts`` milliseconds before each."""
        return RestartStrategies.FixedDelayRestartStrategyConfiguration(restart_attempts, delay_between_attempts)

    @staticmethod
    def failure_rate_restart(
        failure_rate: int, failure_interval: int, delay_interval: int
    ) -> FailureRateRestartStrategyConfiguration:
        """Restarts until there are ``failure_rate`` failures in an interval; times are milliseconds."""
        return RestartStrategies.FailureRateRestartStrategyConfiguration(failure_rate, failure_interval, delay_interval)


def _count(value: int | None, name: str, at_least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < at_least:
        raise ValueError(f"{name} is a whole number of at least {at_least}, not {value!r}.")
    return value


def _interval(value: timedelta | int | None, name: str) -> timedelta:
    if isinstance(value, timedelta):
        return value
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"{name} is a timedelta or a number of milliseconds, not {value!r}.")
    return timedelta(milliseconds=value)

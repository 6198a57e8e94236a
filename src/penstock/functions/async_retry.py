"""Ready-made strategies for retrying asynchronous calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from penstock.common.errors import ProgramError
from penstock.functions.async_io import AsyncRetryPredicate, AsyncRetryStrategy

__all__ = [
    "NO_RETRY_STRATEGY",
    "ExponentialBackoffDelayRetryStrategy",
    "FixedDelayRetryStrategy",
    "NoRetryStrategy",
    "RetryPredicate",
]

OUT = TypeVar("OUT")


class RetryPredicate(AsyncRetryPredicate[OUT], Generic[OUT]):
    """A retry predicate made of two functions, either of which may be None."""

    def __init__(
        self,
        result_predicate: Callable[[list[OUT]], bool] | None,
        exception_predicate: Callable[[Exception], bool] | None,
    ) -> None:
        self._result_predicate = result_predicate
        self._exception_predicate = exception_predicate

    def result_predicate(self) -> Callable[[list[OUT]], bool] | None:
        return self._result_predicate

    def exception_predicate(self) -> Callable[[Exception], bool] | None:
        return self._exception_predicate


class NoRetryStrategy(AsyncRetryStrategy[OUT], Generic[OUT]):
    """One attempt and no more."""

    def can_retry(self, current_attempts: int) -> bool:
        return False

    def get_backoff_time_millis(self, current_attempts: int) -> int:
        return -1

    def get_retry_predicate(self) -> AsyncRetryPredicate[OUT]:
        return RetryPredicate(None, None)


class _LimitedRetryStrategy(AsyncRetryStrategy[OUT]):
    def __init__(
        self,
        max_attempts: int,
        result_predicate: Callable[[list[OUT]], bool] | None,
        exception_predicate: Callable[[Exception], bool] | None,
    ) -> None:
        _require_positive(max_attempts=max_attempts)
        self._max_attempts = max_attempts
        self._predicate = RetryPredicate(result_predicate, exception_predicate)

    def can_retry(self, current_attempts: int) -> bool:
        return current_attempts <= self._max_attempts

    def get_retry_predicate(self) -> AsyncRetryPredicate[OUT]:
        return self._predicate


class FixedDelayRetryStrategy(_LimitedRetryStrategy[OUT], Generic[OUT]):
    """Up to ``max_attempts`` retries, each after the same delay."""

    def __init__(
        self,
        max_attempts: int,
        backoff_time_millis: int,
        result_predicate: Callable[[list[OUT]], bool] | None,
        exception_predicate: Callable[[Exception], bool] | None,
    ) -> None:
        super().__init__(max_attempts, result_predicate, exception_predicate)
        _require_positive(backoff_time_millis=backoff_time_millis)
        self._backoff_time_millis = backoff_time_millis

    def get_backoff_time_millis(self, current_attempts: int) -> int:
        return self._backoff_time_millis


class ExponentialBackoffDelayRetryStrategy(_LimitedRetryStrategy[OUT], Generic[OUT]):
    """Up to ``max_attempts`` retries after growing delays, limited by ``max_retry_delay``."""

    def __init__(
        self,
        max_attempts: int,
        initial_delay: int,
        max_retry_delay: int,
        multiplier: float,
        result_predicate: Callable[[list[OUT]], bool] | None,
        exception_predicate: Callable[[Exception], bool] | None,
    ) -> None:
        super().__init__(max_attempts, result_predicate, exception_predicate)
        _require_positive(initial_delay=initial_delay, max_retry_delay=max_retry_delay, multiplier=multiplier)
        self._initial_delay = initial_delay
        self._max_retry_delay = max_retry_delay
        self._multiplier = multiplier

    def get_backoff_time_millis(self, current_attempts: int) -> int:
        # From the number alone: the strategy serves many records at a time and must not mix up their delays.
        delay = self._initial_delay
        for _ in range(current_attempts - 1):
            delay = int(min(delay * self._multiplier, self._max_retry_delay))
        return delay


def _require_positive(**parameters: float) -> None:
    for name, value in parameters.items():
        if value <= 0:
            raise ProgramError(f"{name} of a retry strategy must be greater than zero, got {value}")


NO_RETRY_STRATEGY: AsyncRetryStrategy[Any] = NoRetryStrategy()

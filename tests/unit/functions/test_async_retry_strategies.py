"""Retry strategies count and delay."""

from __future__ import annotations

import pytest

from penstock.common.errors import ProgramError
from penstock.datastream import AsyncRetryStrategy
from penstock.datastream.async_retry_predicates import empty_result_predicate, exception_type_predicate


def test_no_retry() -> None:
    assert not AsyncRetryStrategy.no_restart().can_retry(1)


def test_fixed_delay() -> None:
    strategy = AsyncRetryStrategy.fixed_delay(2, 100, empty_result_predicate, None)
    assert [strategy.can_retry(n) for n in (1, 2, 3)] == [True, True, False]
    assert [strategy.get_backoff_time_millis(n) for n in (1, 2)] == [100, 100]
    assert strategy.get_retry_predicate().result_predicate() is empty_result_predicate
    assert strategy.get_retry_predicate().exception_predicate() is None


def test_exponential_backoff_depends_on_the_attempt_alone() -> None:
    strategy = AsyncRetryStrategy.exponential_backoff(5, 100, 500, 2.0, None, None)
    assert [strategy.get_backoff_time_millis(n) for n in (1, 2, 3, 4, 5)] == [100, 200, 400, 500, 500]
    assert strategy.get_backoff_time_millis(2) == 200


def test_predicates() -> None:
    assert empty_result_predicate([]) and empty_result_predicate(None) and not empty_result_predicate([0])
    assert exception_type_predicate(KeyError(), LookupError)


def test_impossible_strategies_are_refused() -> None:
    with pytest.raises(ProgramError, match="max_attempts"):
        AsyncRetryStrategy.fixed_delay(0, 100, None, None)

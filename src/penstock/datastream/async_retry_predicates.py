"""Ready-made predicates for retrying asynchronous calls."""

from __future__ import annotations

from typing import Any

__all__ = ["empty_result_predicate", "exception_type_predicate", "has_exception_predicate"]


def empty_result_predicate(result: list[Any] | None) -> bool:
    """True when there is no result."""
    return not result


def has_exception_predicate(error: BaseException | None) -> bool:
    """True when the call failed, however it did."""
    return error is not None


def exception_type_predicate(error: BaseException, expected_error_type: type[BaseException]) -> bool:
    """True when the call failed with this type of error."""
    return isinstance(error, expected_error_type)

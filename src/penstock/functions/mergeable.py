"""How a program says that a reduce or aggregate function may be applied to parts of a window."""

from __future__ import annotations

from typing import Any, TypeVar

__all__ = ["is_mergeable", "mergeable"]

F = TypeVar("F")


def mergeable(function: F) -> F:
    """Declares that parts of a window may be folded apart and merged, and that the order of records does not matter::

        @mergeable
        class CountAndSum(AggregateFunction): ...

        windowed.reduce(mergeable(lambda a, b: (a[0], max(a[1], b[1]))))

    Long sliding windows then fold each record once instead of once per window. Sums of fractions are not mergeable
    to the last digit, because rounding depends on the order. A class may say ``mergeable = True`` instead.
    """
    function.mergeable = True  # type: ignore[attr-defined]
    return function


def is_mergeable(function: Any) -> bool:
    """Whether a function, or the callable that it was made of, was declared so."""
    return any(getattr(f, "mergeable", False) is True for f in (function, getattr(function, "_func", None)))

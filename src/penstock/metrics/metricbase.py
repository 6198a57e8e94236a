"""The kinds of metrics and the groups in which they are registered, as functions see them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

__all__ = ["Counter", "Distribution", "Meter", "Metric", "MetricGroup"]


class MetricGroup(ABC):
    """A named container of metrics and of further groups.

    Registering the same name again gives the same metric: a function's ``open`` may run more than once.
    """

    @abstractmethod
    def add_group(self, name: str, extra: str | None = None) -> MetricGroup:
        """The subgroup of this name; with ``extra`` the pair of a key and its value."""

    @abstractmethod
    def counter(self, name: str) -> Counter:
        """Register a counter."""

    @abstractmethod
    def gauge(self, name: str, obj: Callable[[], int]) -> None:
        """Register a function that is asked for its value whenever metrics are reported."""

    @abstractmethod
    def meter(self, name: str, time_span_in_seconds: int = 60) -> Meter:
        """Register a meter of events per second, averaged over the time span."""

    @abstractmethod
    def distribution(self, name: str) -> Distribution:
        """Register a distribution: count, sum, minimum, maximum and mean of values."""


class Metric(ABC):
    """Base of all metrics."""


class Counter(Metric, ABC):
    """Counts up and down."""

    @abstractmethod
    def inc(self, n: int = 1) -> None:
        """Count up."""

    @abstractmethod
    def dec(self, n: int = 1) -> None:
        """Count down."""

    @abstractmethod
    def get_count(self) -> int:
        """The current count."""


class Meter(Metric, ABC):
    """Measures how often something happens."""

    @abstractmethod
    def mark_event(self, value: int = 1) -> None:
        """It happened, ``value`` times."""

    @abstractmethod
    def get_count(self) -> int:
        """How often it happened in all."""


class Distribution(Metric, ABC):
    """Describes the values of something."""

    @abstractmethod
    def update(self, value: Any) -> None:
        """Take a value in."""

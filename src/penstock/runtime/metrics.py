"""The metrics of one subtask: plain numbers in a tree of groups that is read as one flat dictionary."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import TypeVar

from penstock.common.errors import ProgramError
from penstock.metrics.metricbase import Counter, Distribution, Meter, Metric, MetricGroup

__all__ = ["MetricTree", "SimpleCounter", "SimpleDistribution", "SimpleGauge", "SimpleMeter"]

Number = int | float
M = TypeVar("M", bound="_ReadableMetric")

_log = logging.getLogger(__name__)


class _ReadableMetric(Metric):
    """A metric that knows how it is reported: suffixes behind its name, and numbers."""

    def readings(self) -> Iterator[tuple[str, Number]]:
        raise NotImplementedError


class SimpleCounter(_ReadableMetric, Counter):
    """A counter for one thread, which is all that a subtask has."""

    __slots__ = ("_count",)

    def __init__(self) -> None:
        self._count = 0

    def inc(self, n: int = 1) -> None:
        self._count += n

    def dec(self, n: int = 1) -> None:
        self._count -= n

    def get_count(self) -> int:
        return self._count

    def readings(self) -> Iterator[tuple[str, Number]]:
        yield "", self._count


class SimpleGauge(_ReadableMetric):
    """A function of the user that is asked when metrics are read."""

    def __init__(self, function: Callable[[], Number]) -> None:
        self._function = function
        self._has_failed = False

    def readings(self) -> Iterator[tuple[str, Number]]:
        try:
            value = self._function()
        except Exception:
            # A metric must not fail the job, but its silence needs an explanation.
            if not self._has_failed:
                _log.warning("a gauge failed and is not reported", exc_info=True)
            self._has_failed = True
            return
        yield "", value


class SimpleMeter(_ReadableMetric, Meter):
    """Events in all and per second over the last time span, kept in buckets of one second."""

    def __init__(self, time_span_in_seconds: int = 60, clock: Callable[[], float] = time.monotonic) -> None:
        if time_span_in_seconds <= 0:
            raise ProgramError(f"the time span of a meter must be positive, got {time_span_in_seconds}")
        self._time_span = time_span_in_seconds
        self._clock = clock
        self._count = 0
        self._buckets: deque[tuple[int, int]] = deque()

    def mark_event(self, value: int = 1) -> None:
        self._count += value
        second = int(self._clock())
        buckets = self._buckets
        if buckets and buckets[-1][0] == second:
            buckets[-1] = (second, buckets[-1][1] + value)
        else:
            buckets.append((second, value))
            self._forget(second)

    def get_count(self) -> int:
        return self._count

    def get_rate(self) -> float:
        """Events per second over the last time span."""
        self._forget(int(self._clock()))
        return sum(events for _, events in self._buckets) / self._time_span

    def _forget(self, second: int) -> None:
        buckets = self._buckets
        while buckets and buckets[0][0] <= second - self._time_span:
            buckets.popleft()

    def readings(self) -> Iterator[tuple[str, Number]]:
        yield ".count", self._count
        yield ".rate", self.get_rate()


class SimpleDistribution(_ReadableMetric, Distribution):
    """Count, sum, minimum, maximum and mean; nothing but the count before the first value."""

    __slots__ = ("_count", "_max", "_min", "_sum")

    def __init__(self) -> None:
        self._count = 0
        self._sum: Number = 0
        self._min: Number = 0
        self._max: Number = 0

    def update(self, value: Number) -> None:
        if self._count == 0:
            self._min = self._max = value
        elif value < self._min:
            self._min = value
        elif value > self._max:
            self._max = value
        self._count += 1
        self._sum += value

    def readings(self) -> Iterator[tuple[str, Number]]:
        yield ".count", self._count
        if self._count:
            yield ".sum", self._sum
            yield ".min", self._min
            yield ".max", self._max
            yield ".mean", self._sum / self._count


class MetricTree(MetricGroup):
    """A group of metrics and of further groups; its root is what a subtask reports.

    >>> root = MetricTree()
    >>> root.add_group("orders").counter("seen").inc(3)
    >>> root.values()
    {'orders.seen': 3}
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._groups: dict[str, MetricTree] = {}
        self._metrics: dict[str, _ReadableMetric] = {}

    def add_group(self, name: str, extra: str | None = None) -> MetricTree:
        _require_name(name)
        group = self._groups.get(name)
        if group is None:
            group = self._groups[name] = MetricTree(self._clock)
        return group if extra is None else group.add_group(extra)

    def counter(self, name: str) -> SimpleCounter:
        return self._registered(name, SimpleCounter, SimpleCounter)

    def gauge(self, name: str, obj: Callable[[], Number]) -> None:
        if not callable(obj):
            raise ProgramError(f"gauge {name!r} needs a function without parameters, got {obj!r}")
        if isinstance(self._metrics.get(name), SimpleGauge):
            # The newer function belongs to the newer instance of the operator.
            del self._metrics[name]
        self._registered(name, SimpleGauge, lambda: SimpleGauge(obj))

    def meter(self, name: str, time_span_in_seconds: int = 60) -> SimpleMeter:
        return self._registered(name, SimpleMeter, lambda: SimpleMeter(time_span_in_seconds, self._clock))

    def distribution(self, name: str) -> SimpleDistribution:
        return self._registered(name, SimpleDistribution, SimpleDistribution)

    def values(self) -> dict[str, Number]:
        """All readings of this group and those below it, names joined by dots."""
        return dict(self._readings(""))

    def _readings(self, prefix: str) -> Iterator[tuple[str, Number]]:
        for name, metric in self._metrics.items():
            for suffix, number in metric.readings():
                yield f"{prefix}{name}{suffix}", number
        for name, group in self._groups.items():
            yield from group._readings(f"{prefix}{name}.")

    def _registered(self, name: str, kind: type[M], create: Callable[[], M]) -> M:
        _require_name(name)
        metric = self._metrics.get(name)
        if metric is None:
            metric = self._metrics[name] = create()
        if not isinstance(metric, kind):
            raise ProgramError(f"metric {name!r} is a {type(metric).__name__} already and cannot be a {kind.__name__}")
        return metric


def _require_name(name: str) -> None:
    if not isinstance(name, str) or not name:
        raise ProgramError(f"a metric or group of metrics needs a name, got {name!r}")

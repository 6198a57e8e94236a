"""The metrics of one operator subtask: a tree of groups that is read, saved and loaded as one flat dictionary."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from penstock.common.errors import ProgramError
from penstock.metrics.metricbase import Counter, Distribution, Meter, Metric, MetricGroup
from penstock.metrics.values import CounterValue, DistributionValue, GaugeValue, MeterValue, MetricValue, Number

__all__ = ["MetricTree", "SimpleCounter", "SimpleDistribution", "SimpleGauge", "SimpleMeter"]

M = TypeVar("M", bound="_ReadableMetric")

_log = logging.getLogger(__name__)


class _ReadableMetric(Metric):
    """A metric that says what it has measured, and goes on from what an earlier instance of it had."""

    __penstock_transient__ = True  # functions keep metrics in attributes: a copy of one would measure for nobody
    value_type: type[MetricValue]

    def read(self) -> MetricValue | None:
        raise NotImplementedError

    def go_on_from(self, value: Any) -> None:
        """The operator has come to another process."""


class SimpleCounter(_ReadableMetric, Counter):
    """A counter for one thread, which is all that a subtask has."""

    __slots__ = ("_count",)
    value_type = CounterValue

    def __init__(self) -> None:
        self._count = 0

    def inc(self, n: int = 1) -> None:
        self._count += n

    def dec(self, n: int = 1) -> None:
        self._count -= n

    def get_count(self) -> int:
        return self._count

    def read(self) -> CounterValue:
        return CounterValue(self._count)

    def go_on_from(self, value: CounterValue) -> None:
        self._count = value.count


class SimpleGauge(_ReadableMetric):
    """A function of the user that is asked when metrics are read."""

    value_type = GaugeValue

    def __init__(self, function: Callable[[], Number]) -> None:
        self._function = function
        self._has_failed = False

    def read(self) -> GaugeValue | None:
        try:
            return GaugeValue(self._function())
        except Exception:
            # A metric must not fail the job, but its silence needs an explanation.
            if not self._has_failed:
                _log.warning("a gauge failed and is not reported", exc_info=True)
            self._has_failed = True
            return None


class SimpleMeter(_ReadableMetric, Meter):
    """Events in all and per second over the last time span, kept in buckets of one second."""

    value_type = MeterValue

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

    def read(self) -> MeterValue:
        return MeterValue(self._count, self.get_rate())

    def go_on_from(self, value: MeterValue) -> None:
        self._count = value.count


class SimpleDistribution(_ReadableMetric, Distribution):
    """Count, sum, minimum, maximum and mean; nothing but the count before the first value."""

    __slots__ = ("_count", "_max", "_min", "_sum")
    value_type = DistributionValue

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

    def read(self) -> DistributionValue:
        return DistributionValue(self._count, self._sum, self._min, self._max)

    def go_on_from(self, value: DistributionValue) -> None:
        self._count, self._sum, self._min, self._max = value.count, value.sum, value.min, value.max


class MetricTree(MetricGroup):
    """A group of metrics and of further groups; its root is what a subtask reports.

    >>> root = MetricTree()
    >>> root.add_group("orders").counter("seen").inc(3)
    >>> root.values()
    {'orders.seen': CounterValue(count=3)}
    """

    __penstock_transient__ = True

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        prefix: str = "",
        earlier: dict[str, MetricValue] | None = None,
    ) -> None:
        self._clock = clock
        self._prefix = prefix
        self._groups: dict[str, MetricTree] = {}
        self._metrics: dict[str, _ReadableMetric] = {}
        # What an earlier instance had, by full name, until user code asks for the metric again.
        self._earlier: dict[str, MetricValue] = {} if earlier is None else earlier

    def add_group(self, name: str, extra: str | None = None) -> MetricTree:
        _require_name(name)
        group = self._groups.get(name)
        if group is None:
            group = self._groups[name] = MetricTree(self._clock, f"{self._prefix}{name}.", self._earlier)
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

    def values(self) -> dict[str, MetricValue]:
        """What this group and those below it have measured, names joined by dots."""
        readings = ((name, metric.read()) for name, metric in self._all())
        return {name: value for name, value in readings if value is not None}

    def load(self, values: dict[str, MetricValue]) -> None:
        """Goes on from what an earlier instance had; the metrics may be asked for before or after."""
        self._earlier.update(values)
        for name, metric in self._all():
            self._go_on(name, metric)

    def _all(self) -> Iterator[tuple[str, _ReadableMetric]]:
        for name, metric in self._metrics.items():
            yield f"{self._prefix}{name}", metric
        for group in self._groups.values():
            yield from group._all()

    def _go_on(self, name: str, metric: _ReadableMetric) -> None:
        value = self._earlier.pop(name, None)
        if isinstance(value, metric.value_type):
            metric.go_on_from(value)

    def _registered(self, name: str, kind: type[M], create: Callable[[], M]) -> M:
        _require_name(name)
        metric = self._metrics.get(name)
        if metric is None:
            metric = self._metrics[name] = create()
            self._go_on(f"{self._prefix}{name}", metric)
        if not isinstance(metric, kind):
            raise ProgramError(f"metric {name!r} is a {type(metric).__name__} already and cannot be a {kind.__name__}")
        return metric


def _require_name(name: str) -> None:
    if not isinstance(name, str) or not name:
        raise ProgramError(f"a metric or group of metrics needs a name, got {name!r}")

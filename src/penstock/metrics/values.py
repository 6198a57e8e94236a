"""What a metric said when it was read: small values that whoever reads them may put together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

Number = int | float


@dataclass(frozen=True)
class CounterValue:
    TYPE: ClassVar = "counter"
    count: int

    def plus(self, other: CounterValue) -> CounterValue:
        return CounterValue(self.count + other.count)

    def numbers(self) -> Iterator[tuple[str, Number]]:
        yield "", self.count


@dataclass(frozen=True)
class GaugeValue:
    """What a function of the user gave. A sum of gauges is as good a summary as any: readers may want each."""

    TYPE: ClassVar = "gauge"
    value: Number

    def plus(self, other: GaugeValue) -> GaugeValue:
        return GaugeValue(self.value + other.value)

    def numbers(self) -> Iterator[tuple[str, Number]]:
        yield "", self.value


@dataclass(frozen=True)
class MeterValue:
    TYPE: ClassVar = "meter"
    count: int
    rate: float  # per second

    def plus(self, other: MeterValue) -> MeterValue:
        return MeterValue(self.count + other.count, self.rate + other.rate)

    def numbers(self) -> Iterator[tuple[str, Number]]:
        yield ".count", self.count
        yield ".rate", self.rate


@dataclass(frozen=True)
class DistributionValue:
    TYPE: ClassVar = "histogram"
    count: int
    sum: Number = 0
    min: Number = 0
    max: Number = 0

    def plus(self, other: DistributionValue) -> DistributionValue:
        if not self.count or not other.count:
            return self if self.count else other
        return DistributionValue(
            self.count + other.count, self.sum + other.sum, min(self.min, other.min), max(self.max, other.max)
        )

    def numbers(self) -> Iterator[tuple[str, Number]]:
        yield ".count", self.count
        if self.count:
            yield ".sum", self.sum
            yield ".min", self.min
            yield ".max", self.max
            yield ".mean", self.sum / self.count


MetricValue = CounterValue | GaugeValue | MeterValue | DistributionValue

"""Metrics of a subtask: what functions register is read as one flat dictionary."""

from __future__ import annotations

import pickle

import pytest

from penstock.common.errors import ProgramError
from penstock.metrics.values import CounterValue, DistributionValue, MeterValue
from penstock.runtime.metrics import MetricTree


def numbers(root: MetricTree) -> dict[str, float]:
    return {name + suffix: number for name, value in root.values().items() for suffix, number in value.numbers()}


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_values_are_named_by_their_place() -> None:
    root = MetricTree()
    root.counter("seen").inc(5)
    root.add_group("orders").counter("open").dec()
    root.add_group("country", "no").counter("seen").inc()
    assert numbers(root) == {"seen": 5, "orders.open": -1, "country.no.seen": 1}


def test_registering_again_gives_the_same_metric() -> None:
    root = MetricTree()
    root.counter("seen").inc()
    root.counter("seen").inc()
    assert numbers(root) == {"seen": 2}
    assert root.add_group("g") is root.add_group("g")


def test_a_gauge_is_asked_when_metrics_are_read() -> None:
    root, values = MetricTree(), [1]
    root.gauge("length", lambda: len(values))
    values.append(2)
    assert numbers(root) == {"length": 2}
    root.gauge("length", lambda: 7)
    assert numbers(root) == {"length": 7}


def test_a_failing_gauge_hides_only_itself(caplog: pytest.LogCaptureFixture) -> None:
    root = MetricTree()
    root.gauge("broken", lambda: 1 // 0)
    root.counter("fine")
    assert numbers(root) == numbers(root) == {"fine": 0}
    assert len(caplog.records) == 1


def test_a_meter_forgets_what_is_older_than_its_span() -> None:
    clock = Clock()
    root = MetricTree(clock)
    meter = root.meter("events", 10)
    meter.mark_event(30)
    clock.now += 5
    meter.mark_event()
    meter.mark_event(19)
    assert numbers(root) == {"events.count": 50, "events.rate": 5.0}
    clock.now += 5
    assert meter.get_rate() == 2.0
    clock.now += 60
    assert numbers(root) == {"events.count": 50, "events.rate": 0.0}


def test_a_distribution_describes_its_values() -> None:
    root = MetricTree()
    distribution = root.distribution("size")
    assert numbers(root) == {"size.count": 0}
    for value in (4, -2, 10):
        distribution.update(value)
    assert numbers(root) == {
        "size.count": 3,
        "size.sum": 12,
        "size.min": -2,
        "size.max": 10,
        "size.mean": 4.0,
    }


def test_a_new_instance_goes_on_from_what_the_earlier_one_had() -> None:
    old, new = MetricTree(), MetricTree()
    for root in (old, new):
        asked_before = root.counter("seen")
        if root is old:
            asked_before.inc(3)
            root.add_group("a").meter("events").mark_event(4)
            root.distribution("a.b").update(7)
    new.load(pickle.loads(pickle.dumps(old.values())))
    new.counter("seen").inc()
    new.add_group("a").meter("events").mark_event(2)
    new.distribution("a.b").update(1)
    assert new.values() == {
        "seen": CounterValue(4),
        "a.events": MeterValue(6, pytest.approx(2 / 60)),  # type: ignore[arg-type]
        "a.b": DistributionValue(2, 8, 1, 7),
    }


def test_a_metric_of_another_kind_begins_anew() -> None:
    root = MetricTree()
    root.load({"seen": MeterValue(9, 1.0)})
    root.counter("seen").inc()
    assert root.values() == {"seen": CounterValue(1)}


def test_values_of_several_subtasks_are_put_together() -> None:
    assert CounterValue(2).plus(CounterValue(3)) == CounterValue(5)
    one, other = DistributionValue(2, 5, 1, 4), DistributionValue(1, 9, 9, 9)
    assert one.plus(other) == other.plus(one) == DistributionValue(3, 14, 1, 9)
    assert one.plus(DistributionValue(0)) == DistributionValue(0).plus(one) == one


def test_misuse_is_refused() -> None:
    root = MetricTree()
    root.counter("seen")
    with pytest.raises(ProgramError, match="'seen' is a SimpleCounter already"):
        root.meter("seen")
    with pytest.raises(ProgramError, match="needs a function"):
        root.gauge("g", 5)  # type: ignore[arg-type]
    with pytest.raises(ProgramError, match="needs a name"):
        root.counter("")
    with pytest.raises(ProgramError, match="time span"):
        root.meter("m", 0)

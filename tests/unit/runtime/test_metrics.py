"""Metrics of a subtask: what functions register is read as one flat dictionary."""

from __future__ import annotations

import pickle

import pytest

from penstock.common.errors import ProgramError
from penstock.runtime.metrics import MetricTree


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
    assert root.values() == {"seen": 5, "orders.open": -1, "country.no.seen": 1}


def test_registering_again_gives_the_same_metric() -> None:
    root = MetricTree()
    root.counter("seen").inc()
    root.counter("seen").inc()
    assert root.values() == {"seen": 2}
    assert root.add_group("g") is root.add_group("g")


def test_a_gauge_is_asked_when_metrics_are_read() -> None:
    root, values = MetricTree(), [1]
    root.gauge("length", lambda: len(values))
    values.append(2)
    assert root.values() == {"length": 2}
    root.gauge("length", lambda: 7)
    assert root.values() == {"length": 7}


def test_a_failing_gauge_hides_only_itself(caplog: pytest.LogCaptureFixture) -> None:
    root = MetricTree()
    root.gauge("broken", lambda: 1 // 0)
    root.counter("fine")
    assert root.values() == root.values() == {"fine": 0}
    assert len(caplog.records) == 1


def test_a_meter_forgets_what_is_older_than_its_span() -> None:
    clock = Clock()
    root = MetricTree(clock)
    meter = root.meter("events", 10)
    meter.mark_event(30)
    clock.now += 5
    meter.mark_event()
    meter.mark_event(19)
    assert root.values() == {"events.count": 50, "events.rate": 5.0}
    clock.now += 5
    assert meter.get_rate() == 2.0
    clock.now += 60
    assert root.values() == {"events.count": 50, "events.rate": 0.0}


def test_a_distribution_describes_its_values() -> None:
    root = MetricTree()
    distribution = root.distribution("size")
    assert root.values() == {"size.count": 0}
    for value in (4, -2, 10):
        distribution.update(value)
    assert root.values() == {
        "size.count": 3,
        "size.sum": 12,
        "size.min": -2,
        "size.max": 10,
        "size.mean": 4.0,
    }


def test_metrics_kept_in_attributes_can_be_pickled_with_the_function() -> None:
    root = MetricTree()
    root.counter("seen").inc(3)
    root.meter("events").mark_event()
    root.distribution("size").update(1)
    assert pickle.loads(pickle.dumps(root)).values()["seen"] == 3


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

"""Where a subtask's time goes: busy, back-pressured or idle, which add up to a second in each second."""

from __future__ import annotations

from penstock.engines.resident.hosted_subtask import TimeSpent
from penstock.metrics.values import GaugeValue


def test_the_three_times_of_a_subtask_add_up() -> None:
    now = [100.0]
    spent = TimeSpent(clock=lambda: now[0])
    spent.busy += 0.5
    now[0] += 0.5
    spent.press()
    now[0] += 1.0
    spent.press()  # still: the time since the first look counts
    now[0] += 0.2
    spent.release()
    spent.release()
    now[0] += 0.3
    assert spent.per_second() == {
        "busyTimeMsPerSecond": GaugeValue(250),
        "backPressuredTimeMsPerSecond": GaugeValue(600),
        "idleTimeMsPerSecond": GaugeValue(150),
    }
    now[0] += 1.0
    assert spent.per_second()["idleTimeMsPerSecond"] == GaugeValue(1000)

"""Rates on the driver: of the last second or epoch, however long epochs are, and zero when nothing happens."""

from __future__ import annotations

from tests.unit.runtime.blueprints import job, operator

from penstock.control.subtask_vitals import SubtaskVitals
from penstock.metrics.values import GaugeValue
from penstock.runtime.report import SubtaskReport
from penstock.runtime.vitals import OperatorVitals


class Seconds:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_long_epoch_keeps_the_rates_of_the_one_before_it() -> None:
    seconds = Seconds()
    vitals = SubtaskVitals(job([operator(1, "map")], []), seconds)

    def rate() -> float:
        value = vitals.metrics(1, 0)["numRecordsInPerSecond"]
        assert isinstance(value, GaugeValue)
        return value.value

    def epoch(took: float, records: int) -> None:
        seconds.now += took / 2
        assert not vitals.settle(under_way=True)
        seconds.now += took / 2
        report = SubtaskReport(0, 0, records_in={1: records}, vitals={1: OperatorVitals(busy_ms=took * 1000)})
        vitals.count([report], now_ms=0)

    epoch(20, 2000)
    assert rate() == 100
    epoch(20, 4000)
    assert rate() == 200
    seconds.now += 4
    assert not vitals.settle(under_way=False) and rate() == 200
    seconds.now += 2
    assert vitals.settle(under_way=False) and rate() == 0


def test_those_before_a_slow_level_are_held_up_by_it_when_epochs_wait() -> None:
    seconds = Seconds()
    operators = [operator(number, "map", level=number) for number in range(4)]
    vitals = SubtaskVitals(job(operators, []), seconds)

    def shares(held_up: float | None, busy: tuple[int, ...]) -> list[tuple[float, float]]:
        """Back-pressured and idle milliseconds of a second, of tasks that stay and had room all the time."""
        seconds.now += 2
        if held_up is not None:
            vitals.hold_up(held_up)
        reports = [
            SubtaskReport(level, 0, vitals={level: OperatorVitals(busy_ms=2 * spent)}, pressed=0.0)
            for level, spent in enumerate(busy)
        ]
        vitals.count(reports, now_ms=0)
        found = [vitals.metrics(level, 0) for level in range(4)]
        names = "backPressuredTimeMsPerSecond", "idleTimeMsPerSecond"
        return [tuple(each[name].value for name in names) for each in found]  # type: ignore[misc, union-attr]

    busy = 10, 50, 900, 20  # the third is slow
    assert shares(1.9, busy) == [(950, 40), (920, 30), (20, 80), (0, 980)]
    assert shares(None, busy) == [(950, 40), (920, 30), (20, 80), (0, 980)], "no epoch has begun: all wait as before"
    assert shares(0.0, busy) == [(0, 990), (0, 950), (0, 100), (0, 980)], "nobody waits: the source has no more"


def test_the_rate_of_reading_is_that_of_a_second_and_not_of_one_of_several_epochs_at_once() -> None:
    seconds = Seconds()
    vitals = SubtaskVitals(job([operator(1, "map")], []), seconds)
    assert vitals.read_rate([1]) is None
    for _ in range(6):  # each takes longer than half a second, but three are under way at once
        seconds.now += 0.5
        report = SubtaskReport(0, 0, records_in={1: 1000}, vitals={1: OperatorVitals()})
        vitals.count([report], now_ms=0)
    assert vitals.read_rate([1]) == 2000
    assert vitals.read_rate([2]) == 0

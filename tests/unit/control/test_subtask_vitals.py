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

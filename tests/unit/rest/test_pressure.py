"""Who is named as the cause of back pressure."""

from __future__ import annotations

from dataclasses import replace

from tests.unit.rest.fake_job import FakeJob

from penstock.control.job_control import OperatorDescription, SubtaskDescription
from penstock.control.job_record import InputDescription
from penstock.rest import pressure


def test_the_cause_is_behind_the_task_that_waits_and_not_in_it() -> None:
    """A task waits for others only while it does not work itself, however much one of its operators works."""
    operators = (
        _operator("read", 0, busy=20, pressed=480),
        _operator("parse", 0, busy=470, pressed=480, after="read"),
        _operator("count", 1, busy=390, pressed=0, after="parse"),
        _operator("write", 1, busy=80, pressed=0, after="count"),
    )
    found = pressure.overview(replace(FakeJob().describe(), operators=operators))
    assert found["cause"] is not None
    assert found["cause"]["text"] == "count is busy 39 % of the time and slows down read and parse"
    assert [vertex["cause"] for vertex in found["vertices"]] == ["count", "count", None, None]


def _operator(uid: str, level: int, busy: int, pressed: int, after: str | None = None) -> OperatorDescription:
    metrics: dict[str, float] = {
        "busyTimeMsPerSecond": busy,
        "backPressuredTimeMsPerSecond": pressed,
        "idleTimeMsPerSecond": 1000 - busy - pressed,
    }
    inputs = () if after is None else (InputDescription(after, 0, "HASH", True),)
    return OperatorDescription(
        uid, uid, "map", 1, level, 100, inputs=inputs, subtasks=(SubtaskDescription(0, metrics=metrics),)
    )

"""How long sources are held up by epochs that are under way."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from penstock.control.epoch_store import EpochRecord
from penstock.control.work import Place
from penstock.engines.resident.epochs import IN_FLIGHT, Epochs
from penstock.engines.resident.messages import Reported
from penstock.runtime.blueprint import JobBlueprint, JobSettings
from penstock.runtime.report import SubtaskReport

PLACE: Place = (0, 0)


class Sources:
    """Have something to read as long as a test says so."""

    sources: dict[str, Any] = {}
    more = True

    def __init__(self) -> None:
        self.number = 0

    def initial_offset(self) -> dict[str, Any]:
        return {}

    def wake_all(self) -> None: ...

    def answer_wakeups(self) -> None: ...

    def idle_wait(self) -> float:
        return 1.0

    def look(self, offset: Any) -> dict[str, Any] | None:
        return {} if self.more else None

    def plan(self, start: Any, end: Any) -> Any:
        self.number += 1
        return SimpleNamespace(number=self.number)

    def works(self, plan: Any, latest: Any) -> list[Any]:
        return []


class Running:
    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("penstock.engines.resident.epochs.read_report", lambda report: report)
        monkeypatch.setattr("penstock.engines.resident.epochs.places_of", lambda blueprint: [PLACE])
        self.now, self.held_up, self.planner = 0.0, [], Sources()
        completion = SimpleNamespace(
            store=SimpleNamespace(latest=EpochRecord(0)),
            ended=False,
            held_up=self.held_up.append,
            complete=lambda plan, reports: None,
            publish=lambda: None,
        )
        job: Any = SimpleNamespace(
            blueprint=JobBlueprint(JobSettings("job", "job"), (), (), 1, 1),
            planner=self.planner,
            completion=completion,
            fence=lambda: None,
        )
        self.epochs = Epochs(job, 0.0, 600.0, clock=lambda: self.now)

    def complete(self, number: int) -> None:
        report: Any = SubtaskReport(*PLACE)
        assert self.epochs.report(Reported(0, number, PLACE, report))


def test_the_time_without_room_counts_if_there_was_something_to_read(monkeypatch: pytest.MonkeyPatch) -> None:
    running = Running(monkeypatch)
    assert running.epochs.plan(0) is not None
    running.complete(1)  # how long an epoch takes is known now
    for _ in range(IN_FLIGHT):
        assert running.epochs.plan(0) is not None
    assert running.epochs.plan(0) is None and sum(running.held_up) == 0
    running.now = 4.0
    running.complete(2)
    assert running.epochs.plan(0) is None, "of long epochs fewer are under way"
    running.now = 5.0
    running.complete(3)
    assert running.epochs.plan(0) is not None
    assert sum(running.held_up) == 5.0
    running.now = 7.0
    running.complete(4)
    running.planner.more = False
    told = len(running.held_up)
    assert running.epochs.plan(0) is None
    assert running.held_up[told:] == [0.0], "else the sources would still count as held up as before"
    running.now, running.planner.more = 9.0, True
    running.epochs.look_soon()
    assert running.epochs.plan(0) is not None
    assert sum(running.held_up) == 5.0, "the source had nothing more: nobody held it up"


def test_an_epoch_is_late_only_as_far_as_somebody_has_listened(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its report may have come while the driver was busy with a commit that took long."""
    running = Running(monkeypatch)
    assert running.epochs.plan(0) is not None
    running.now = 700.0
    assert running.epochs.overdue(listened_at=1.0) is None
    assert running.epochs.overdue(listened_at=700.0) == (1, [PLACE])

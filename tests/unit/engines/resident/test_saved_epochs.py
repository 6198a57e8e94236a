"""Nothing is planned while a savepoint is under way: the job may stop with it. No task runs here."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from penstock.control.work import EpochPlan, Work
from penstock.engines.resident.epochs import Epochs
from penstock.engines.resident.messages import Reported
from penstock.runtime.blueprint import JobBlueprint, JobSettings
from penstock.runtime.epoch_note import NOTHING_WANTED, EpochNote
from penstock.runtime.report import SubtaskReport, report_row
from penstock.runtime.snapshot_target import SnapshotKind, SnapshotTarget

PLACE = (0, 0)


class Job:
    """An endless source; the epoch `saved` ends in a savepoint."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, saved: int) -> None:
        monkeypatch.setattr("penstock.engines.resident.epochs.places_of", lambda blueprint: [PLACE])
        self.saved = saved
        self.blueprint = JobBlueprint(JobSettings("job", "job"), (), (), 1, 1)
        latest = SimpleNamespace(offset={"epoch": 0}, commit_number=0)
        self.completion = SimpleNamespace(
            store=SimpleNamespace(latest=latest),
            ended=False,
            held_up=lambda seconds: None,
            complete=lambda plan, reports: None,
            publish=lambda: None,
        )
        self.planner = SimpleNamespace(
            sources={},
            wake_all=lambda: None,
            look=lambda offset: {"epoch": offset["epoch"] + 1},
            plan=lambda start, end: EpochPlan(start, end, 0.0),
            works=self._works,
            answer_wakeups=lambda: None,
        )
        self.now = 0.0
        self.epochs = Epochs(self, 0.0, 60.0, lambda: self.now)  # type: ignore[arg-type]
        self.epochs.begin()

    def fence(self) -> None:
        pass

    def _works(self, plan: EpochPlan, latest: Any) -> list[Work]:
        note = (
            EpochNote(SnapshotTarget(SnapshotKind.SAVEPOINT, "/savepoint"))
            if plan.number == self.saved
            else NOTHING_WANTED
        )
        return [SimpleNamespace(subtask=0, assignments={}, note=note)]  # type: ignore[list-item]

    def plan(self) -> int | None:
        """As the engine does, some time after the last look."""
        self.now += 0.01
        message = self.epochs.plan(1)
        return None if message is None else message.epoch

    def report(self, epoch: int) -> bool:
        return self.epochs.report(Reported(1, epoch, PLACE, report_row(SubtaskReport(*PLACE)).payload))


def test_no_epoch_begins_before_the_one_that_is_saved_is_complete(monkeypatch: pytest.MonkeyPatch) -> None:
    job = Job(monkeypatch, saved=3)
    assert job.plan() == 1 and job.report(1)
    assert [job.plan(), job.plan()] == [2, 3]
    assert job.plan() is None
    assert job.report(2)
    assert job.plan() is None, "the epoch before the saved one says nothing about it"
    assert job.report(3)
    assert job.plan() == 4

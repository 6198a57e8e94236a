"""Planning does not wait for completion: what an engine with several epochs under way relies on."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.control.recording_sink import RecordingSink
from tests.unit.runtime.blueprints import chained, job, operator

from penstock.connectors.collection import CollectionSource
from penstock.control.checkpoints import CheckpointSettings
from penstock.control.committing import Committing
from penstock.control.epoch_completion import EpochCompletion
from penstock.control.epoch_planner import EpochPlanner
from penstock.control.epoch_size import EpochSizer
from penstock.control.epoch_store import EpochRecord, EpochStore
from penstock.control.job_machine import AllFinished, JobEvent
from penstock.control.savepoints import SavepointRequest
from penstock.control.snapshot_keeper import SnapshotKeeper
from penstock.control.snapshot_machine import Pacing
from penstock.control.statistics import JobStatistics
from penstock.control.wakeups import Wakeups
from penstock.control.work import EpochPlan
from penstock.runtime.pickling import loads
from penstock.runtime.report import SubtaskReport
from penstock.runtime.saved_parts import write_part
from penstock.runtime.sources.base import SourcePlanner

SOURCE, SINK = 1, 2


class Job:
    """Reads ten numbers, one in each epoch."""

    def __init__(self, directory: Path) -> None:
        sink = RecordingSink()
        plan = job([operator(SOURCE, "source"), operator(SINK, "sink", sink, sink=True)], [chained(0, SOURCE, SINK)])
        sources: dict[int, SourcePlanner] = {SOURCE: CollectionSource(list(range(10)))}
        self._sink = sink
        self.told: list[JobEvent] = []
        self.store = EpochStore(directory / "epochs")
        self.snapshots = SnapshotKeeper(plan, CheckpointSettings(Pacing(), directory / "c"), lambda: 0)
        wakeups = Wakeups(lambda: 0)
        self.planner = EpochPlanner(plan, sources, EpochSizer(1, 1, 1000), self.snapshots, wakeups, lambda: 0)
        self.completion = EpochCompletion(
            plan, self.planner.sources, self.store, self.snapshots, wakeups, JobStatistics(plan, sources),
            lambda records, ms, busy_ms, backlog: None, Committing(plan), self.told.append,
        )  # fmt: skip
        self.end = self.planner.initial_offset()

    @property
    def published(self) -> list[int]:
        return [number for _, numbers in self._sink.committed for number in numbers]

    def plan(self) -> EpochPlan:
        start, self.end = self.end, self.planner.next_offset(self.end)
        return self.planner.plan(start, self.end)

    def complete(self, plan: EpochPlan, finished: bool = False) -> None:
        report = SubtaskReport(0, 0, committables={SINK: [plan.number]}, finished=finished)
        saving = self.snapshots.saving(plan.number)
        if saving is not None:
            report.savepoint_part = write_part(saving.target.directory, 0, 0, [])
        self.completion.complete(plan, [report])
        self.completion.publish()


@pytest.fixture
def running(tmp_path: Path) -> Job:
    return Job(tmp_path)


def test_epochs_are_planned_ahead_and_completed_in_their_order(running: Job) -> None:
    plans = [running.plan() for _ in range(3)]
    works = [running.planner.works(plan, EpochRecord(0)) for plan in plans]
    assert [loads(work[0].assignments[SOURCE].work) for work in works] == [[0], [1], [2]]
    for plan in plans:
        running.complete(plan)
    assert running.published == [1, 2, 3] and running.store.latest.offset == plans[-1].end


def test_one_epoch_among_several_is_saved(running: Job, tmp_path: Path) -> None:
    before = running.plan()
    request = SavepointRequest(str(tmp_path / "s"))
    running.snapshots.request(request)
    saved, after = running.plan(), running.plan()
    assert [running.snapshots.saving(plan.number) is not None for plan in (before, saved, after)] == [
        False,
        True,
        False,
    ]
    running.complete(before)
    assert not request.path.done(), "the epoch before is not the one that is saved"
    running.complete(saved)
    assert (Path(request.path.result(0)) / "_metadata").exists()
    running.complete(after)
    assert running.published == [1, 2, 3]


def test_a_second_savepoint_waits_until_the_first_is_complete(running: Job, tmp_path: Path) -> None:
    requests = [SavepointRequest(str(tmp_path / name)) for name in "ab"]
    for request in requests:
        running.snapshots.request(request)
    first, second = running.plan(), running.plan()
    assert running.snapshots.saving(first.number) and not running.snapshots.saving(second.number)
    running.complete(first)
    running.complete(second)
    assert [request.path.done() for request in requests] == [True, False]
    running.complete(running.plan())
    assert requests[1].path.done()


def test_the_end_is_told_once(running: Job) -> None:
    plans = [running.plan(), running.plan()]
    running.complete(plans[0], finished=True)
    running.complete(plans[1])
    assert running.told == [AllFinished()]

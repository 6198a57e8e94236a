"""Epochs are planned and completed without Spark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.unit.control.recording_sink import RecordingSink
from tests.unit.runtime.blueprints import chained, job, operator

from penstock.common.errors import JobExecutionError
from penstock.common.failure import Failure
from penstock.common.job_status import JobStatus
from penstock.connectors.collection import CollectionSource
from penstock.control.checkpoints import CheckpointSettings
from penstock.control.committing import Committing
from penstock.control.epoch_completion import EpochCompletion
from penstock.control.epoch_planner import EpochPlanner
from penstock.control.epoch_size import EpochSizer
from penstock.control.epoch_store import EpochRecord, EpochStore
from penstock.control.job_machine import AllFinished, JobEvent
from penstock.control.micro_batches import MicroBatches
from penstock.control.snapshot_keeper import SnapshotKeeper
from penstock.control.snapshot_machine import Pacing
from penstock.control.statistics import JobStatistics
from penstock.control.wakeups import Wakeups
from penstock.runtime.report import SubtaskReport
from penstock.runtime.sources.base import SourcePlanner
from penstock.runtime.state_log import Token
from penstock.runtime.summons import Summons

SOURCE, SINK = 1, 2


class Setup:
    """A source of five numbers and a sink, both in level 0."""

    def __init__(self, tmp_path: Path, budget: int = 2, levels: int = 1, sinks: int = 1) -> None:
        self.now = 0
        self.sinks = [RecordingSink() for _ in range(sinks)]
        self.committed = self.sinks[0].committed
        self.store = EpochStore(tmp_path)
        plan = job(
            [
                operator(SOURCE, "source"),
                *(operator(SINK + i, "sink", sink, sink=True, level=levels - 1) for i, sink in enumerate(self.sinks)),
            ],
            [chained(0, SOURCE, SINK)],
        )
        self.told: list[JobEvent] = []
        sources: dict[int, SourcePlanner] = {SOURCE: CollectionSource([1, 2, 3, 4, 5])}
        sizer, wakeups = EpochSizer(budget, budget, 1000), Wakeups(self.clock)
        settings = CheckpointSettings(Pacing(), tmp_path / "checkpoints")
        self.snapshots = SnapshotKeeper(plan, settings, self.clock)
        planner = EpochPlanner(plan, sources, sizer, self.snapshots, wakeups, self.clock)
        self.statistics = JobStatistics(plan, sources)
        self.completion = EpochCompletion(
            plan,
            planner.sources,
            self.store,
            self.snapshots,
            wakeups,
            self.statistics,
            sizer.observe,
            Committing(plan),
            self.told.append,
        )
        self.batches = MicroBatches(planner, self.completion, lambda: None, self.told.append)
        self.offset = self.batches.initial_offset()

    def clock(self) -> int:
        return self.now

    def plan(self) -> dict[str, Any]:
        self.end = self.batches.latest_offset(self.offset)
        return self.end

    def run(self, **facts: Any) -> None:
        self.plan()
        self.batches.partitions(self.offset, self.end)
        self.batches.complete([SubtaskReport(0, 0, **facts)])
        self.offset = self.end


@pytest.fixture
def setup(tmp_path: Path) -> Setup:
    return Setup(tmp_path)


def test_epochs_follow_the_budget_until_the_source_is_exhausted(setup: Setup) -> None:
    ends = []
    for _ in range(3):
        setup.run()
        ends += setup.offset["positions"].values()
    assert ends == [[2, False], [4, False], [5, True]]
    assert setup.offset["epoch"] == 3


def test_planning_twice_without_completion_gives_the_same(setup: Setup) -> None:
    assert setup.plan() == setup.plan()
    first = setup.batches.partitions(setup.offset, setup.end)
    assert setup.batches.partitions(setup.offset, setup.end) == first


def test_nothing_new_is_the_same_offset(setup: Setup) -> None:
    for _ in range(3):
        setup.run()
    assert setup.batches.latest_offset(setup.offset) == setup.offset


def test_last_assignment_is_final(setup: Setup) -> None:
    finals = []
    for _ in range(3):
        setup.plan()
        [work] = setup.batches.partitions(setup.offset, setup.end)
        finals.append(work.assignments[SOURCE].final)
        setup.batches.complete([SubtaskReport(0, 0)])
        setup.offset = setup.end
    assert finals == [False, False, True]


def test_results_are_committed_once_when_the_epoch_is_in_the_log(setup: Setup) -> None:
    setup.run(committables={SINK: ["a", "b"]})
    assert setup.committed == [], "Spark has not written its commit log yet"
    setup.plan()
    setup.plan()
    assert setup.committed == [(1, ["a", "b"])]


def test_job_is_finished_when_all_subtasks_are(setup: Setup) -> None:
    setup.run()
    setup.run()
    setup.run(finished=True)
    setup.plan()
    assert setup.told == [AllFinished()]


def test_failure_of_a_subtask_fails_the_job_and_nothing_is_committed(setup: Setup) -> None:
    setup.plan()
    setup.batches.partitions(setup.offset, setup.end)
    reports = [
        SubtaskReport(0, 0, committables={SINK: ["a"]}),
        SubtaskReport(0, 1, failure=Failure("ValueError", "the story")),
    ]
    with pytest.raises(JobExecutionError, match="the story"):
        setup.batches.complete(reports)
    setup.batches.latest_offset(setup.offset)
    assert setup.committed == []


def test_output_of_functions_appears_in_the_order_of_subtasks(setup: Setup, capsys: pytest.CaptureFixture[str]) -> None:
    setup.plan()
    setup.batches.partitions(setup.offset, setup.end)
    setup.batches.complete([SubtaskReport(1, 0, stdout="later\n"), SubtaskReport(0, 0, stdout="first\n", stderr="e\n")])
    setup.batches.latest_offset(setup.end)
    printed = capsys.readouterr()
    assert printed.out == "first\nlater\n"
    assert printed.err == "e\n"


def test_snapshot_of_level_zero_comes_back_with_the_next_epoch(setup: Setup) -> None:
    snapshot = (Token(1, "t"), b"state")
    setup.run(delta=snapshot)
    setup.plan()
    [work] = setup.batches.partitions(setup.offset, setup.end)
    assert work.snapshot == snapshot


def test_a_timer_wakes_the_subtask_when_it_is_due(tmp_path: Path) -> None:
    setup = Setup(tmp_path, budget=10)
    setup.run(next_processing_time=500)
    assert setup.plan() == setup.offset
    setup.now = 500
    assert setup.plan()["epoch"] == setup.offset["epoch"] + 1
    [work] = setup.batches.partitions(setup.offset, setup.end)
    assert (work.subtask, work.assignments) == (0, {})


def test_a_timer_of_another_level_is_a_wakeup(tmp_path: Path) -> None:
    setup = Setup(tmp_path, budget=10, levels=2)
    setup.plan()
    setup.batches.partitions(setup.offset, setup.end)
    setup.batches.complete([SubtaskReport(0, 0), SubtaskReport(1, 0, next_processing_time=500)])
    setup.offset, setup.now = setup.end, 500
    setup.plan()
    works = setup.batches.partitions(setup.offset, setup.end)
    assert [(work.subtask, work.summons) for work in works] == [(None, (((1, 0), Summons(committed=1)),))]


def test_statistics_count_what_completed_epochs_read_and_wrote(setup: Setup) -> None:
    setup.run(records_in={SOURCE: 2, SINK: 1}, watermarks={SINK: 40})
    setup.run(records_in={SOURCE: 2, SINK: 3}, watermarks={SINK: 70})
    progress = setup.statistics.progress(JobStatus.RUNNING, now=100)
    assert (progress.epoch, progress.records_in, progress.records_out) == (2, 4, 4)
    assert progress.watermark_lag_ms == 30
    assert setup.statistics.records_by_operator == {SOURCE: 4, SINK: 4}


def test_no_lag_before_the_first_watermark(setup: Setup) -> None:
    assert setup.statistics.progress(JobStatus.RUNNING, 100).watermark_lag_ms is None


def test_epoch_store_keeps_recent_records_and_forgets_old_ones(tmp_path: Path) -> None:
    store = EpochStore(tmp_path / "epochs")
    assert store.get(0) == EpochRecord(0)
    for epoch in range(1, 31):
        store.put(EpochRecord(epoch, {0: (Token(epoch, "t"), b"x")}))
    assert store.get(29).snapshots[0][0].seq == 29
    assert len(list((tmp_path / "epochs").iterdir())) == 20


def test_an_epoch_that_spark_committed_before_it_failed_is_published_by_the_next_attempt(setup: Setup) -> None:
    setup.run(committables={SINK: ["a"]})
    setup.snapshots.give_up("the job failed and was started again")
    assert setup.committed == []
    setup.plan()
    assert setup.committed == [(1, ["a"])]


def test_an_epoch_that_is_computed_again_is_published_once(setup: Setup) -> None:
    start = setup.offset
    setup.run(committables={SINK: ["a"]})
    setup.snapshots.give_up("the job failed and was started again")
    setup.batches.partitions(start, setup.end)
    setup.batches.complete([SubtaskReport(0, 0, committables={SINK: ["again"]})])
    setup.plan()
    setup.plan()
    assert setup.committed == [(1, ["again"])]


def test_publishing_goes_on_where_it_failed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    setup = Setup(tmp_path, sinks=2)
    setup.run(committables={SINK: ["first"], SINK + 1: ["second"]}, stdout="printed\n")
    setup.sinks[1].failure = OSError("no space")
    with pytest.raises(OSError, match="no space"):
        setup.plan()
    setup.sinks[1].failure = None
    setup.snapshots.give_up("the job failed and was started again")
    setup.plan()
    assert [sink.committed for sink in setup.sinks] == [[(1, ["first"])], [(1, ["second"])]]
    assert capsys.readouterr().out == "printed\n"


def test_all_subtasks_of_an_epoch_are_committed_at_once_under_its_number(setup: Setup) -> None:
    for epoch in range(2):
        setup.plan()
        setup.batches.partitions(setup.offset, setup.end)
        reports = [SubtaskReport(0, subtask, committables={SINK: [(epoch, subtask)]}) for subtask in (1, 0)]
        setup.batches.complete(reports)
        setup.offset = setup.end
    setup.plan()
    assert setup.committed == [(1, [(0, 0), (0, 1)]), (2, [(1, 0), (1, 1)])]


def test_a_driver_that_comes_after_a_crash_commits_the_last_epoch_again_under_the_same_number(tmp_path: Path) -> None:
    first = Setup(tmp_path)
    first.run(committables={SINK: ["a"]})
    first.run(committables={SINK: ["b"]})
    second = Setup(tmp_path)
    second.offset = first.offset
    second.plan()
    second.plan()
    assert first.committed == [(1, ["a"])]
    assert second.committed == [(2, ["b"])]


def test_state_that_is_not_that_of_the_epoch_before_is_never_used(tmp_path: Path) -> None:
    setup = Setup(tmp_path, levels=2)

    def epoch(began_with: str | None, made: str) -> None:
        setup.plan()
        setup.batches.partitions(setup.offset, setup.end)
        setup.batches.complete([SubtaskReport(0, 0), SubtaskReport(1, 0, snapshots=(began_with, made))])

    epoch(None, "a")
    setup.offset = setup.end
    epoch("a", "b")
    # The epoch is computed, but Spark does not commit it, and computes it again.
    epoch("a", "c")
    setup.offset = setup.end
    with pytest.raises(JobExecutionError, match="subtask 0 of level 1 is not what epoch 2 has left"):
        epoch("b", "d")
    assert setup.store.latest.epoch == 2
    epoch("c", "d")

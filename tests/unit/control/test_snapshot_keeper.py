"""Whoever waits for a snapshot hears of its end, whatever happens to the job."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.unit.runtime.blueprints import chained, job, operator

from penstock.common.errors import JobExecutionError
from penstock.common.job_status import JobStatus
from penstock.connectors.collecting import CollectSink
from penstock.control.checkpoints import CheckpointSettings
from penstock.control.epoch_store import Totals
from penstock.control.savepoints import SavepointRequest
from penstock.control.snapshot_keeper import SnapshotKeeper
from penstock.control.snapshot_machine import Pacing
from penstock.control.work import Offset
from penstock.runtime.report import SubtaskReport
from penstock.runtime.saved_parts import write_part

END: Offset = {"epoch": 1, "positions": {}}


class Kept:
    """A keeper of a job with one subtask, and its clock."""

    def __init__(self, directory: Path, **pacing: Any) -> None:
        self.now = 0
        self.directory = directory
        plan = job([operator(1, "source"), operator(2, "sink", CollectSink(), sink=True)], [chained(0, 1, 2)])
        self.settings = CheckpointSettings(
            Pacing(**{"interval_ms": 1000, "timeout_ms": 500, **pacing}),
            directory / "checkpoints",
            history_file=directory / "history.json",
        )
        self.keeper = SnapshotKeeper(plan, self.settings, lambda: self.now)

    def plan(self) -> bool:
        wanted = self.keeper.wants_epoch(END["epoch"])
        if wanted:
            self.keeper.begin(END)
        return wanted

    def commit(self) -> None:
        saving, report = self.keeper.saving(END["epoch"]), SubtaskReport(0, 0)
        if saving is not None:
            report.savepoint_part = write_part(saving.target.directory, 0, 0, [])
        self.keeper.finish(END["epoch"], [report], {}, Totals())

    def checkpoints(self) -> list[str]:
        directory = self.directory / "checkpoints"
        return sorted(path.name for path in directory.iterdir()) if directory.exists() else []


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    return Kept(tmp_path, tolerable_failures=1)


def test_a_requested_checkpoint_gets_the_next_number(kept: Kept) -> None:
    request = kept.keeper.request_checkpoint()
    assert request is not None and kept.plan()
    kept.commit()
    assert request.path.result(0) == str(kept.directory / "checkpoints" / "chk-1")
    assert not kept.plan(), "the interval begins anew"


def test_numbers_go_on_in_the_next_process_even_if_the_files_are_gone(kept: Kept) -> None:
    kept.now = 1000
    kept.plan()
    kept.commit()
    Path(kept.settings.directory).rename(kept.directory / "elsewhere")
    again = Kept(kept.directory)
    again.now = 1000
    again.plan()
    again.commit()
    assert again.checkpoints() == ["chk-2"]


def test_a_job_without_an_interval_takes_savepoints_only(tmp_path: Path) -> None:
    kept = Kept(tmp_path, interval_ms=None)
    assert kept.keeper.request_checkpoint() is None
    request = SavepointRequest(str(tmp_path / "s"), stop=True)
    kept.keeper.request(request)
    assert kept.plan()
    kept.commit()
    assert Path(request.path.result(0)).parent == tmp_path / "s"
    assert kept.keeper.wants_stop
    assert kept.keeper.describe().last_savepoint == request.path.result(0)


def test_whoever_waits_hears_of_a_timeout_while_the_epoch_still_runs(kept: Kept) -> None:
    request = kept.keeper.request_checkpoint()
    assert request is not None and kept.plan()
    kept.now = 499
    assert kept.keeper.tick() is None and not request.path.done()
    kept.now = 500
    assert kept.keeper.tick() is None
    with pytest.raises(JobExecutionError, match="no checkpoint was taken: it took longer than 500 ms"):
        request.path.result(0)
    kept.commit()
    assert kept.checkpoints() == [], "late parts are removed"


def test_a_timeout_that_is_not_tolerated_is_told_once_to_the_watcher(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    kept.now = 1000
    kept.plan()
    kept.now = 1500
    assert "checkpoint 1 failed" in str(kept.keeper.tick())
    assert kept.keeper.tick() is None
    kept.keeper.give_up("the job failed")
    kept.now = 2000
    assert kept.plan()
    kept.commit()
    assert kept.checkpoints() == ["chk-2"]


def test_all_requests_end_when_the_job_fails(kept: Kept) -> None:
    requests = [kept.keeper.request_checkpoint(), SavepointRequest(str(kept.directory))]
    assert requests[1] is not None
    kept.keeper.request(requests[1])
    kept.plan()
    kept.keeper.give_up("a worker was lost")
    for request in requests:
        assert request is not None
        with pytest.raises(JobExecutionError, match="a worker was lost"):
            request.path.result(0)
    assert kept.keeper.saving(1) is None and not kept.plan()


def test_nobody_waits_for_a_job_that_has_ended(kept: Kept) -> None:
    waiting = kept.keeper.request_checkpoint()
    kept.keeper.end(JobStatus.CANCELED)
    late = kept.keeper.request_checkpoint()
    assert waiting is not None and late is not None
    for request in (waiting, late):
        with pytest.raises(JobExecutionError, match="has ended"):
            request.path.result(0)


@pytest.mark.parametrize("kept_after", [{JobStatus.FAILED}, {JobStatus.FAILED, JobStatus.CANCELED}])
@pytest.mark.parametrize("end", [JobStatus.FINISHED, JobStatus.CANCELED, JobStatus.FAILED])
def test_which_ends_leave_checkpoints(kept_after: set[JobStatus], end: JobStatus, tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    settings = CheckpointSettings(kept.settings.pacing, kept.settings.directory, kept_after=frozenset(kept_after))
    kept.keeper = SnapshotKeeper(kept.keeper._job, settings, lambda: kept.now)
    kept.now = 1000
    kept.plan()
    kept.commit()
    kept.keeper.end(end)
    assert kept.checkpoints() == (["chk-1"] if end in kept_after else [])

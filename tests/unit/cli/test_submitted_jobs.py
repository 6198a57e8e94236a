"""Jobs of the manager that have no driver yet, or never had one, are seen and can be named on the command line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from penstock.cli.main import main
from penstock.common.job_status import JobStatus
from penstock.control.finished_jobs import FinishedJobs, FinishedRecord
from penstock.manager.job_entry import EntryState, EntryStore, JobEntry, LaunchPlan

WAITING, FAILED = "ab" * 16, "cd" * 16
HOUR = 3_600_000


@pytest.fixture(autouse=True)
def entries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> EntryStore:
    monkeypatch.setenv("PENSTOCK_HOME", str(tmp_path))
    store = EntryStore(tmp_path / "manager" / "jobs")
    launch = LaunchPlan("/programs/views.py", "/programs", parallelism=3)
    failed = JobEntry(FAILED, launch, HOUR, EntryState.ENDED, outcome=JobStatus.FAILED, failure="No module named 'x'")
    for entry in (JobEntry(WAITING, launch, HOUR), failed):
        store.put(entry)
    return store


def test_a_job_that_waits_is_listed_with_what_it_waits_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0
    printed = capsys.readouterr().out
    assert f"{WAITING} waits: no manager runs that could start it: `penstock cluster start`" in printed
    assert FAILED not in printed
    assert main(["info", WAITING[:6]]) == 0
    assert "no manager runs that could start it" in capsys.readouterr().out


def test_a_program_that_failed_before_its_job_began_is_among_those_that_ended(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for words in (["list", "--all"], ["history"]):
        assert main(words) == 0
        assert FAILED in capsys.readouterr().out
    for words in (["info", "cd"], ["history", "cd"]):
        assert main(words) == 0
        assert "No module named 'x'" in capsys.readouterr().out


@pytest.mark.parametrize("verb", ["savepoint", "stop", "checkpoint"])
def test_what_needs_a_driver_says_that_there_is_none_yet(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([verb, WAITING]) == 1
    assert f"the job {WAITING} has not started yet: no manager runs" in capsys.readouterr().err
    assert main([verb, FAILED]) == 1
    assert f"the job {FAILED} has ended (FAILED)" in capsys.readouterr().err


def test_a_job_whose_driver_recorded_its_end_does_not_wait_for_a_manager_to_notice(
    entries: EntryStore, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    entry = JobEntry(WAITING, LaunchPlan("/p.py", "/"), HOUR, EntryState.RUNNING, starts=1, started_at=HOUR)
    entries.put(entry)
    FinishedJobs(tmp_path).put(
        FinishedRecord(
            job_id=WAITING,
            name="views",
            parallelism=3,
            levels=1,
            operators=(),
            state=JobStatus.FINISHED,
            started_at=HOUR,
            ended_at=HOUR + 7,
            duration_ms=7,
        )  # fmt: skip
    )
    assert main(["list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"jobs": []}


def test_a_reader_that_has_seen_enough_gets_no_traceback() -> None:
    command = f"{sys.executable} -m penstock.cli.main list --all --json | true"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True)
    assert done.stderr == ""

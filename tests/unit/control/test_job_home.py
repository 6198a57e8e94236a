"""A job's directory: one owner at a time, and gone at once when it is removed."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from penstock.common.errors import ConfigurationError, JobExecutionError, JobTakenOverError
from penstock.control.job_home import JobHome, penstock_home
from penstock.control.job_record import JobRecord

RECORD = JobRecord(job_id="a", name="x", parallelism=1, levels=1)


def test_a_second_owner_is_told_who_the_first_is(tmp_path: Path) -> None:
    first, second = JobHome(tmp_path, "a"), JobHome(tmp_path, "a")
    first.acquire()
    with pytest.raises(JobExecutionError, match=f"process {os.getpid()} on {socket.gethostname()}"):
        second.acquire()
    first.release()
    second.acquire()


def test_an_interrupted_removal_leaves_nothing_to_go_on_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = JobHome(tmp_path, "a")
    home.acquire()
    home.write_record(RECORD)
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "rmtree", lambda *arguments, **options: None)  # as if killed before it
        home.remove()
    assert not home.path.exists()
    assert JobHome(tmp_path, "a").read_record() is None
    JobHome(tmp_path, "b").remove()
    assert not (tmp_path / "removed").exists(), "the next removal cleans up"


HOLDER = """
import sys
from pathlib import Path
from penstock.control.job_home import JobHome
from penstock.control.job_record import JobRecord

RECORD = JobRecord(job_id="a", name="x", parallelism=1, levels=1)
home = JobHome(Path(sys.argv[1]), "a")
home.acquire()
print("owner", flush=True)
sys.stdin.read()
"""


def test_a_stopped_owner_is_the_owner_until_it_dies(tmp_path: Path) -> None:
    first = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert first.stdout is not None and first.stdout.readline() == "owner\n"
        os.kill(first.pid, signal.SIGSTOP)
        with pytest.raises(JobExecutionError, match=f"process {first.pid} on {socket.gethostname()}.*--take-over"):
            JobHome(tmp_path, "a").acquire()
    finally:
        first.kill()
        first.communicate()
    JobHome(tmp_path, "a").acquire()


def test_every_owner_has_a_directory_that_the_one_before_does_not_know(tmp_path: Path) -> None:
    first = JobHome(tmp_path, "a")
    first.acquire()
    first.epochs.mkdir()
    (first.epochs / "1").write_text("one")
    first.release()
    second = JobHome(tmp_path, "a")
    second.acquire()
    assert (second.epochs / "1").read_text() == "one"
    assert not first.run.exists()
    first.epochs.mkdir(parents=True)  # as a JVM does that wakes up late
    (first.epochs / "2").write_text("stale")
    second.release()
    third = JobHome(tmp_path, "a")
    third.acquire()
    assert [path.name for path in third.epochs.iterdir()] == ["1"]
    assert not first.run.exists(), "what was made again is removed"
    assert JobHome(tmp_path, "a").run == third.run


def test_an_owner_that_was_taken_over_finds_out_and_removes_nothing(tmp_path: Path) -> None:
    first, second = JobHome(tmp_path, "a"), JobHome(tmp_path, "a")
    first.acquire()
    first.check_owned()
    second.acquire(take_over=True)
    assert (first.owned(), second.owned()) == (False, True)
    with pytest.raises(JobTakenOverError, match=f"taken over by process {os.getpid()}"):
        first.check_owned()
    first.remove()
    assert second.run.is_dir() and second.owned()
    with pytest.raises(JobExecutionError, match="being run by"):
        JobHome(tmp_path, "a").acquire()
    second.remove()
    assert not second.path.exists()
    with pytest.raises(JobTakenOverError, match="which has ended it"):
        first.check_owned()


def test_a_record_without_a_run_is_no_job_to_go_on_with(tmp_path: Path) -> None:
    home = JobHome(tmp_path, "a")
    home.path.mkdir(parents=True)
    home.write_record(RECORD)
    with pytest.raises(JobExecutionError, match="incomplete"):
        home.acquire()
    assert not home.owned()


def test_the_home_is_a_directory(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert penstock_home("homes/mine") == tmp_path / "homes" / "mine", "executors have other working directories"
    assert penstock_home(f"file://{tmp_path}/x") == tmp_path / "x"
    with pytest.raises(ConfigurationError, match="is a directory.*'s3://bucket/home'.*penstock.resident.state-dir"):
        penstock_home("s3://bucket/home")

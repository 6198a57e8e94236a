"""A job's directory: one owner at a time, and gone at once when it is removed."""

from __future__ import annotations

import os
import shutil
import socket
from pathlib import Path

import pytest

from penstock.common.errors import JobExecutionError
from penstock.control.job_home import JobHome


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
    home.write_record({"name": "x"})
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "rmtree", lambda *arguments, **options: None)  # as if killed before it
        home.remove()
    assert not home.path.exists()
    assert JobHome(tmp_path, "a").read_record() is None
    JobHome(tmp_path, "b").remove()
    assert not (tmp_path / "removed").exists(), "the next removal cleans up"

"""One driver at a time: whoever lost the job to another process, and wakes up, changes nothing any more."""

from __future__ import annotations

import os
import signal
import socket
from pathlib import Path

import pytest
from tests.crash.killed_job import (
    KilledJob,
    members_of_session,
    signal_session,
    wait_for_last_process,
    wait_until_frozen,
)

pytestmark = pytest.mark.crash


@pytest.mark.parametrize("engine", ["micro-batch", "resident"])
def test_drivers_that_were_taken_over_commit_nothing(tmp_path: Path, engine: str) -> None:
    job = KilledJob(tmp_path, records=16_000, epoch_records=1_000, engine=engine)
    first = job.start("during-level:12:freeze")
    started = [first]
    try:
        wait_until_frozen(first)
        assert job.run() == 1
        assert f"being run by process {first.pid} on {socket.gethostname()}" in job.history[-1]
        # This one stops where it has found itself the owner, and has made visible only half of an epoch.
        second = job.start("during-commit:2:freeze", take_over=True)
        started.append(second)
        wait_until_frozen(second)
        third = job.start(take_over=True)
        started.append(third)
        job.wait_for_epoch(third)
        for stale in (first, second):
            signal_session(stale.pid, signal.SIGCONT)
        for stale in (first, second):
            assert job.wait(stale, "woken up") == 1
            by_process = "was taken over by process" in job.history[-1]
            # A resident job may be through before the drivers that it was taken from wake up.
            assert by_process or (engine == "resident" and "which has ended it" in job.history[-1])
        assert job.wait(third, "took over") == 0
        job.assert_complete()
        assert [wait_for_last_process(process.pid) for process in started] == [[], [], []]
    finally:
        for process in started:
            signal_session(process.pid, signal.SIGKILL)


def test_the_jvm_of_a_killed_driver_wakes_up_late(tmp_path: Path) -> None:
    job = KilledJob(tmp_path, records=12_000, epoch_records=1_000)
    first = job.start("during-level:12:freeze-jvm")
    try:
        wait_until_frozen(first, "java")
        os.kill(first.pid, signal.SIGKILL)
        job.wait(first, "driver killed, JVM frozen")
        assert "java" in {member.command for member in members_of_session(first.pid)}
        second = job.start()
        job.wait_for_epoch(second)
        signal_session(first.pid, signal.SIGCONT)
        assert job.wait(second, "undisturbed, it should be") == 0, job.story()
        job.assert_complete()
        assert wait_for_last_process(first.pid) == []
    finally:
        signal_session(first.pid, signal.SIGKILL)


def test_a_finished_job_does_not_run_again(tmp_path: Path) -> None:
    job = KilledJob(tmp_path, records=2_000, epoch_records=2_000)
    assert job.run("after-finished-record:1") == -signal.SIGKILL
    assert not job.finished, "its files were to be removed behind this point"
    job.assert_complete()
    assert job.run() == 0
    assert job.finished
    assert "does not run again" in job.history[-1]
    job.assert_complete()

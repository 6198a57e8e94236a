"""The attempts of a job outlive its processes."""

from __future__ import annotations

import json
from pathlib import Path

from penstock.common.failure import FailedTask, Failure
from penstock.control.attempts import AttemptHistory, AttemptState, read_attempts

WHY = Failure("ValueError", "no", "Traceback", FailedTask("Map", "u", 1, 2, "job.py", 3, "ds.map(f)"))


def history(run: Path, now: int) -> AttemptHistory:
    return AttemptHistory(run, clock=lambda: now)


def test_a_failed_and_a_lost_attempt(tmp_path: Path) -> None:
    first = history(tmp_path, 1)
    first.begin("process 1 on a", 0, "/s/1")
    assert first.number == 0
    first.end(AttemptState.FAILED, WHY)
    first.begin("process 1 on a", 3, None)
    second = history(tmp_path, 2)  # the process was killed
    second.begin("process 2 on b", 5, None)
    second.end(AttemptState.FINISHED)
    assert second.number == 2
    told = [(a.number, a.state.name, a.ended_at, a.from_epoch, a.from_savepoint) for a in second.entries()]
    assert told == [(0, "FAILED", 1, 0, "/s/1"), (1, "LOST", None, 3, None), (2, "FINISHED", 2, 5, None)]
    assert second.entries()[0].failure == WHY
    assert str(second.entries()[1].failure) == "the driver (process 1 on a) was lost"
    assert read_attempts(tmp_path) == second.entries()


def test_an_attempt_ends_once(tmp_path: Path) -> None:
    attempts = history(tmp_path, 1)
    attempts.begin(None, 0, None)
    attempts.end(AttemptState.FAILED, WHY)
    attempts.end(AttemptState.CANCELED)
    assert (attempts.entries()[0].state, attempts.entries()[0].failure) == (AttemptState.FAILED, WHY)


def test_numbers_go_on_when_old_attempts_are_forgotten(tmp_path: Path) -> None:
    attempts = history(tmp_path, 1)
    for _ in range(150):
        attempts.begin(None, 0, None)
        attempts.end(AttemptState.FAILED, WHY)
    assert attempts.number == 149
    assert [len(read_attempts(tmp_path)), read_attempts(tmp_path)[0].number] == [100, 50]


def test_failures_of_older_versions_were_text(tmp_path: Path) -> None:
    older = {"number": 0, "state": "FAILED", "started_at": 1, "ended_at": 2, "driver": None, "from_epoch": 0,
             "from_savepoint": None, "failure": "ValueError in operator 'Map'"}  # fmt: skip
    (tmp_path / "attempts.json").write_text(json.dumps([older]))
    assert str(read_attempts(tmp_path)[0].failure) == "ValueError in operator 'Map'"

"""The attempts of a job outlive its processes."""

from __future__ import annotations

from pathlib import Path

from penstock.control.attempts import AttemptHistory, read_attempts


def history(run: Path, now: int) -> AttemptHistory:
    return AttemptHistory(run, clock=lambda: now)


def test_a_failed_and_a_lost_attempt(tmp_path: Path) -> None:
    first = history(tmp_path, 1)
    first.begin("process 1 on a", 0, "/s/1")
    assert first.number == 0
    first.end("FAILED", "ValueError in operator 'Map'")
    first.begin("process 1 on a", 3, None)
    second = history(tmp_path, 2)  # the process was killed
    second.begin("process 2 on b", 5, None)
    second.end("FINISHED")
    assert second.number == 2
    told = [(a["number"], a["state"], a["ended_at"], a["from_epoch"], a["from_savepoint"]) for a in second.entries()]
    assert told == [(0, "FAILED", 1, 0, "/s/1"), (1, "LOST", None, 3, None), (2, "FINISHED", 2, 5, None)]
    assert second.entries()[1]["failure"] == "the driver (process 1 on a) was lost"
    assert read_attempts(tmp_path) == second.entries()


def test_an_attempt_ends_once(tmp_path: Path) -> None:
    attempts = history(tmp_path, 1)
    attempts.begin(None, 0, None)
    attempts.end("FAILED", "why")
    attempts.end("CANCELED")
    assert (attempts.entries()[0]["state"], attempts.entries()[0]["failure"]) == ("FAILED", "why")


def test_numbers_go_on_when_old_attempts_are_forgotten(tmp_path: Path) -> None:
    attempts = history(tmp_path, 1)
    for _ in range(150):
        attempts.begin(None, 0, None)
        attempts.end("FAILED", "why")
    assert attempts.number == 149
    assert [len(read_attempts(tmp_path)), read_attempts(tmp_path)[0]["number"]] == [100, 50]

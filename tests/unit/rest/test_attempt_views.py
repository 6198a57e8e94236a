"""Attempts in Flink's shape."""

from __future__ import annotations

from typing import Any

from penstock.rest.attempt_views import exception_history


def attempt(number: int, failure: str | None) -> dict[str, Any]:
    state = "RUNNING" if failure is None else "FAILED"
    return {"number": number, "state": state, "ended_at": number * 10, "driver": "process 7 on a", "failure": failure}


def test_the_newest_failure_comes_first_and_names_its_task() -> None:
    failure = "ValueError in operator 'parse prices' (subtask 2/4), created at job.py:3\n\nTraceback"
    job = {"attempts": [attempt(0, failure), attempt(1, "the driver (process 7 on a) was lost"), attempt(2, None)]}
    history = exception_history(job)["exceptionHistory"]
    assert history["truncated"] is False
    lost, failed = history["entries"]
    assert (lost["penstock"]["attempt"], lost["taskName"], lost["timestamp"]) == (1, None, 10)
    assert (failed["exceptionName"], failed["taskName"]) == ("ValueError", "parse prices (2/4)")
    assert failed["stacktrace"] == failure and failed["endpoint"] == "process 7 on a"


def test_a_long_history_is_cut() -> None:
    history = exception_history({"attempts": [attempt(n, "why") for n in range(20)]})["exceptionHistory"]
    assert (len(history["entries"]), history["entries"][0]["penstock"]["attempt"], history["truncated"]) == (
        16,
        19,
        True,
    )

"""Attempts in Flink's shape."""

from __future__ import annotations

from penstock.common.failure import FailedTask, Failure
from penstock.control.attempts import Attempt, AttemptState
from penstock.rest.exception_views import exception_history

IN_AN_OPERATOR = Failure(
    "ValueError", "no price", "Traceback", FailedTask("parse (prices) in 'x'", "u1", 1, 4, "job.py", 3)
)
LOST = Failure("JobExecutionError", "the driver (process 7 on a) was lost")


def attempt(number: int, failure: Failure | None) -> Attempt:
    state = AttemptState.RUNNING if failure is None else AttemptState.FAILED
    return Attempt(number, state, 0, number * 10, "process 7 on a", failure=failure)


def test_the_newest_failure_comes_first_and_names_its_task() -> None:
    attempts = [attempt(0, IN_AN_OPERATOR), attempt(1, LOST), attempt(2, None)]
    history = exception_history(attempts)["exceptionHistory"]
    assert history["truncated"] is False
    lost, failed = history["entries"]
    assert (lost["penstock"]["attempt"], lost["taskName"], lost["timestamp"]) == (1, None, 10)
    assert (failed["exceptionName"], failed["taskName"]) == ("ValueError", "parse (prices) in 'x' (2/4)")
    assert failed["stacktrace"] == str(IN_AN_OPERATOR) and failed["endpoint"] == "process 7 on a"


def test_a_long_history_is_cut() -> None:
    history = exception_history([attempt(n, LOST) for n in range(20)])["exceptionHistory"]
    assert (len(history["entries"]), history["entries"][0]["penstock"]["attempt"], history["truncated"]) == (
        16,
        19,
        True,
    )


def test_a_program_that_failed_before_its_job_has_no_attempts_and_is_shown_all_the_same() -> None:
    missing = Attempt(0, AttemptState.FAILED, 3, 9, failure=Failure("ModuleNotFoundError", "No module x", "Traceback"))
    [entry] = exception_history((), before=missing)["exceptionHistory"]["entries"]
    assert (entry["exceptionName"], entry["timestamp"]) == ("ModuleNotFoundError", 9)
    [lost] = exception_history([attempt(0, LOST)], before=missing)["exceptionHistory"]["entries"]
    assert lost["exceptionName"] == "JobExecutionError"

"""A job's attempts in the shape of Flink's exception history."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.common.failure import FailedTask, Failure
from penstock.control.attempts import Attempt

_MOST_ENTRIES = 16


def exception_history(attempts: Sequence[Attempt]) -> dict[str, Any]:
    """The newest first; a lost driver is an exception like any other, at a time that nobody knows."""
    failed = [(attempt, attempt.failure) for attempt in reversed(attempts) if attempt.failure is not None]
    return {
        "exceptionHistory": {
            "entries": [_entry(attempt, failure) for attempt, failure in failed[:_MOST_ENTRIES]],
            "truncated": len(failed) > _MOST_ENTRIES,
        }
    }


def _entry(attempt: Attempt, failure: Failure) -> dict[str, Any]:
    return {
        "exceptionName": failure.exception,
        "stacktrace": str(failure),
        "timestamp": attempt.ended_at,
        "taskName": None if failure.task is None else _task_name(failure.task),
        "endpoint": attempt.driver,
        "taskManagerId": None,
        "failureLabels": {},
        "concurrentExceptions": [],
        "penstock": {"attempt": attempt.number, "state": attempt.state.name},
    }


def _task_name(task: FailedTask) -> str:
    return f"{task.operator} ({task.subtask + 1}/{task.parallelism})"

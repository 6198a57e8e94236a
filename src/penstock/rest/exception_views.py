"""A job's attempts in the shape of Flink's exception history."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict

from penstock.common.failure import FailedTask, Failure
from penstock.control.attempts import Attempt

_MOST_ENTRIES = 16


class OwnException(TypedDict):
    attempt: int
    state: str
    operator: str | None
    file: str | None
    line: int | None
    message: str


class ExceptionEntry(TypedDict):
    exceptionName: str
    stacktrace: str
    timestamp: int | None
    taskName: str | None
    endpoint: str | None
    taskManagerId: str | None
    failureLabels: dict[str, str]
    concurrentExceptions: list[Any]
    penstock: OwnException


class ExceptionHistory(TypedDict):
    entries: list[ExceptionEntry]
    truncated: bool


class Exceptions(TypedDict):
    exceptionHistory: ExceptionHistory


def exception_history(
    attempts: Sequence[Attempt], most: int = _MOST_ENTRIES, before: Attempt | None = None
) -> Exceptions:
    """The newest first; a lost driver is an exception like any other, at a time that nobody knows.

    A program that failed before its job began has no attempts: `before` stands for it.
    """
    failed = [(attempt, attempt.failure) for attempt in reversed(attempts) if attempt.failure is not None]
    if not failed and before is not None and before.failure is not None:
        failed = [(before, before.failure)]
    return {
        "exceptionHistory": {
            "entries": [_entry(attempt, failure) for attempt, failure in failed[:most]],
            "truncated": len(failed) > most,
        }
    }


def _entry(attempt: Attempt, failure: Failure) -> ExceptionEntry:
    task = failure.task
    return {
        "exceptionName": failure.exception,
        "stacktrace": str(failure),
        "timestamp": attempt.ended_at,
        "taskName": None if failure.task is None else _task_name(failure.task),
        "endpoint": attempt.driver,
        "taskManagerId": None,
        "failureLabels": {},
        "concurrentExceptions": [],
        "penstock": {
            "attempt": attempt.number,
            "state": attempt.state.name,
            "operator": None if task is None else task.operator,
            "file": None if task is None else task.file,
            "line": None if task is None else task.line,
            "message": failure.message,
        },
    }


def _task_name(task: FailedTask) -> str:
    return f"{task.operator} ({task.subtask + 1}/{task.parallelism})"

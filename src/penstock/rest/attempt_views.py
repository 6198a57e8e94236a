"""A job's attempts in the shape of Flink's exception history."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_IN_OPERATOR = re.compile(r"(?P<name>\w+) in operator (?P<operator>'.*?'|\".*?\") \(subtask (?P<subtask>\d+/\d+)\)")
_MOST_ENTRIES = 16


def exception_history(job: Mapping[str, Any]) -> dict[str, Any]:
    """The newest first; a lost driver is an exception like any other, at a time that nobody knows."""
    failed = [attempt for attempt in reversed(job["attempts"]) if attempt["failure"] is not None]
    return {
        "exceptionHistory": {
            "entries": [_entry(attempt) for attempt in failed[:_MOST_ENTRIES]],
            "truncated": len(failed) > _MOST_ENTRIES,
        }
    }


def _entry(attempt: Mapping[str, Any]) -> dict[str, Any]:
    failure = attempt["failure"]
    where = _IN_OPERATOR.match(failure)
    return {
        "exceptionName": where["name"] if where else "JobExecutionError",
        "stacktrace": failure,
        "timestamp": attempt["ended_at"],
        "taskName": f"{where['operator'][1:-1]} ({where['subtask']})" if where else None,
        "endpoint": attempt["driver"],
        "taskManagerId": None,
        "failureLabels": {},
        "concurrentExceptions": [],
        "penstock": {"attempt": attempt["number"], "state": attempt["state"]},
    }

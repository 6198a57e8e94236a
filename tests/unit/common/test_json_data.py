"""Records become JSON and come back; what does not fit is refused instead of guessed."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import pytest

from penstock.common.failure import FailedTask, Failure
from penstock.common.job_status import JobStatus
from penstock.common.json_data import from_json, to_json


@dataclass(frozen=True)
class Part:
    name: str
    size: float = 0.0


@dataclass(frozen=True)
class Whole:
    number: int
    state: JobStatus
    parts: tuple[Part, ...] = ()
    first_part: Part | None = None
    settings: dict[str, int] = field(default_factory=dict)
    anything: Any = None


WHOLE = Whole(3, JobStatus.FAILED, (Part("a", 1.5), Part("b")), Part("a", 1.5), {"x": 1}, [1, {"y": None}])


def test_everything_comes_back() -> None:
    assert from_json(Whole, json.loads(json.dumps(to_json(WHOLE)))) == WHOLE


def test_what_is_missing_has_its_default_and_what_is_unknown_is_left_out() -> None:
    assert from_json(Whole, {"number": 1, "state": "RUNNING", "later": 2}) == Whole(1, JobStatus.RUNNING)


def test_names_of_older_records_have_spaces() -> None:
    read = from_json(Whole, {"number": 1, "state": "RUNNING", "first part": {"name": "a", "size": 2}})
    assert read.first_part == Part("a", 2)


@pytest.mark.parametrize(
    "data", [[], {}, {"number": "1", "state": "RUNNING"}, {"number": 1, "state": "AWAY"}, {"number": 1, "state": None}]
)
def test_what_does_not_fit_is_refused(data: Any) -> None:
    with pytest.raises((TypeError, KeyError, ValueError)):
        from_json(Whole, data)


def test_a_failure_tells_its_story() -> None:
    task = FailedTask("parse", "u1", 1, 4, "job.py", 12, "ds.map(parse)")
    failure = Failure("ValueError", "no price", "Traceback\n  ...\nValueError: no price", task)
    assert from_json(Failure, to_json(failure)) == failure
    assert str(failure) == (
        "ValueError in operator 'parse' (subtask 2/4), created at job.py:12\n    ds.map(parse)\n\n" + failure.traceback
    )
    assert str(Failure("JobExecutionError", "the driver was lost")) == "the driver was lost"

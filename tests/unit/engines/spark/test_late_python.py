"""A Python process of Spark's driver that starts too late on a busy machine does not fail the job."""

from __future__ import annotations

import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from penstock.common.errors import JobExecutionError
from penstock.common.failure import Failure
from penstock.engines.spark import engine as module
from penstock.engines.spark.engine import SparkEngine
from penstock.runtime.blueprint import JobBlueprint, JobSettings

LATE = "Python worker failed to connect back."


class Starts:
    """Stands for Spark: each start of the query gets the next fate."""

    def __init__(self, *fates: str | None) -> None:
        self.fates = list(fates)
        self.attempts: list[int] = []

    def start_query(self, session: Any, job: JobBlueprint, *_: Any) -> Any:
        self.attempts.append(job.settings.attempt)
        fate = self.fates.pop(0)
        if fate is not None and fate.startswith("raises "):
            raise JobExecutionError(fate.removeprefix("raises "))
        return SimpleNamespace(isActive=fate is None, fate=fate)


def engine_with(starts: Starts, monkeypatch: pytest.MonkeyPatch) -> SparkEngine:
    monkeypatch.setattr(module, "start_query", starts.start_query)
    monkeypatch.setattr(module, "has_died", lambda context: False)
    monkeypatch.setattr(module, "failure_of_query", lambda query: Failure("JobExecutionError", query.fate))
    engine = SparkEngine()
    private: Any = engine
    private._session = SimpleNamespace(sparkContext=None)
    private._client, private._frames = object(), {}
    private._planner = SimpleNamespace(forget=lambda: None, failure=None, complete=None, planning=threading.Event())
    private._job = SimpleNamespace(
        blueprint=JobBlueprint(JobSettings("job", "job"), (), (), 1, 1),
        home=SimpleNamespace(spark_checkpoint=Path("spark")),
        savepoint=None,
        news=threading.Event(),
    )
    return engine


def test_the_query_starts_again_within_the_attempt(monkeypatch: pytest.MonkeyPatch) -> None:
    starts = Starts(f"raises {LATE}", LATE, LATE, None)
    engine = engine_with(starts, monkeypatch)
    engine.start(3)
    assert [engine.watch(0) for _ in range(3)] == [None, None, None]
    assert starts.attempts == [3, 3, 3, 3]


def test_it_does_not_do_so_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    starts = Starts(*[LATE] * 9)
    engine = engine_with(starts, monkeypatch)
    engine.start(0)
    end = None
    while end is None:
        end = engine.watch(0)
    assert (len(starts.attempts), str(end.failure)) == (5, LATE)
    starts.fates = [f"raises {LATE}"] * 9
    with pytest.raises(JobExecutionError, match="connect back"):
        engine.start(1)


def test_other_failures_end_the_attempt_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = engine_with(Starts("no space left", "raises no such master"), monkeypatch)
    engine.start(0)
    end = engine.watch(0)
    assert end is not None and str(end.failure) == "no space left"
    with pytest.raises(JobExecutionError, match="no such master"):
        engine.start(1)

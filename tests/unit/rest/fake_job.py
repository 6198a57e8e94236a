"""A job without an engine, for the tests of the ways in."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from typing import Any

from penstock.common.job_status import JobStatus
from penstock.control.attempts import Attempt
from penstock.control.epoch_store import Totals
from penstock.control.job_control import (
    HotKey,
    JobControl,
    JobDescription,
    OperatorDescription,
    SampledStack,
    SubtaskDescription,
    WorkerDescription,
)
from penstock.control.job_record import InputDescription
from penstock.control.progress import JobProgress
from penstock.control.snapshot_history import HistoryEntry, SnapshotHistory, WrittenFacts
from penstock.control.state_questions import StateAnswer
from penstock.runtime.snapshot_target import SnapshotKind
from penstock.runtime.state_questions import StateEntry, StateFacts, StateQuestion

JOB_ID = "0123456789abcdef0123456789abcdef"


class FakeJob(JobControl):
    """Records what it is asked; its futures are settled by the test."""

    def __init__(self, job_id: str = JOB_ID) -> None:
        self.job_id = job_id
        self.state = JobStatus.RUNNING
        self.asked: list[tuple[Any, ...]] = []
        self.future: Future[str] = Future()
        self.refusal: Exception | None = None
        self.cancelled = threading.Event()
        self.history = SnapshotHistory()
        self.attempts: tuple[Attempt, ...] = ()
        self.configuration: dict[str, str] = {}
        self.job_parameters: dict[str, str] = {}

    def describe(self) -> JobDescription:
        return JobDescription(
            job_id=self.job_id,
            name="page views",
            parallelism=2,
            started_at=1_700_000_000_000,
            duration_ms=65_000,
            progress=JobProgress(self.state, 12, 1000, 40, 15.5, None),
            operators=(
                OperatorDescription(
                    "u1",
                    "Count",
                    "reduce",
                    2,
                    1,
                    records_in=1000,
                    inputs=(InputDescription("u0", 0, "HASH", True),),
                    subtasks=(
                        SubtaskDescription(
                            0,
                            "a:7",
                            5,
                            {"numRecordsIn": 600, "busyTimeMsPerSecond": 900, "backPressuredTimeMsPerSecond": 80},
                            (SampledStack(("run", "wait"), 3), SampledStack(("run",), 1)),
                            (HotKey("'tom'", 50),),
                            60,
                        ),
                        SubtaskDescription(1, "a:7", 5, {"numRecordsIn": 400}),
                    ),
                ),
            ),
            workers=(WorkerDescription("a:7", "a", 7, 1000, 2.5),),
            metrics={"uptime": 65_000},
            attempts=self.attempts,
            configuration=self.configuration,
            job_parameters=self.job_parameters,
            snapshots=self.history.describe(),
        )

    def add_savepoint(self, number: int, path: str, size: int) -> None:
        self.history.began(HistoryEntry(number, SnapshotKind.SAVEPOINT, trigger_ms=1_700_000_001_000, path=path))
        facts = WrittenFacts(number * 10, size, 2)
        self.history.completed(number, 1_700_000_001_005, facts, Totals(number * 1000, number * 7))

    def cancel(self) -> None:
        self.asked.append(("cancel",))
        self.cancelled.set()

    def savepoint(self, directory: str | None) -> Future[str]:
        return self._asked("savepoint", directory)

    def checkpoint(self) -> Future[str]:
        return self._asked("checkpoint")

    def stop(self, directory: str | None, drain: bool) -> Future[str]:
        return self._asked("stop", directory, drain)

    def look_at_state(self, question: StateQuestion) -> Future[StateAnswer]:
        self.asked.append(("state", question))
        facts = StateFacts("u1", "Count", "count", "value", "LONG", 1, 8)
        answer: Future[StateAnswer] = Future()
        answer.set_result(StateAnswer(12, (facts,), (StateEntry("tom", None, 7),)))
        return answer

    def _asked(self, *what: Any) -> Future[str]:
        if self.refusal is not None:
            raise self.refusal
        self.asked.append(what)
        return self.future

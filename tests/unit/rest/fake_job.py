"""A job without an engine, for the tests of the ways in."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from typing import Any

from penstock.control.epoch_store import Totals
from penstock.control.snapshot_history import HistoryEntry, SnapshotHistory
from penstock.runtime.snapshot_target import SnapshotKind

JOB_ID = "0123456789abcdef0123456789abcdef"


class FakeJob:
    """Records what it is asked; its futures are settled by the test."""

    def __init__(self, job_id: str = JOB_ID) -> None:
        self.job_id = job_id
        self.state = "RUNNING"
        self.asked: list[tuple[Any, ...]] = []
        self.future: Future[str] = Future()
        self.refusal: Exception | None = None
        self.cancelled = threading.Event()
        self.history = SnapshotHistory()
        self.attempts: list[dict[str, Any]] = []

    def describe(self) -> dict[str, Any]:
        return {
            "job_id": self.job_id,
            "name": "page views",
            "state": self.state,
            "started_at": 1_700_000_000_000,
            "duration_ms": 65_000,
            "epoch": 12,
            "records_in": 1000,
            "records_out": 40,
            "rate": 15.5,
            "watermark_lag_ms": None,
            "parallelism": 2,
            "operators": [
                {"uid": "u1", "name": "Count", "kind": "reduce", "parallelism": 2, "level": 1, "records_in": 1000}
            ],
            "restarts": 0,
            "attempts": self.attempts,
            "failure": None,
            "savepoints": [],
            "checkpoints": self.history.describe(),
        }

    def add_savepoint(self, number: int, path: str, size: int) -> None:
        self.history.began(HistoryEntry(number, SnapshotKind.SAVEPOINT, trigger_ms=1_700_000_001_000, path=path))
        facts = {"epoch": number * 10, "bytes": size, "subtasks": 2}
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

    def _asked(self, *what: Any) -> Future[str]:
        if self.refusal is not None:
            raise self.refusal
        self.asked.append(what)
        return self.future

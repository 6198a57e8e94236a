"""A small record of every job that has ended, so that it is not run a second time under the same id."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from penstock.common.errors import JobCancelledError, JobExecutionError
from penstock.common.failure import Failure
from penstock.common.job_execution_result import JobExecutionResult
from penstock.common.job_id import JobID
from penstock.common.job_status import JobStatus
from penstock.common.json_data import from_json, to_json
from penstock.control.attempts import Attempt
from penstock.control.job_record import JobRecord
from penstock.graph.transformation import Node

_KEPT = 1000


@dataclass(frozen=True, kw_only=True)
class FinishedRecord(JobRecord):
    """What is kept of a job when its files are gone; `state` says how it ended."""

    state: JobStatus
    started_at: int = 0
    ended_at: int
    duration_ms: int
    attempts: tuple[Attempt, ...] = ()
    failure: Failure | None = None
    stopped: bool = False
    savepoint: str | None = None
    metrics: dict[str, Any] = field(default_factory=dict)


class FinishedJobs:
    """One file per job below the home; the newest ones are kept."""

    def __init__(self, home: Path, kept: int = _KEPT) -> None:
        self._directory = home / "finished"
        self._kept = kept

    def put(self, record: FinishedRecord) -> None:
        """Durable when it returns: after that, the job's files may go."""
        self._directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        temporary = self._directory / f"{record.job_id}.tmp"
        with open(temporary, "w") as file:
            json.dump(to_json(record), file, indent=2, default=repr)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, self._path(record.job_id))
        self._drop_oldest()

    def get(self, job_id: str) -> FinishedRecord | None:
        try:
            return from_json(FinishedRecord, json.loads(self._path(job_id).read_text()))
        except FileNotFoundError:
            return None

    def remove(self, job_id: str) -> None:
        """The job may run again: it goes on elsewhere from its savepoint."""
        self._path(job_id).unlink(missing_ok=True)

    def all(self) -> list[FinishedRecord]:
        """The one that ended last comes last."""
        records = [self.get(path.stem) for path in self._directory.glob("*.json")]
        return sorted((record for record in records if record is not None), key=lambda record: record.ended_at)

    def _drop_oldest(self) -> None:
        paths = list(self._directory.glob("*.json"))
        if len(paths) > self._kept:
            paths.sort(key=lambda path: path.stat().st_mtime_ns)
            for path in paths[: -self._kept]:
                with contextlib.suppress(FileNotFoundError):
                    path.unlink()

    def _path(self, job_id: str) -> Path:
        return self._directory / f"{job_id}.json"


def runs_again(record: FinishedRecord) -> bool:
    """A job that failed may be tried again; one that finished or was cancelled is over, as in Flink."""
    return record.state not in (JobStatus.FINISHED, JobStatus.CANCELED)


def why_not_again(record: FinishedRecord) -> str:
    when = datetime.fromtimestamp(record.ended_at / 1000).strftime("%Y-%m-%d %H:%M:%S")
    what = "finished" if record.state is JobStatus.FINISHED else "was cancelled"
    text = f"the job {record.job_id} {what} at {when} and does not run again; for a new run give another --job-id"
    if record.stopped:
        text += f", for one that goes on from its savepoint also -s {record.savepoint}"
    return text


class FinishedJob:
    """What a program gets in place of a job that has ended in an earlier process."""

    def __init__(self, record: FinishedRecord) -> None:
        self._record = record
        self._result: Future[JobExecutionResult] = Future()
        if record.state is JobStatus.FINISHED:
            self._result.set_result(JobExecutionResult(self.job_id, record.duration_ms, record.metrics))
        else:
            self._result.set_exception(JobCancelledError(why_not_again(record)))

    @property
    def job_id(self) -> JobID:
        return JobID(self._record.job_id)

    def status(self) -> JobStatus:
        return self._record.state

    def cancel(self) -> None:
        """It has ended already."""

    def savepoint(self, directory: str | None) -> Future[str]:
        refused: Future[str] = Future()
        refused.set_exception(JobExecutionError("the job has ended: there is nothing to save"))
        return refused

    def stop(self, directory: str | None, drain: bool) -> Future[str]:
        return self.savepoint(directory)

    def result_future(self) -> Future[JobExecutionResult]:
        return self._result

    def collected(self, node: Node) -> Iterator[Any]:
        for records in self.collected_epochs(node):
            yield from records

    def collected_epochs(self, node: Node) -> Iterator[list[Any]]:
        raise JobExecutionError(
            f"the records that the job collected went to the process that ran it, and are not kept: "
            f"{why_not_again(self._record)}"
        )
        yield []

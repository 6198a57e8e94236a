"""Speaks to a job that the command line knows by its files."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any, TypeVar

from penstock.client import Connection, GoneError, RefusedError
from penstock.client import JobClient as RestClient
from penstock.client.access import RestAccess, read_access
from penstock.common.errors import JobExecutionError
from penstock.control.known_jobs import KnownJob

T = TypeVar("T")
_POLL_SECONDS = 0.1
_ROOT = 0
START_SECONDS = 60.0  # so long a verb that has something done waits for a job that starts


class JobGoneError(JobExecutionError):
    """The job's driver does not listen (any more)."""


class JobClient:
    """Asks the job's own process, and waits for its end where a next command counts on it."""

    def __init__(self, job: KnownJob, start_seconds: float = 0.0, sleep: Callable[[float], None] = time.sleep) -> None:
        self._job = job
        self._sleep = sleep
        access = self._find_access(start_seconds)
        self._rest = RestClient(Connection.of(access), job.job_id, self._pause_for)

    def details(self) -> dict[str, Any]:
        return self._asked(self._rest.details)

    def checkpoints(self) -> dict[str, Any]:
        return self._asked(self._rest.checkpoints)

    def cancel(self) -> None:
        """Returns when the job has given up its directory."""
        self._asked(self._rest.cancel)
        self._wait_for_end()

    def cancel_with_savepoint(self, directory: str) -> str:
        location = self._triggered(lambda: self._rest.savepoint(directory, cancel=True))
        self._wait_for_end()
        return location

    def savepoint(self, directory: str | None) -> str:
        return self._triggered(lambda: self._rest.savepoint(directory))

    def checkpoint(self) -> str:
        return self._triggered(self._rest.checkpoint)

    def stop(self, directory: str | None, drain: bool) -> str:
        location = self._triggered(lambda: self._rest.stop(directory, drain))
        self._wait_for_end()
        return location

    def own(self, path: str, **query: Any) -> Any:
        return self._asked(lambda: self._rest.ask_own(path, **query))

    def _triggered(self, operation: Callable[[], str]) -> str:
        began = False

        def begun() -> str:
            nonlocal began
            self._rest.status()
            began = True
            return operation()

        try:
            return self._asked(begun)
        except JobGoneError:
            if not began:
                raise
            raise JobGoneError(
                f"the job {self._job.job_id} ended before it said what became of the savepoint; "
                "a savepoint that is complete has a _metadata file"
            ) from None

    def _asked(self, question: Callable[[], T]) -> T:
        try:
            return question()
        except GoneError as error:
            raise JobGoneError(self._no_answer(str(error))) from None
        except RefusedError:
            raise
        except JobExecutionError as error:
            if error.__cause__ is None:
                raise
            raise JobExecutionError(self._no_answer(str(error))) from error

    def _wait_for_end(self) -> None:
        """So that the next command can take over the job's directory."""
        while self._job.is_running():
            self._pause_for(_POLL_SECONDS)

    def _pause_for(self, seconds: float) -> None:
        try:
            self._sleep(seconds)
        except KeyboardInterrupt:
            raise JobExecutionError("stopped waiting; the job goes on with what it was asked to do") from None

    def _find_access(self, start_seconds: float) -> RestAccess:
        while True:
            self._check_runs()
            access = read_access(self._job.home.path)
            if access is not None:
                return access
            if start_seconds <= 0:
                raise JobGoneError(self._no_answer("is starting or ending"))
            self._pause_for(_POLL_SECONDS)
            start_seconds -= _POLL_SECONDS

    def _check_runs(self) -> None:
        try:
            owner = self._job.home.path.stat().st_uid
        except FileNotFoundError:
            raise JobGoneError(f"the job {self._job.job_id} has ended") from None
        if not self._job.is_running():
            raise JobExecutionError(
                f"the job {self._job.job_id} does not run: its files are there, its driver "
                f"({self._job.owner or 'unknown'}) is gone; `penstock resume {self._job.job_id}` starts it again"
            )
        if os.getuid() not in (owner, _ROOT):
            raise JobGoneError(f"the job {self._job.job_id} belongs to another user, who alone may speak to it")

    def _no_answer(self, what: str) -> str:
        return f"the driver of the job {self._job.job_id} ({self._job.owner or 'unknown'}): {what}; try again"

"""A job in another process as JobControl: asked over its own REST interface."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import TypeVar

from penstock.client import Connection, JobClient
from penstock.client.access import read_access
from penstock.common.errors import JobExecutionError
from penstock.common.json_data import from_json, to_json
from penstock.control.job_control import JobDescription
from penstock.control.state_questions import StateAnswer
from penstock.runtime.state_questions import StateQuestion

_PATIENCE_SECONDS = 5.0
_STATE_SECONDS = 65.0  # a little more than the job itself waits for an epoch
T = TypeVar("T")


class RemoteJob:
    """Looks the address up for every question: the job may have another driver by now."""

    def __init__(self, home: Path, job_id: str, cancel: Callable[[], None] | None = None) -> None:
        self._directory = home / "jobs" / job_id
        self._job_id = job_id
        self._cancel = cancel  # how the manager wants it; a job that it has not started is asked itself

    def describe(self) -> JobDescription:
        return from_json(JobDescription, self._client(_PATIENCE_SECONDS).ask_own("/description"))

    def cancel(self) -> None:
        if self._cancel is not None:
            self._cancel()
        else:
            self.ask_to_cancel()

    def ask_to_cancel(self) -> None:
        self._client().cancel()

    def savepoint(self, directory: str | None) -> Future[str]:
        return self._in_background(lambda: self._client().savepoint(directory))

    def checkpoint(self) -> Future[str]:
        return self._in_background(lambda: self._client().checkpoint())

    def stop(self, directory: str | None, drain: bool) -> Future[str]:
        return self._in_background(lambda: self._client().stop(directory, drain))

    def look_at_state(self, question: StateQuestion) -> Future[StateAnswer]:
        return self._in_background(
            lambda: from_json(StateAnswer, self._client(_STATE_SECONDS).ask_own("/state", to_json(question)))
        )

    def _client(self, seconds: float = 30.0) -> JobClient:
        access = read_access(self._directory)
        if access is None:
            raise JobExecutionError(f"the job {self._job_id} is starting or ending, and does not answer; try again")
        return JobClient(Connection.of(access, seconds), self._job_id)

    def _in_background(self, operation: Callable[[], T]) -> Future[T]:
        future: Future[T] = Future()

        def run() -> None:
            try:
                future.set_result(operation())
            except Exception as error:
                future.set_exception(error)

        threading.Thread(target=run, name=f"penstock-asks-{self._job_id[:6]}", daemon=True).start()
        return future


class AbsentJob:
    """A job that does not run: it can be looked at, and cancelled while it waits."""

    def __init__(self, description: JobDescription, cancel: Callable[[], None] | None = None) -> None:
        self._description = description
        self._cancel = cancel

    def describe(self) -> JobDescription:
        return self._description

    def cancel(self) -> None:
        if self._cancel is not None:
            self._cancel()

    def savepoint(self, directory: str | None) -> Future[str]:
        refused: Future[str] = Future()
        refused.set_exception(JobExecutionError(f"the job is {self._description.state.name}: there is nothing to save"))
        return refused

    def checkpoint(self) -> Future[str]:
        return self.savepoint(None)

    def stop(self, directory: str | None, drain: bool) -> Future[str]:
        return self.savepoint(directory)

    def look_at_state(self, question: StateQuestion) -> Future[StateAnswer]:
        refused: Future[StateAnswer] = Future()
        refused.set_exception(JobExecutionError(f"the job is {self._description.state.name}: nobody can be asked"))
        return refused

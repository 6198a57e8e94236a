"""Speaks to a running job over its REST interface."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from penstock.cli.known_jobs import KnownJob
from penstock.common.errors import JobExecutionError
from penstock.rest.access import RestAccess, read_access

_ANSWER_SECONDS = 30
_POLL_SECONDS = 0.1
_GONE = (ConnectionError, http.client.RemoteDisconnected, http.client.IncompleteRead)


class JobGoneError(JobExecutionError):
    """The job's driver does not listen (any more)."""


class JobClient:
    """Not urllib.request: that would send the token to a proxy if the environment names one."""

    def __init__(self, job: KnownJob, sleep: Callable[[float], None] = time.sleep) -> None:
        self._job = job
        self._sleep = sleep
        self._access = self._find_access()

    def details(self) -> dict[str, Any]:
        return self._ask("GET", "")

    def checkpoints(self) -> dict[str, Any]:
        return self._ask("GET", "/checkpoints")

    def cancel(self) -> None:
        """Returns when the job has given up its directory."""
        self._ask("PATCH", "?mode=cancel")
        self._wait_for_end()

    def cancel_with_savepoint(self, directory: str) -> str:
        location = self._triggered("/savepoints", {"target-directory": directory, "cancel-job": True})
        self._wait_for_end()
        return location

    def savepoint(self, directory: str | None) -> str:
        return self._triggered("/savepoints", {"target-directory": directory, "cancel-job": False})

    def checkpoint(self) -> str:
        return self._triggered("/checkpoints", {})

    def stop(self, directory: str | None, drain: bool) -> str:
        location = self._triggered("/stop", {"targetDirectory": directory, "drain": drain})
        self._wait_for_end()
        return location

    def _triggered(self, path: str, body: dict[str, Any]) -> str:
        """Starts the operation and waits for its end; gives where the savepoint is."""
        trigger_id = self._ask("POST", path, body)["request-id"]
        try:
            while (outcome := self._ask("GET", f"/savepoints/{trigger_id}"))["status"]["id"] != "COMPLETED":
                self._pause()
        except JobGoneError:
            raise JobGoneError(
                f"the job {self._job.job_id} ended before it said what became of the savepoint; "
                "a savepoint that is complete has a _metadata file"
            ) from None
        operation = outcome["operation"]
        if "failure-cause" in operation:
            raise JobExecutionError(operation["failure-cause"]["stack-trace"])
        location: str = operation["location"]
        return location

    def _wait_for_end(self) -> None:
        """So that the next command can take over the job's directory."""
        while self._job.is_running():
            self._pause()

    def _pause(self) -> None:
        try:
            self._sleep(_POLL_SECONDS)
        except KeyboardInterrupt:
            raise JobExecutionError("stopped waiting; the job goes on with what it was asked to do") from None

    def _ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        address = urlsplit(self._access.url)
        connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=_ANSWER_SECONDS)
        headers = {"Authorization": f"Bearer {self._access.token}", "Content-Type": "application/json"}
        content = None if body is None else json.dumps(body)
        try:
            connection.request(method, f"/jobs/{self._job.job_id}{path}", content, headers)
            response = connection.getresponse()
            answer: dict[str, Any] = json.loads(response.read())
        except _GONE:
            raise JobGoneError(self._no_answer("does not listen at " + self._access.url)) from None
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise JobExecutionError(self._no_answer(f"gave no usable answer ({error})")) from error
        finally:
            connection.close()
        if response.status >= 400:
            raise JobExecutionError("; ".join(answer.get("errors", [f"HTTP status {response.status}"])))
        return answer

    def _find_access(self) -> RestAccess:
        if not self._job.is_running():
            raise JobExecutionError(
                f"the job {self._job.job_id} does not run: its files are there, its driver "
                f"({self._job.owner or 'unknown'}) is gone; `penstock resume {self._job.job_id}` starts it again"
            )
        access = read_access(self._job.home.path)
        if access is None:
            raise JobGoneError(self._no_answer("is starting or ending, or belongs to another user"))
        return access

    def _no_answer(self, what: str) -> str:
        return f"the driver of the job {self._job.job_id} ({self._job.owner or 'unknown'}) {what}; try again"

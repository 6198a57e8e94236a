"""Jobs as a client sees them: one, or all of a manager."""

from __future__ import annotations

import json
import tempfile
import time
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from penstock.client.access import read_access
from penstock.client.connection import Connection, GoneError
from penstock.common.errors import JobExecutionError
from penstock.control.known_jobs import is_locked

_POLL_SECONDS = 0.1
_OWN = "/penstock/v1"
MANAGER_DIRECTORY = "manager"


def find_manager(home: Path) -> PenstockClient | None:
    """The manager that runs in this home; None when there is none."""
    access = read_access(home / MANAGER_DIRECTORY)
    if access is None:
        return None
    client = PenstockClient(access.url, access.token)
    client.connection = Connection.of(access)
    try:
        client.overview()
    except GoneError:
        return None
    except JobExecutionError:
        if _runs(home / MANAGER_DIRECTORY / "owner", access.pid):
            raise
        return None  # it was killed, and somebody else listens at its address
    return client


def _runs(owner: Path, pid: int) -> bool:
    """Whether the manager that wrote its address is the one that has the home now."""
    return is_locked(owner) and owner.read_text().strip() == str(pid)


class JobClient:
    """One job, whether its own process answers or a manager."""

    def __init__(self, connection: Connection, job_id: str, sleep: Callable[[float], None] = time.sleep) -> None:
        self.job_id = job_id
        self._connection = connection
        self._sleep = sleep

    def ask(self, method: str, path: str, body: Mapping[str, Any] | None = None, **query: Any) -> Any:
        return self._connection.ask(method, f"/jobs/{self.job_id}{path}", body, query)

    def ask_own(self, path: str, body: Mapping[str, Any] | None = None, **query: Any) -> Any:
        """What Flink's interface has no place for."""
        method = "GET" if body is None else "POST"
        return self._connection.ask(method, f"{_OWN}/jobs/{self.job_id}{path}", body, query)

    def details(self) -> dict[str, Any]:
        return self.ask("GET", "")  # type: ignore[no-any-return]

    def status(self) -> str:
        return str(self.ask("GET", "/status")["status"])

    def checkpoints(self) -> dict[str, Any]:
        return self.ask("GET", "/checkpoints")  # type: ignore[no-any-return]

    def cancel(self) -> None:
        """Asks for it; the job may still run for a moment."""
        self.ask("PATCH", "", mode="cancel")

    def savepoint(self, directory: str | None = None, cancel: bool = False) -> str:
        """Where the savepoint is; with `cancel` the job does nothing after it."""
        return self.triggered("/savepoints", {"target-directory": directory, "cancel-job": cancel})

    def checkpoint(self) -> str:
        return self.triggered("/checkpoints", {})

    def stop(self, directory: str | None = None, drain: bool = False) -> str:
        return self.triggered("/stop", {"targetDirectory": directory, "drain": drain})

    def rescale(self, parallelism: int) -> str:
        """The savepoint from which the job went on."""
        trigger = self.ask("PATCH", "/rescaling", parallelism=parallelism)["request-id"]
        return self._outcome(trigger)

    def triggered(self, path: str, body: Mapping[str, Any]) -> str:
        """Starts an operation and waits for its end."""
        return self._outcome(self.ask("POST", path, body)["request-id"])

    def _outcome(self, trigger_id: str) -> str:
        while (outcome := self.ask("GET", f"/savepoints/{trigger_id}"))["status"]["id"] != "COMPLETED":
            self._sleep(_POLL_SECONDS)
        operation = outcome["operation"]
        if "failure-cause" in operation:
            raise JobExecutionError(operation["failure-cause"]["stack-trace"])
        return str(operation["location"])


class QueryableStateClient:
    """Reads keyed state of a running job: read only, and as it is after the epoch that ends next.

    With `from_checkpoint` it is that of the job's newest checkpoint or savepoint, and the job is not asked.
    """

    def __init__(self, url: str, token: str | None = None, certificate: str | None = None) -> None:
        self._connection = Connection(url, token, certificate)

    def get_kv_state(self, job_id: str, uid: str, state: str, key: Any, from_checkpoint: bool = False) -> Any:
        """The value of the key; None when the state has none."""
        path = f"{_OWN}/jobs/{job_id}/state/{quote(uid, safe='')}/{quote(state, safe='')}"
        query = {"key": json.dumps(key, default=repr), "from": "checkpoint" if from_checkpoint else None}
        entries = self._connection.ask("GET", path, query=query)["entries"]
        return entries[0]["value"] if entries else None


class PenstockClient:
    """A manager with its jobs."""

    def __init__(self, url: str, token: str | None = None, certificate: str | None = None) -> None:
        self.connection = Connection(url, token, certificate)

    @property
    def url(self) -> str:
        return self.connection.url

    def overview(self) -> dict[str, Any]:
        return self.connection.ask("GET", "/overview")  # type: ignore[no-any-return]

    def jobs(self) -> list[dict[str, Any]]:
        return self.connection.ask("GET", "/jobs/overview")["jobs"]  # type: ignore[no-any-return]

    def job(self, job_id: str) -> JobClient:
        return JobClient(self.connection, job_id)

    def submit(
        self,
        program: str | Path,
        arguments: Sequence[str] = (),
        *,
        entry: str | None = None,
        parallelism: int | None = None,
        savepoint: str | None = None,
        allow_non_restored_state: bool = False,
        name: str | None = None,
        pyflink: bool = False,
        configuration: Mapping[str, str] | None = None,
        job_id: str | None = None,
        upload: bool = True,
    ) -> str:
        """Uploads a script, a zip, or a directory with its modules, and runs it; gives the id of the job.

        Without upload the manager runs the script where it is, in the working directory of this process: both must be
        on the manager's machine.
        """
        fields = {
            "job-id": job_id,
            "path": None if upload else str(Path(program).absolute()),
            "working-directory": None if upload else str(Path.cwd()),
            "entry": entry,
            "args": json.dumps(list(arguments)),
            "parallelism": None if parallelism is None else str(parallelism),
            "savepoint": savepoint,
            "allow-non-restored-state": "true" if allow_non_restored_state else None,
            "name": name,
            "pyflink": "true" if pyflink else None,
            "configuration": json.dumps(dict(configuration or {})),
        }
        given = {name: value for name, value in fields.items() if value is not None}
        with tempfile.TemporaryDirectory() as directory:
            file = _as_file(Path(program), Path(directory)) if upload else None
            return str(self.connection.upload(f"{_OWN}/jobs", file, given)["jobid"])

    def shut_down(self) -> None:
        self.connection.ask("DELETE", "/cluster")


def _as_file(program: Path, directory: Path) -> Path:
    if not program.is_dir():
        return program
    archive = directory / f"{program.resolve().name}.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as target:
        for file in sorted(program.rglob("*")):
            if file.is_file() and "__pycache__" not in file.parts:
                target.write(file, file.relative_to(program))
    return archive

"""The REST interface of one running job, in its own process, for those who have the job's token."""

from __future__ import annotations

import os
import secrets
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from penstock.client.access import RestAccess, remove_access, write_access
from penstock.common.configuration import Configuration
from penstock.common.errors import NotSupportedError
from penstock.common.options import value_of
from penstock.common.run_options import current_run_options
from penstock.control.job_control import JobControl, JobDescription
from penstock.control.job_home import JobHome
from penstock.rest.cluster import Programs
from penstock.rest.server import Listening, WebServer
from penstock.rest.triggers import Triggers

_GRACE_SECONDS = 3.0


def serve_job(control: JobControl, home: JobHome) -> JobServer:
    """Starts the job's REST interface and writes `rest.json` into the job's directory, which must exist."""
    if not current_run_options().web_page:
        return JobServer(control, home)
    settings = Configuration.from_dict(dict(control.describe().configuration))
    server = JobServer(control, home, Listening.of(settings), value_of(settings, "penstock.rest.token"))
    print(f"penstock: {server.access.page}", file=sys.stderr)
    return server


class OneJob:
    """A cluster that consists of the job of this process."""

    programs: Programs | None = None

    def __init__(self, control: JobControl, home: JobHome, triggers: Triggers) -> None:
        self._control = control
        self._home = home
        self.triggers = triggers
        self.started_at = time.time_ns() // 1_000_000

    def jobs(self) -> Sequence[JobDescription]:
        return [self._control.describe()]

    def job(self, job_id: str) -> JobControl | None:
        return self._control if job_id == self._home.job_id else None

    def rescale(self, job_id: str, parallelism: int) -> str:
        raise NotSupportedError(
            "a job that was not started by a manager is rescaled by hand: penstock stop JOB, then penstock run -s "
            "SAVEPOINT -p N SCRIPT"
        )

    def slots(self) -> tuple[int, int]:
        return self._control.describe().parallelism, 0

    def configuration(self) -> Mapping[str, str]:
        return self._control.describe().configuration

    def log_files(self) -> Mapping[str, Path]:
        logs = self._home.home / "logs"
        return {path.name: path for path in (logs / f"{self._home.job_id}.log", logs / "spark.log")}

    def job_log_files(self, job_id: str) -> Sequence[Path]:
        return job_log_files(self._home.home, job_id)

    def shut_down(self) -> None:
        raise NotSupportedError("this is the interface of one job, which ends when the job ends: cancel that")


def job_log_files(home: Path, job_id: str) -> list[Path]:
    """What functions have logged, and what the driver has printed if a manager has started it."""
    return [home / "logs" / f"{job_id}.out", home / "logs" / f"{job_id}.log"]


class JobServer:
    """Listens on a port of its own until it is closed."""

    def __init__(
        self,
        control: JobControl,
        home: JobHome,
        listening: Listening = Listening(),  # noqa: B008 - it is frozen
        needs_token: bool = True,
    ) -> None:
        self._heard = threading.Condition()
        self._closed = False
        self._directory = home.path
        self._triggers = Triggers(self._tell_change)
        self._cluster = OneJob(control, home, self._triggers)
        self._server = WebServer(listening, f"penstock-rest-{home.job_id[:6]}")
        token = secrets.token_urlsafe(32) if needs_token else ""
        certificate = None if listening.certificate is None else str(listening.certificate)
        self.access = RestAccess(self._server.url, token, os.getpid(), certificate)
        # Its packages take a third of a second to load, and most jobs are asked by nobody: the first client waits.
        self._starting = threading.Thread(target=self._serve, name="penstock-rest-start", daemon=True)
        self._starting.start()
        write_access(self._directory, self.access)

    def _serve(self) -> None:
        if not self._server.wait_for_client():
            return
        from penstock.rest.app import Access, make_app

        self._server.serve(make_app(self._cluster, Access(self.access.token or None)))

    def close(self, grace_seconds: float = _GRACE_SECONDS) -> None:
        """Lets clients hear the outcome of what they have triggered, for a while; then stops listening.

        Without the wait, whoever stops a job would never learn where its savepoint is.
        """
        with self._heard:
            if self._closed:
                return
            self._heard.wait_for(self._triggers.all_heard, grace_seconds)
            self._closed = True
        remove_access(self._directory, self.access)
        self._server.stop_waiting()
        self._starting.join()
        self._server.close()

    def _tell_change(self) -> None:
        with self._heard:
            self._heard.notify_all()

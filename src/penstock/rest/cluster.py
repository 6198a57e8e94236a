"""What the endpoints are about: one job in its own process, or all jobs of a manager."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from penstock.control.job_control import JobControl, JobDescription
from penstock.rest.triggers import Triggers


@dataclass(frozen=True)
class Program:
    """A script or archive that was uploaded."""

    id: str
    name: str
    uploaded_at: int


@dataclass(frozen=True)
class Submission:
    """How a program is to run; `script` is the program's file inside of an archive."""

    script: str | None = None
    arguments: tuple[str, ...] = ()
    parallelism: int | None = None
    savepoint: str | None = None
    allow_non_restored_state: bool = False
    name: str | None = None
    pyflink: bool = False
    job_id: str | None = None
    configuration: Mapping[str, str] = field(default_factory=dict)


class Programs(Protocol):
    """Uploaded programs; only a manager has them."""

    def all(self) -> Sequence[Program]: ...

    def add(self, name: str, content: Path) -> Program:
        """Takes the file away from where it is."""

    def remove(self, id_: str) -> bool: ...

    def run(self, id_: str, submission: Submission) -> str:
        """Gives the id of the job."""

    def plan(self, id_: str, submission: Submission) -> Any:
        """The graph of its first job, in the shape of the endpoint; the program is not run."""

    def run_script(self, script: Path, directory: Path, submission: Submission) -> str:
        """One that is on the manager's machine and needs no upload."""


class Cluster(Protocol):
    """Calls may come from several threads."""

    triggers: Triggers
    programs: Programs | None
    started_at: int

    def jobs(self) -> Sequence[JobDescription]:
        """Those that run, wait or have ended, the newest last."""

    def job(self, job_id: str) -> JobControl | None: ...

    def rescale(self, job_id: str, parallelism: int) -> str:
        """Stops the job with a savepoint and lets it go on with another parallelism; gives the id of a trigger."""

    def slots(self) -> tuple[int, int]:
        """All, and those that are free."""

    def configuration(self) -> Mapping[str, str]: ...

    def log_files(self) -> Mapping[str, Path]:
        """Of the process that answers, by name; the first one is the log."""

    def job_log_files(self, job_id: str) -> Sequence[Path]:
        """What the driver of a job has printed and logged."""

    def shut_down(self) -> None: ...

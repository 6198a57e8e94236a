"""What the manager knows about a job that was submitted to it, in a file: another manager finds everything there."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from penstock.common.job_status import JobStatus
from penstock.common.json_data import from_json, to_json


class EntryState(Enum):
    WAITING = "waiting"  # for a slot, or for the moment at which it may start again
    RUNNING = "running"  # its driver was started, and nobody has noticed its end
    ENDED = "ended"


@dataclass(frozen=True)
class LaunchPlan:
    """How the driver runs the program."""

    script: str
    working_directory: str
    arguments: tuple[str, ...] = ()
    parallelism: int | None = None
    savepoint: str | None = None
    allow_non_restored_state: bool = False
    name: str | None = None
    pyflink: bool = False
    master: str | None = None
    configuration: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class JobEntry:
    """A job from its submission to its end."""

    job_id: str
    launch: LaunchPlan
    submitted_at: int
    state: EntryState = EntryState.WAITING
    not_before: int = 0  # milliseconds since 1970
    starts: int = 0
    started_at: int | None = None
    ended_at: int | None = None
    outcome: JobStatus | None = None
    failure: str | None = None
    cancel: bool = False
    rescale_to: int | None = None
    parallelism: int | None = None  # that the program has set, known once it runs

    @property
    def slots(self) -> int:
        return self.parallelism or self.launch.parallelism or 1


@dataclass(frozen=True)
class DriverOutcome:
    """Written by a driver that ends in order."""

    code: int


class EntryStore:
    """One file per job, one lock that a driver holds as long as it lives, and what the driver said at its end."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def all(self) -> list[JobEntry]:
        """In the order of submission."""
        entries = [entry for path in self._directory.glob("*.json") if (entry := _read(path)) is not None]
        return sorted(entries, key=lambda entry: (entry.submitted_at, entry.job_id))

    def put(self, entry: JobEntry) -> None:
        self._directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        _write(self.path_of(entry.job_id), json.dumps(to_json(entry), indent=2))

    def path_of(self, job_id: str) -> Path:
        return self._directory / f"{job_id}.json"

    def lock_of(self, job_id: str) -> Path:
        return self._directory / f"{job_id}.lock"

    def outcome_of(self, job_id: str) -> DriverOutcome | None:
        try:
            return from_json(DriverOutcome, json.loads(self._outcome_path(job_id).read_text()))
        except (OSError, ValueError, TypeError, KeyError):
            return None

    def put_outcome(self, job_id: str, outcome: DriverOutcome) -> None:
        _write(self._outcome_path(job_id), json.dumps(to_json(outcome)))

    def forget_outcome(self, job_id: str) -> None:
        self._outcome_path(job_id).unlink(missing_ok=True)

    def _outcome_path(self, job_id: str) -> Path:
        return self._directory / f"{job_id}.outcome"


def read_entry(path: Path) -> JobEntry:
    return from_json(JobEntry, json.loads(path.read_text()))


def _read(path: Path) -> JobEntry | None:
    try:
        return read_entry(path)
    except (OSError, ValueError, TypeError, KeyError):
        return None  # a damaged file must not keep the manager from the other jobs


def _write(path: Path, text: str) -> None:
    temporary = path.with_name(f"{path.name}.tmp")
    with open(temporary, "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)

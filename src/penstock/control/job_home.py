"""Where jobs keep their files: one directory per job under PENSTOCK_HOME, owned by one driver at a time."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import socket
import uuid
from pathlib import Path
from typing import IO, Any

from penstock.common.errors import JobExecutionError


def penstock_home(configured: str | None = None) -> Path:
    """The configured home, else $PENSTOCK_HOME, else ~/.penstock: never a directory that the system cleans."""
    return Path(configured or os.environ.get("PENSTOCK_HOME") or Path.home() / ".penstock").expanduser()


class JobHome:
    """The files of one job."""

    def __init__(self, home: Path, job_id: str) -> None:
        self.job_id = job_id
        self.path = home / "jobs" / job_id
        self._lock: IO[str] | None = None

    @property
    def spark_checkpoint(self) -> Path:
        return self.path / "spark"

    @property
    def epochs(self) -> Path:
        return self.path / "epochs"

    def source_directory(self, uid: str) -> Path:
        return self.path / "sources" / uid

    def acquire(self) -> None:
        """Makes this process the job's driver; a second one is refused until the first has died."""
        # Arguments and settings may hold secrets, state always holds data: only the owner may look.
        self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = open(self.path / "owner", "a+")  # noqa: SIM115 - held for the life of the job
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            lock.seek(0)
            owner = lock.read().strip() or "another process"
            lock.close()
            raise JobExecutionError(
                f"the job {self.job_id} is being run by {owner}; stop that one first, or give this job another id"
            ) from None
        lock.truncate(0)
        lock.write(f"process {os.getpid()} on {socket.gethostname()}")
        lock.flush()
        self._lock = lock

    def release(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def read_record(self) -> dict[str, Any] | None:
        """What is known about the job; None for a new one."""
        try:
            record: dict[str, Any] = json.loads((self.path / "job.json").read_text())
        except FileNotFoundError:
            return None
        return record

    def write_record(self, record: dict[str, Any]) -> None:
        temporary = self.path / "job.json.tmp"
        temporary.write_text(json.dumps(record, indent=2))
        os.replace(temporary, self.path / "job.json")

    def remove(self) -> None:
        """All at once: half of its files would look like a job that can go on, and begin its input anew."""
        removed = self.path.parent.parent / "removed"
        removed.mkdir(exist_ok=True, mode=0o700)
        with contextlib.suppress(FileNotFoundError):
            os.rename(self.path, removed / f"{self.job_id}-{uuid.uuid4().hex}")
        self.release()
        shutil.rmtree(removed, ignore_errors=True)

"""Where jobs keep their files: one directory per job under PENSTOCK_HOME, owned by one driver at a time.

Everything durable of a run lies in `run-N`. Whoever becomes the job's driver gives that directory the next number, so
that what processes of an earlier driver still write goes to a path that nobody reads (docs/adr/0012).
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import socket
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from penstock.common.errors import ConfigurationError, JobExecutionError, JobTakenOverError
from penstock.common.json_data import from_json, to_json
from penstock.control.job_record import JobRecord
from penstock.storage.base import Storage
from penstock.storage.locations import absolute_location

_OWNER = "owner"
_RUN = "run-"
_PATIENCE_SECONDS = 5.0


def penstock_home(configured: str | None = None) -> Path:
    """The configured home, else $PENSTOCK_HOME, else ~/.penstock: never a directory that the system cleans."""
    home = absolute_location(configured or os.environ.get("PENSTOCK_HOME") or "~/.penstock")
    if not os.path.isabs(home):
        raise ConfigurationError(
            f"the home of jobs is a directory, because drivers lock files there, and {home!r} is none. A store can keep"
            " checkpoints (execution.checkpointing.dir) and the state of resident tasks (penstock.resident.state-dir)"
        )
    return Path(home)


class JobHome:
    """The files of one job."""

    def __init__(self, home: Path, job_id: str) -> None:
        self.job_id = job_id
        self.home = home
        self.path = home / "jobs" / job_id
        self._lock: IO[str] | None = None
        self._generation: int | None = None
        self._elsewhere: list[Storage] = []

    # -- files -------------------------------------------------------------------------------------------------

    @property
    def run(self) -> Path:
        """Of the driver that this process is; the newest one for others, who only look."""
        generation = self._generation or max(self._generations(), default=1)
        return self.path / f"{_RUN}{generation}"

    @property
    def spark_checkpoint(self) -> Path:
        return self.run / "spark"

    @property
    def epochs(self) -> Path:
        return self.run / "epochs"

    def source_directory(self, uid: str) -> Path:
        return self.run / "sources" / uid

    def read_record(self) -> JobRecord | None:
        """What is known about the job; None for a new one."""
        file = self.path / "job.json"
        try:
            return from_json(JobRecord, json.loads(file.read_text()))
        except FileNotFoundError:
            return None
        except (ValueError, TypeError, KeyError) as error:
            raise JobExecutionError(
                f"the record of the job {self.job_id} is damaged ({file}: {error}). Start the program under another "
                "job id, from a checkpoint or savepoint of the job with -s PATH if there is one."
            ) from None

    def write_record(self, record: JobRecord) -> None:
        temporary = self.path / "job.json.tmp"
        temporary.write_text(json.dumps(to_json(record), indent=2))
        os.replace(temporary, self.path / "job.json")

    # -- ownership ---------------------------------------------------------------------------------------------

    def acquire(self, take_over: bool = False) -> None:
        """Makes this process the job's driver. A second one is refused until the first has died, unless it is to take

        the job over; the first one then finds that it owns nothing any more, should it wake up.
        """
        while self._lock is None:
            # Arguments and settings may hold secrets, state always holds data: only the owner may look.
            self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
            with self._undisturbed():
                lock = self._replaced_lock() if take_over else self._free_lock()
                if _is_the_file(lock, self.path / _OWNER):
                    self._lock = lock
                    self._begin_generation()
                else:
                    lock.close()  # the directory was removed in between by an owner that has finished

    def owned(self) -> bool:
        """Whether this process is still the job's driver."""
        return self._lock is not None and _is_the_file(self._lock, self.path / _OWNER)

    def check_owned(self) -> None:
        """Before anything becomes visible: raises when another process has taken the job over."""
        if not self.owned():
            raise JobTakenOverError(
                f"the job {self.job_id} was taken over by {self.owner() or 'another process, which has ended it'}. "
                "This process has not made any results visible since then, and ends"
            )

    def owner(self) -> str | None:
        """Who runs the job, or ran it last."""
        try:
            return (self.path / _OWNER).read_text().strip() or None
        except OSError:
            return None

    def release(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def remove(self) -> None:
        """All at once: half of its files would look like a job that can go on, and begin its input again."""
        removed = self.home / "removed"
        removed.mkdir(exist_ok=True, mode=0o700, parents=True)
        with contextlib.suppress(FileNotFoundError), self._undisturbed():
            if self._lock is None or self.owned():
                os.rename(self.path, removed / f"{self.job_id}-{uuid.uuid4().hex}")
                for storage in self._elsewhere:
                    storage.delete_folder()
        self.release()
        shutil.rmtree(removed, ignore_errors=True)

    def keep_elsewhere(self, storage: Storage) -> None:
        """Files of the job that are not in this directory, and go with it."""
        self._elsewhere.append(storage)

    @contextlib.contextmanager
    def _undisturbed(self) -> Iterator[None]:
        """Only one process at a time may become the owner, or remove the directory as such."""
        with open(self.path / "changing-owner", "a") as guard:
            deadline = time.monotonic() + _PATIENCE_SECONDS
            while not _locked(guard):
                if time.monotonic() > deadline:
                    raise JobExecutionError(
                        f"another process is just starting or ending the job {self.job_id}; try again"
                    )
                time.sleep(0.01)
            yield

    def _free_lock(self) -> IO[str]:
        lock = open(self.path / _OWNER, "a+")  # noqa: SIM115 - held for the life of the job
        if not _locked(lock):
            lock.close()
            raise JobExecutionError(
                f"the job {self.job_id} is being run by {self.owner() or 'another process'}; stop that one first, or "
                "give this job another id. If that process does not answer any more, --take-over takes the job from it"
            )
        lock.truncate(0)
        return _signed(lock)

    def _replaced_lock(self) -> IO[str]:
        """A new file under the old name: the lock of the owner so far is then one on a file that nobody can find."""
        fresh = self.path / f"{_OWNER}.new"
        lock = open(fresh, "w+")  # noqa: SIM115 - held for the life of the job
        fcntl.flock(lock, fcntl.LOCK_EX)
        _signed(lock)
        os.replace(fresh, self.path / _OWNER)
        return lock

    def _begin_generation(self) -> None:
        """The fence against processes of earlier drivers: none of their paths exists any more."""
        older = sorted(self._generations())
        newest = older[-1] if older else 0
        if not older and self.read_record() is not None:
            self.release()
            raise JobExecutionError(
                f"the files of the job {self.job_id} in {self.path} are incomplete: it cannot go on. Remove that "
                "directory to start it from the beginning"
            )
        fresh = self.path / f"{_RUN}{newest + 1}"
        if older:
            os.rename(self.path / f"{_RUN}{newest}", fresh)
        else:
            fresh.mkdir()
        self._generation = newest + 1
        for generation in older[:-1]:  # what a process that was fenced out has made again
            shutil.rmtree(self.path / f"{_RUN}{generation}", ignore_errors=True)

    def _generations(self) -> list[int]:
        names = [path.name.removeprefix(_RUN) for path in self.path.glob(f"{_RUN}*")]
        return [int(name) for name in names if name.isdigit()]


def _locked(file: IO[str]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _signed(lock: IO[str]) -> IO[str]:
    lock.write(f"process {os.getpid()} on {socket.gethostname()}")
    lock.flush()
    return lock


def _is_the_file(opened: IO[str], path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(opened.fileno()), os.stat(path))
    except FileNotFoundError:
        return False

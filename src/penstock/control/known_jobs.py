"""The jobs that have files in Penstock's home: which of them run, and which one a prefix of an id means."""

from __future__ import annotations

import fcntl
import os
import re
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from penstock.common.errors import JobExecutionError
from penstock.control.finished_jobs import FinishedJobs, FinishedRecord, runs_again
from penstock.control.job_home import JobHome, penstock_home
from penstock.control.job_record import JobRecord


@dataclass(frozen=True)
class KnownJob:
    """One directory of a job; the record is None while the job starts for the first time."""

    home: JobHome
    record: JobRecord | None
    owner: str | None

    @property
    def job_id(self) -> str:
        return self.home.job_id

    @property
    def name(self) -> str | None:
        return None if self.record is None else self.record.name

    def is_running(self) -> bool:
        """Whether a driver holds the job: its process has the lock as long as it lives, however it ends."""
        owner_file = self.home.path / "owner"
        if _names_a_dead_process(_read(owner_file)):
            return False  # without a look at the lock, which a driver that just starts may want to have
        return is_locked(owner_file)


def is_locked(path: Path) -> bool:
    """Whether a process holds the lock of a file, which it has as long as it lives."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def known_jobs(home: Path | None = None) -> list[KnownJob]:
    """By id; what remains of a job while its directory is being removed is left out."""
    directory = (home or penstock_home()).absolute() / "jobs"
    try:
        job_ids = sorted(entry.name for entry in os.scandir(directory) if entry.is_dir())
    except FileNotFoundError:
        return []
    jobs = [_read_job(JobHome(directory.parent, job_id)) for job_id in job_ids]
    return [job for job in jobs if _counts(job)]


def _counts(job: KnownJob) -> bool:
    """Not what a process left that was killed when its job had ended already, nor what is being removed."""
    if job.record is None:
        return (job.home.path / "owner").exists()
    ended = FinishedJobs(job.home.home).get(job.job_id)
    return ended is None or runs_again(ended) or job.is_running()


def finished_jobs(home: Path | None = None) -> list[FinishedRecord]:
    """The records of jobs that have ended and left no other files, the one that ended last at the end."""
    home = (home or penstock_home()).absolute()
    with_files = {job.job_id for job in known_jobs(home)}
    return [record for record in FinishedJobs(home).all() if record.job_id not in with_files]


def find_job(prefix: str, home: Path | None = None) -> KnownJob:
    """The job that an id, or the beginning of exactly one id, means."""
    if not prefix:
        raise JobExecutionError("the id of the job is empty")  # a script's variable that is not set, most likely
    jobs = known_jobs(home)
    matching = [job for job in jobs if job.job_id.startswith(prefix.lower())]
    if len(matching) == 1:
        return matching[0]
    exact = [job for job in matching if job.job_id == prefix.lower()]
    if exact:
        return exact[0]
    if matching:
        raise JobExecutionError(f"{prefix!r} is the beginning of several ids; give more of it:\n{_lines(matching)}")
    ended = finished_jobs_named(prefix, home)
    if len(ended) == 1:
        raise JobExecutionError(
            f"the job {ended[0].job_id} has ended ({ended[0].state.name}); `penstock info` tells more about it"
        )
    where = (home or penstock_home()).absolute()
    known = f"the jobs there are:\n{_lines(jobs)}" if jobs else "there are no jobs"
    raise JobExecutionError(
        f"there is no job {prefix!r} in {where} (PENSTOCK_HOME, or the option penstock.home of the run, "
        f"says where jobs are); {known}"
    )


def finished_jobs_named(prefix: str, home: Path | None = None) -> list[FinishedRecord]:
    """Those whose id begins so."""
    return [record for record in finished_jobs(home) if record.job_id.startswith(prefix.lower())]


def _read_job(home: JobHome) -> KnownJob:
    try:
        record = home.read_record()
    except (OSError, JobExecutionError):
        record = None  # a damaged record must not hide the other jobs
    return KnownJob(home, record, _read(home.path / "owner"))


def _read(file: Path) -> str | None:
    try:
        return file.read_text().strip() or None
    except OSError:
        return None


def _names_a_dead_process(owner: str | None) -> bool:
    named = re.fullmatch(r"process (\d+) on (.*)", owner or "")
    if named is None or named[2] != socket.gethostname():
        return False
    try:
        os.kill(int(named[1]), 0)
    except ProcessLookupError:
        return True
    except OSError:
        pass  # the process of another user
    return False


def _lines(jobs: Iterable[KnownJob]) -> str:
    return "\n".join(f"  {job.job_id}  {job.name or ''}".rstrip() for job in jobs)

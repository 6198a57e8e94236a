"""Driver processes: started so that they outlive the manager, and known to be alive by the lock that they hold."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

from penstock.common.job_status import JobStatus
from penstock.control.finished_jobs import FinishedJobs
from penstock.control.job_home import JobHome
from penstock.control.known_jobs import is_locked
from penstock.manager.job_entry import EntryStore, JobEntry
from penstock.manager.machine import DriverEnd

_LOG_TAIL = 4000


class Drivers:
    """The lock is taken before the process is made and goes over to it, so that there are never two for one job."""

    def __init__(self, home: Path, entries: EntryStore) -> None:
        self._home = home
        self._entries = entries
        self._children: dict[str, subprocess.Popen[bytes]] = {}

    def log_of(self, job_id: str) -> Path:
        return self._home / "logs" / f"{job_id}.out"

    def start(self, entry: JobEntry) -> bool:
        """False when there is one already."""
        descriptor = os.open(self._entries.lock_of(entry.job_id), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            return False
        try:
            self._entries.forget_outcome(entry.job_id)
            ended = FinishedJobs(self._home).get(entry.job_id)
            if ended is not None and ended.stopped and ended.savepoint == entry.launch.savepoint:
                FinishedJobs(self._home).remove(entry.job_id)  # it was stopped only to go on from there
            self._spawn(entry, descriptor)
        finally:
            os.close(descriptor)  # the driver has its own
        return True

    def _spawn(self, entry: JobEntry, lock: int) -> None:
        log = self.log_of(entry.job_id)
        log.parent.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "penstock.cli.main", "drive", "--lock", str(lock)]
        with open(log, "ab") as output:
            self._children[entry.job_id] = subprocess.Popen(
                [*command, str(self._entries.path_of(entry.job_id))],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                pass_fds=(lock,),
                start_new_session=True,
                env={**os.environ, "PENSTOCK_HOME": str(self._home), "PYTHONUNBUFFERED": "1"},
            )

    def is_alive(self, job_id: str) -> bool:
        child = self._children.get(job_id)
        if child is not None and child.poll() is not None:
            del self._children[job_id]
        return is_locked(self._entries.lock_of(job_id))

    def end_of(self, job_id: str) -> DriverEnd:
        """From the files that it has left."""
        ended = FinishedJobs(self._home).get(job_id)
        if ended is not None:
            failure = None if ended.failure is None else str(ended.failure)
            return DriverEnd(ended.state, failure, ended.savepoint if ended.stopped else None)
        record = JobHome(self._home, job_id).read_record()
        if record is not None and record.state is JobStatus.FAILED:
            return DriverEnd(JobStatus.FAILED, self._last_words(job_id))
        outcome = self._entries.outcome_of(job_id)
        if outcome is None:
            return DriverEnd()
        if outcome.code == 0:
            return DriverEnd(JobStatus.FINISHED)  # a program without a job
        return DriverEnd(JobStatus.FAILED, self._last_words(job_id))

    def _last_words(self, job_id: str) -> str:
        try:
            return self.log_of(job_id).read_bytes()[-_LOG_TAIL:].decode(errors="replace")
        except OSError:
            return "the driver left no log"

"""All jobs of a home, as they are shown: those that run are asked once a second, the others are read from files."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from penstock.common.errors import JobExecutionError
from penstock.control.finished_jobs import FinishedJobs
from penstock.control.job_control import JobDescription
from penstock.control.job_history import JobHistory
from penstock.control.known_jobs import KnownJob, known_jobs
from penstock.manager.job_files import describe_ended, describe_home
from penstock.manager.remote_job import RemoteJob

_ASKED_AT_ONCE = 8
_FRESH_SECONDS = 0.5


class JobBoard:
    """Whoever looks gets what was known a moment ago, and never waits for a driver that does not answer."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._lock = threading.Lock()
        self._running: dict[str, tuple[float, JobDescription]] = {}
        self._ended: dict[str, JobDescription] = {}
        self._dead: dict[str, JobDescription] = {}
        self._last: dict[str, JobDescription] = {}  # of jobs that have not ended
        self._pool = ThreadPoolExecutor(_ASKED_AT_ONCE, thread_name_prefix="penstock-board")

    def refresh(self) -> None:
        known = known_jobs(self._home)
        running = [job for job in known if job.is_running()]
        answers = dict(zip([job.job_id for job in running], self._pool.map(self._ask, running), strict=True))
        dead = {job.job_id: seen for job in known if job not in running and (seen := describe_home(job.home))}
        with self._lock:
            now = time.monotonic()
            before, self._running = self._running, {}
            for job_id, answer in answers.items():
                if answer is not None:
                    self._running[job_id] = now, answer
                    self._last[job_id] = answer
                elif job_id in before:
                    self._running[job_id] = before[job_id]
            self._dead = dead
        self._learn_ended({job.job_id for job in known})

    def running(self, job_id: str) -> JobDescription | None:
        """Asked again when what is known is not fresh."""
        with self._lock:
            known = self._running.get(job_id)
        if known is None or time.monotonic() - known[0] < _FRESH_SECONDS:
            return None if known is None else known[1]
        try:
            fresh = RemoteJob(self._home, job_id).describe()
        except JobExecutionError:
            return known[1]
        with self._lock:
            if job_id in self._running:
                self._running[job_id] = time.monotonic(), fresh
        return fresh

    def ended(self, job_id: str) -> JobDescription | None:
        with self._lock:
            if job_id in self._ended:
                return self._ended[job_id]
        return describe_ended(self._home, job_id)

    def dead(self, job_id: str) -> JobDescription | None:
        """Its driver is gone, its files remain."""
        with self._lock:
            return self._dead.get(job_id)

    def last(self, job_id: str) -> JobDescription | None:
        """What its driver said last: while there is none, the job's files may be gone."""
        with self._lock:
            return self._last.get(job_id)

    def all(self) -> dict[str, JobDescription]:
        with self._lock:
            running = {job_id: job for job_id, (_, job) in self._running.items()}
            return {**self._ended, **self._dead, **running}

    def forget(self, job_id: str) -> None:
        """It has not ended after all."""
        with self._lock:
            ended = self._ended.pop(job_id, None)
            if ended is not None:
                self._last[job_id] = ended

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _ask(self, job: KnownJob) -> JobDescription | None:
        try:
            return RemoteJob(self._home, job.job_id).describe()
        except (JobExecutionError, ValueError, TypeError, KeyError):
            return None

    def _learn_ended(self, with_files: set[str]) -> None:
        """Ended jobs do not change: each is read once."""
        there = {path.stem for path in (self._home / "finished").glob("*.json")} | set(JobHistory(self._home).ids())
        there = {job_id for job_id in there if job_id not in with_files or FinishedJobs(self._home).get(job_id)}
        with self._lock:
            for gone in self._ended.keys() - there:
                del self._ended[gone]
            new = there - self._ended.keys()
        read = {job_id: job for job_id in new if (job := describe_ended(self._home, job_id)) is not None}
        with self._lock:
            self._ended |= read
            for job_id in read:
                self._last.pop(job_id, None)

"""What is kept of jobs that have ended for those who look at them later: each as it was at its end."""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import replace
from pathlib import Path

from penstock.common.failure import Failure
from penstock.common.job_status import JobStatus
from penstock.common.json_data import from_json, to_json
from penstock.control.job_control import JobDescription

_KEPT = 200


class JobHistory:
    """One file per job below the home; the newest are kept. Nobody needs them to go on."""

    def __init__(self, home: Path, kept: int = _KEPT) -> None:
        self._directory = home / "history"
        self._kept = kept

    def put(self, job: JobDescription, state: JobStatus, failure: Failure | None) -> None:
        ended = replace(job, progress=replace(job.progress, state=state, rate=0.0), failure=failure)
        with contextlib.suppress(OSError):  # on a full disk the job must end all the same
            self._directory.mkdir(parents=True, exist_ok=True, mode=0o700)
            temporary = self._directory / f"{job.job_id}.tmp"
            temporary.write_text(json.dumps(to_json(ended), default=repr))
            os.replace(temporary, self._path(job.job_id))
            self._drop_oldest()

    def get(self, job_id: str) -> JobDescription | None:
        """None for one that is not there, or was written by a version that kept other things."""
        try:
            return from_json(JobDescription, json.loads(self._path(job_id).read_text()))
        except (OSError, ValueError, TypeError, KeyError):
            return None

    def remove(self, job_id: str) -> None:
        self._path(job_id).unlink(missing_ok=True)

    def ids(self) -> list[str]:
        return sorted(path.stem for path in self._directory.glob("*.json"))

    def _drop_oldest(self) -> None:
        paths = sorted(self._directory.glob("*.json"), key=lambda path: path.stat().st_mtime_ns)
        for path in paths[: -self._kept]:
            with contextlib.suppress(FileNotFoundError):
                path.unlink()

    def _path(self, job_id: str) -> Path:
        return self._directory / f"{job_id}.json"

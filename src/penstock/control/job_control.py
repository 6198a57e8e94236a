"""What the ways in (command line, REST, web page) may ask of a running job."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any, Protocol


class JobControl(Protocol):
    """Implemented by the executor's jobs; every call may come from another thread than the program's."""

    def describe(self) -> dict[str, Any]:
        """Plain JSON data: job_id, name, state, started_at (ms), duration_ms, epoch, records_in, records_out, rate,

        watermark_lag_ms, parallelism, operators (uid, name, kind, parallelism, level, records_in), restarts, failure,
        attempts (number, state, started_at, ended_at, driver, from_epoch, from_savepoint, failure),
        savepoints (path, epoch, duration_ms, bytes), checkpoints (see SnapshotHistory.describe).
        """

    def cancel(self) -> None:
        """Stops the job at once; returns when it has stopped."""

    def savepoint(self, directory: str | None) -> Future[str]:
        """Takes a savepoint below the directory (default: the configured one) while the job runs; gives its path."""

    def checkpoint(self) -> Future[str]:
        """Takes a checkpoint now, outside its interval; gives its path."""

    def stop(self, directory: str | None, drain: bool) -> Future[str]:
        """Takes a savepoint, then stops; with drain event time ends first, so that all windows fire."""

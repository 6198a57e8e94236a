"""The checkpoints and savepoints of a job: from its driver if it runs, from its files if it does not."""

from __future__ import annotations

from typing import Any

from penstock.cli.job_client import JobClient
from penstock.common.errors import JobExecutionError
from penstock.control.checkpoints import history_file_of
from penstock.control.known_jobs import KnownJob
from penstock.control.snapshot_history import SnapshotHistory
from penstock.rest.checkpoint_views import checkpoint_statistics

NO_SNAPSHOTS: dict[str, Any] = {**checkpoint_statistics(SnapshotHistory().describe())}


def snapshots_of(job: KnownJob) -> dict[str, Any]:
    """In the shape of Flink's `/jobs/:id/checkpoints`."""
    if job.is_running():
        try:
            return JobClient(job).checkpoints()
        except JobExecutionError:
            pass  # its files know what has happened before
    return {**checkpoint_statistics(SnapshotHistory(history_file_of(job.home)).describe())}

"""What is written down about a job, and whether a program may go on where an earlier run of it stopped."""

from __future__ import annotations

from typing import Any

from penstock.common.errors import JobExecutionError
from penstock.common.state_backend_names import HASHMAP, ROCKSDB
from penstock.runtime.blueprint import JobBlueprint


def describe_job(job: JobBlueprint) -> dict[str, Any]:
    """The job's shape: what must be the same for its snapshots to fit."""
    return {
        "job_id": job.settings.job_id,
        "name": job.settings.job_name,
        "parallelism": job.parallelism,
        "levels": job.levels,
        "state backend": HASHMAP if job.settings.disk_state is None else ROCKSDB,
        "operators": [
            {
                "uid": op.uid,
                "name": op.name,
                "kind": op.kind,
                "parallelism": op.parallelism,
                "max parallelism": op.max_parallelism,
                "level": op.level,
            }
            for op in job.operators
        ],
    }


def check_same_job(recorded: dict[str, Any], described: dict[str, Any]) -> None:
    """Going on from the last epoch needs the same graph; the message names the first difference."""
    if described["state backend"] != recorded["state backend"]:
        raise JobExecutionError(
            f"the job {described['job_id']} keeps its state as the backend {recorded['state backend']} does and cannot "
            f"go on with the backend {described['state backend']}. Run it with the one that it had; to change it, stop "
            "the job with a savepoint (penstock stop), and start the program from that (-s) as a new job."
        )
    before = {operator["uid"]: operator for operator in recorded["operators"]}
    now = {operator["uid"]: operator for operator in described["operators"]}
    for uid in before.keys() - now.keys():
        _refuse(described, f"the operator {before[uid]['name']!r} (uid {uid}) is gone")
    for uid in now.keys() - before.keys():
        _refuse(described, f"the operator {now[uid]['name']!r} (uid {uid}) is new")
    for uid, operator in now.items():
        for what in ("kind", "parallelism", "max parallelism", "level"):
            if operator[what] != before[uid][what]:
                _refuse(
                    described,
                    f"the operator {operator['name']!r} (uid {uid}) has another {what}: "
                    f"{operator[what]} instead of {before[uid][what]}",
                )


def _refuse(described: dict[str, Any], difference: str) -> None:
    raise JobExecutionError(
        f"the job {described['job_id']} cannot go on with a changed program: {difference}. "
        "Run the program as it was, or start it under another job id; from a savepoint (-s), operators may come and "
        "go and have another parallelism."
    )

"""`penstock checkpoint`: takes a checkpoint of a running job now, or shows those that were taken."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from penstock.control.known_jobs import KnownJob


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("job", metavar="JOB", help="id of the job, or the beginning of it")
    parser.add_argument(
        "--history", action="store_true", help="take none, show the checkpoints and savepoints that were taken"
    )
    parser.add_argument("--json", action="store_true", help="for scripts")


def execute(arguments: argparse.Namespace) -> int:
    from penstock.cli.job_client import START_SECONDS, JobClient
    from penstock.cli.submitted_jobs import job_with_driver

    job = job_with_driver(arguments.job)
    if arguments.history:
        return _show_history(job, arguments.json)
    location = JobClient(job, START_SECONDS).checkpoint()
    print(json.dumps({"id": job.job_id, "location": location}) if arguments.json else location)
    return 0


def _show_history(job: KnownJob, as_json: bool) -> int:
    from penstock.cli import tables
    from penstock.cli.snapshot_summary import snapshots_of

    snapshots = snapshots_of(job)
    if as_json:
        print(json.dumps(snapshots, indent=2))
        return 0
    counts = snapshots["counts"]
    print(f"{counts['completed']} completed, {counts['failed']} failed, {counts['in_progress']} in progress")
    if snapshots["history"]:
        tables.print_table(tables.SNAPSHOT_COLUMNS, snapshots["history"])
    return 0

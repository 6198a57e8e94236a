"""`penstock cancel JOB`: ends a job at once, or after a savepoint."""

from __future__ import annotations

import argparse
import json

from penstock.cli.locations import absolute_location


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("job", metavar="JOB", help="id of the job, or the beginning of it")
    parser.add_argument(
        "--with-savepoint",
        metavar="DIR",
        type=absolute_location,
        help="take a savepoint below this directory first; nothing is processed between savepoint and end",
    )
    parser.add_argument("--json", action="store_true", help="for scripts")


def execute(arguments: argparse.Namespace) -> int:
    from penstock.cli.job_client import START_SECONDS, JobClient
    from penstock.cli.submitted_jobs import cancel_waiting, job_with_driver, waiting_job

    location = None
    if arguments.with_savepoint is None and (waiting := waiting_job(arguments.job)) is not None:
        cancel_waiting(waiting)
        job_id = waiting.id
    else:
        job = job_with_driver(arguments.job)
        job_id = job.job_id
        if arguments.with_savepoint is None:
            JobClient(job, START_SECONDS).cancel()
        else:
            location = JobClient(job, START_SECONDS).cancel_with_savepoint(arguments.with_savepoint)
    if arguments.json:
        print(json.dumps({"id": job_id, "location": location}))
    else:
        print(f"cancelled {job_id}" if location is None else location)
    return 0

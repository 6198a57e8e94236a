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
    from penstock.cli.job_client import JobClient
    from penstock.control.known_jobs import find_job

    job = find_job(arguments.job)
    client = JobClient(job)
    location = None
    if arguments.with_savepoint is None:
        client.cancel()
    else:
        location = client.cancel_with_savepoint(arguments.with_savepoint)
    if arguments.json:
        print(json.dumps({"id": job.job_id, "location": location}))
    else:
        print(f"cancelled {job.job_id}" if location is None else location)
    return 0

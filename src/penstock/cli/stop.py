"""`penstock stop JOB`: takes a savepoint and ends the job in order."""

from __future__ import annotations

import argparse
import json

from penstock.cli.locations import absolute_location


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("job", metavar="JOB", help="id of the job, or the beginning of it")
    parser.add_argument(
        "-p",  # as in Flink
        "--savepoint-path",
        metavar="DIR",
        type=absolute_location,
        help="directory to write the savepoint below; default: execution.checkpointing.savepoint-dir of the job",
    )
    parser.add_argument(
        "-d", "--drain", action="store_true", help="end event time first, so that all windows and timers fire"
    )
    parser.add_argument("--json", action="store_true", help="for scripts")


def execute(arguments: argparse.Namespace) -> int:
    from penstock.cli.job_client import START_SECONDS, JobClient
    from penstock.cli.submitted_jobs import job_with_driver

    job = job_with_driver(arguments.job)
    location = JobClient(job, START_SECONDS).stop(arguments.savepoint_path, arguments.drain)
    print(json.dumps({"id": job.job_id, "location": location}) if arguments.json else location)
    return 0

"""`penstock checkpoint`: takes a checkpoint of a running job now, outside its interval."""

from __future__ import annotations

import argparse
import json


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("job", metavar="JOB", help="id of the job, or the beginning of it")
    parser.add_argument("--json", action="store_true", help="for scripts")


def execute(arguments: argparse.Namespace) -> int:
    from penstock.cli.job_client import JobClient
    from penstock.cli.known_jobs import find_job

    job = find_job(arguments.job)
    location = JobClient(job).checkpoint()
    print(json.dumps({"id": job.job_id, "location": location}) if arguments.json else location)
    return 0

"""`penstock list`: the jobs that run, those whose driver is gone but whose files remain, and on demand all others."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from penstock.cli.job_summary import JobSummary


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-a", "--all", action="store_true", help="also the jobs that have ended")
    parser.add_argument("--json", action="store_true", help="for scripts")


def execute(arguments: argparse.Namespace) -> int:
    from penstock.cli.job_summary import summary_of, summary_of_finished
    from penstock.control.known_jobs import finished_jobs, known_jobs

    jobs = [summary_of(job) for job in known_jobs()]
    if arguments.all:
        jobs += [summary_of_finished(record) for record in finished_jobs()]
    if arguments.json:
        print(json.dumps({"jobs": [job.as_json() for job in jobs]}, indent=2))
    else:
        _print_table(jobs)
    return 0


def _print_table(jobs: list[JobSummary]) -> None:
    from penstock.cli.job_summary import DEAD
    from penstock.cli.tables import JOB_COLUMNS, print_table

    if not jobs:
        print("no jobs")
        return
    print_table(JOB_COLUMNS, jobs)
    if any(job.status == DEAD for job in jobs):
        print(f"{DEAD}: the driver is gone, the files remain; `penstock resume JOB` goes on from the last epoch")

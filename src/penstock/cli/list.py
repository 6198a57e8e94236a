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
    from penstock.cli.job_summary import summary_of, summary_of_described, summary_of_finished
    from penstock.cli.submitted_jobs import jobs_without_record, waiting_jobs
    from penstock.control.known_jobs import finished_jobs, known_jobs

    waiting = waiting_jobs()
    jobs = [summary_of(job) for job in known_jobs() if job.job_id not in waiting]
    jobs += waiting.values()
    if arguments.all:
        ended = [summary_of_finished(record) for record in finished_jobs()]
        ended += [summary_of_described(job) for job in jobs_without_record()]
        jobs += sorted(ended, key=lambda job: (job.start_time or 0) + (job.duration or 0))
    if arguments.json:
        print(json.dumps({"jobs": [job.as_json() for job in jobs]}, indent=2))
    else:
        _print_table(jobs, arguments.all)
    return 0


def _print_table(jobs: list[JobSummary], all_of_them: bool) -> None:
    from penstock.cli.job_summary import DEAD
    from penstock.cli.tables import JOB_COLUMNS, print_table

    if not jobs:
        from penstock.control.job_home import penstock_home

        hint = "" if all_of_them else "; `penstock list --all` shows those that have ended"
        print(f"no jobs run in {penstock_home().absolute()}{hint}")
        return
    print_table(JOB_COLUMNS, jobs)
    for job in jobs:
        if job.waiting:
            print(f"{job.id} waits: {job.waiting}")
    if any(job.status == DEAD for job in jobs):
        print(f"{DEAD}: the driver is gone, the files remain; `penstock resume JOB` goes on from the last epoch")

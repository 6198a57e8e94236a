"""`penstock history [JOB]`: jobs that have ended, also when no manager runs."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from penstock.control.job_control import JobDescription


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("job", metavar="JOB", nargs="?", help="id of a job, or the beginning of it; without it, all")
    parser.add_argument("--json", action="store_true", help="for scripts; of one job everything that is known")


def execute(arguments: argparse.Namespace) -> int:
    from penstock.cli.submitted_jobs import jobs_without_record
    from penstock.common.errors import JobExecutionError
    from penstock.control.finished_jobs import FinishedJobs
    from penstock.control.job_history import JobHistory
    from penstock.control.job_home import penstock_home
    from penstock.manager.job_files import describe_ended

    home = penstock_home().absolute()
    ids = {*JobHistory(home).ids(), *(record.job_id for record in FinishedJobs(home).all())}
    wanted = [job_id for job_id in ids if job_id.startswith((arguments.job or "").lower())]
    jobs = [job for job_id in wanted if (job := describe_ended(home, job_id)) is not None]
    jobs += [job for job in jobs_without_record() if job.job_id.startswith((arguments.job or "").lower())]
    jobs.sort(key=lambda job: job.started_at + job.duration_ms)
    if arguments.job is None:
        _list(jobs, arguments.json)
    elif len(jobs) == 1:
        _show(jobs[0], arguments.json)
    else:
        found = "no job has" if not jobs else "several jobs have"
        raise JobExecutionError(
            f"{found} ended in {home} with an id that begins with {arguments.job!r}; `penstock history` lists those "
            "that have ended, `penstock list` those that run"
        )
    return 0


def _list(jobs: list[JobDescription], as_json: bool) -> None:
    from penstock.cli import tables
    from penstock.rest.job_views import job_overview

    if as_json:
        print(json.dumps({"jobs": [job_overview(job) for job in jobs]}, indent=2))
    elif not jobs:
        print("no jobs have ended; `penstock list` shows those that run")
    else:
        tables.print_table(
            (
                ("job", lambda job: job.job_id),
                ("name", lambda job: job.name),
                ("status", lambda job: job.state.name),
                ("ended", lambda job: tables.moment(job.started_at + job.duration_ms)),
                ("duration", lambda job: tables.duration(job.duration_ms)),
                ("records in", lambda job: tables.number(job.progress.records_in)),
                ("restarts", lambda job: tables.number(job.restarts)),
            ),
            jobs,
        )


def _show(job: JobDescription, as_json: bool) -> None:
    from penstock.cli import tables
    from penstock.common.json_data import to_json
    from penstock.rest.checkpoint_views import checkpoint_statistics

    if as_json:
        print(json.dumps(to_json(job), indent=2, default=repr))
        return
    facts = [
        ("job", job.job_id),
        ("name", job.name),
        ("status", job.state.name),
        ("started", tables.moment(job.started_at)),
        ("duration", tables.duration(job.duration_ms)),
        ("records in", tables.number(job.progress.records_in)),
        ("records out", tables.number(job.progress.records_out)),
        ("script", tables.text(job.script)),
    ]
    if job.failure is not None:
        facts.append(("failure", str(job.failure)))
    tables.print_facts(facts)
    if not job.operators:
        return  # it ended before its program had made a graph
    tables.print_table(
        (
            ("uid", lambda operator: operator.uid),
            ("operator", lambda operator: operator.name),
            ("parallelism", lambda operator: tables.text(operator.parallelism)),
            ("records in", lambda operator: tables.number(operator.records_in)),
            ("records out", lambda operator: tables.number(operator.total("numRecordsOut"))),
            ("busy", lambda operator: tables.duration(round(operator.total("accumulateBusyTimeMs")))),
        ),
        job.operators,
    )
    tables.print_table(tables.ATTEMPT_COLUMNS, job.attempts)
    snapshots = checkpoint_statistics(job.snapshots)["history"]
    if snapshots:
        tables.print_table(tables.SNAPSHOT_COLUMNS, snapshots)

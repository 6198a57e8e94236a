"""`penstock info JOB`: what is known about one job."""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from penstock.cli.job_summary import JobSummary


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("job", metavar="JOB", help="id of the job, or the beginning of it")
    parser.add_argument("--json", action="store_true", help="for scripts")


def execute(arguments: argparse.Namespace) -> int:
    summary, snapshots = _look_up(arguments.job)
    if arguments.json:
        print(json.dumps({**summary.as_json(), "checkpoints": snapshots}, indent=2))
    else:
        _print(summary, snapshots)
    return 0


def _look_up(prefix: str) -> tuple[JobSummary, dict[str, Any]]:
    from penstock.cli.job_summary import summary_of
    from penstock.cli.snapshot_summary import NO_SNAPSHOTS, snapshots_of
    from penstock.cli.submitted_jobs import waiting_job
    from penstock.control.known_jobs import find_job, known_jobs

    if prefix and not any(job.job_id.startswith(prefix.lower()) for job in known_jobs()):
        if (waiting := waiting_job(prefix)) is not None:
            return waiting, NO_SNAPSHOTS
        if (ended := _ended(prefix)) is not None:
            return ended
    job = find_job(prefix)
    return waiting_job(job.job_id) or summary_of(job), snapshots_of(job)


def _ended(prefix: str) -> tuple[JobSummary, dict[str, Any]] | None:
    """Of the only job that has ended and whose id begins so; its history tells more than the record of its end."""
    from penstock.cli.job_summary import summary_of_described, summary_of_finished
    from penstock.cli.snapshot_summary import NO_SNAPSHOTS
    from penstock.cli.submitted_jobs import jobs_without_record
    from penstock.control.job_history import JobHistory
    from penstock.control.job_home import penstock_home
    from penstock.control.known_jobs import finished_jobs_named
    from penstock.rest.checkpoint_views import checkpoint_statistics

    unrecorded = [job for job in jobs_without_record() if job.job_id.startswith(prefix.lower())]
    recorded = finished_jobs_named(prefix)
    if len(recorded) + len(unrecorded) != 1:
        return None
    if unrecorded:
        return summary_of_described(unrecorded[0]), NO_SNAPSHOTS
    record = summary_of_finished(recorded[0])
    kept = JobHistory(penstock_home().absolute()).get(record.id)
    if kept is None:
        return record, NO_SNAPSHOTS
    summary = replace(summary_of_described(kept), last_savepoint=record.last_savepoint)
    return summary, cast(dict[str, Any], checkpoint_statistics(kept.snapshots))


def _print(job: JobSummary, snapshots: dict[str, Any]) -> None:
    from penstock.cli import tables

    facts = [
        ("job", job.id),
        ("name", tables.text(job.name)),
        ("status", job.status),
        ("started", tables.moment(job.start_time)),
        ("duration", tables.duration(job.duration)),
        ("parallelism", tables.text(job.parallelism)),
        ("epoch", tables.number(job.epoch)),
        ("records in", tables.number(job.records_in)),
        ("records out", tables.number(job.records_out)),
        ("records/s", tables.number(job.rate)),
        ("watermark lag", tables.duration(job.watermark_lag)),
        ("restarts", tables.number(job.restarts)),
        ("driver", tables.text(job.owner)),
        ("script", tables.text(job.script)),
        ("files", tables.text(job.home)),
    ]
    if job.waiting:
        facts.append(("waits for", job.waiting))
    if job.last_savepoint:
        facts.append(("last savepoint", job.last_savepoint))
    restored = snapshots["latest"]["restored"]
    if restored is not None:
        facts.append(("started from", restored["external_path"]))
        facts += [("instead of", damaged) for damaged in restored["penstock"]["instead-of"]]
    if job.failure:
        facts.append(("failure", str(job.failure)))
    tables.print_facts(facts)
    if job.operators:
        tables.print_table(tables.OPERATOR_COLUMNS, job.operators)
    if job.attempts:
        tables.print_table(tables.ATTEMPT_COLUMNS, job.attempts)
    if snapshots["history"]:
        tables.print_table(tables.SNAPSHOT_COLUMNS, snapshots["history"])

"""`penstock info JOB`: what is known about one job."""

from __future__ import annotations

import argparse
import json
from typing import Any


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("job", metavar="JOB", help="id of the job, or the beginning of it")
    parser.add_argument("--json", action="store_true", help="for scripts")


def execute(arguments: argparse.Namespace) -> int:
    from penstock.cli.job_client import JobClient
    from penstock.cli.job_summary import DEAD, UNREACHABLE, summary_of
    from penstock.cli.known_jobs import find_job

    job = find_job(arguments.job)
    summary = summary_of(job)
    answers = job.is_running() and summary["status"] not in (DEAD, UNREACHABLE)
    savepoints = JobClient(job).checkpoints()["history"] if answers else []
    if arguments.json:
        print(json.dumps({**summary, "savepoints": savepoints}, indent=2))
    else:
        _print(summary, savepoints)
    return 0


def _print(job: dict[str, Any], savepoints: list[dict[str, Any]]) -> None:
    from penstock.cli import tables

    facts = [
        ("job", job["id"]),
        ("name", tables.text(job["name"])),
        ("status", job["status"]),
        ("started", tables.moment(job["start-time"])),
        ("duration", tables.duration(job["duration"])),
        ("parallelism", tables.text(job["parallelism"])),
        ("epoch", tables.number(job["epoch"])),
        ("records in", tables.number(job["records-in"])),
        ("records out", tables.number(job["records-out"])),
        ("records/s", tables.number(job["rate"])),
        ("watermark lag", tables.duration(job["watermark-lag"])),
        ("restarts", tables.number(job["restarts"])),
        ("driver", tables.text(job["owner"])),
        ("script", tables.text(job["script"])),
        ("files", job["home"]),
    ]
    if job["failure"]:
        facts.append(("failure", job["failure"]))
    tables.print_facts(facts)
    if job["operators"]:
        tables.print_table(tables.OPERATOR_COLUMNS, job["operators"])
    if savepoints:
        tables.print_table(tables.SAVEPOINT_COLUMNS, savepoints)

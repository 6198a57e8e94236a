"""Jobs that were submitted to the manager and have no driver: they wait, start, or ended before their job began.

Their entries are files of the home, so that they are found when no manager runs as well.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from penstock.cli.job_summary import JobSummary, summary_of_described
from penstock.client import PenstockClient, find_manager
from penstock.client.jobs import MANAGER_DIRECTORY
from penstock.common.errors import JobExecutionError
from penstock.control.finished_jobs import FinishedJobs
from penstock.control.job_control import JobDescription
from penstock.control.job_home import penstock_home
from penstock.control.known_jobs import KnownJob, find_job, known_jobs
from penstock.manager.job_entry import EntryState, EntryStore, JobEntry
from penstock.manager.job_files import describe_ended, describe_entry, has_ended

_NO_MANAGER = "no manager runs that could start it: `penstock cluster start`"


def waiting_jobs() -> dict[str, JobSummary]:
    """By id: what the manager is to start, for the first time or again."""
    home = penstock_home().absolute()
    running = {job.job_id for job in known_jobs(home) if job.is_running()}
    entries = [entry for entry in _entries(home) if entry.state is not EntryState.ENDED]
    entries = [entry for entry in entries if entry.job_id not in running and not _ended_unnoticed(home, entry)]
    manager = find_manager(home) if entries else None
    return {entry.job_id: _waiting(home, entry, manager) for entry in entries}


def jobs_without_record() -> list[JobDescription]:
    """Those that ended before there was anything to record: a program that failed, a job that was cancelled."""
    home = penstock_home().absolute()
    recorded, known = FinishedJobs(home), {job.job_id for job in known_jobs(home)}
    return [
        describe_entry(home, entry, None)
        for entry in _entries(home)
        if entry.state is EntryState.ENDED and entry.job_id not in known and recorded.get(entry.job_id) is None
    ]


def job_with_driver(prefix: str) -> KnownJob:
    """As find_job(); of a job that has no driver yet it says what it waits for."""
    try:
        return find_job(prefix)
    except JobExecutionError:
        waiting = waiting_job(prefix)
        ended = [job for job in jobs_without_record() if job.job_id == prefix.lower()]
        if waiting is None and not ended:
            raise
    if waiting is None:
        raise JobExecutionError(
            f"the job {prefix} has ended ({ended[0].state.name}); `penstock info` tells more about it"
        )
    why = f": {waiting.waiting}" if waiting.waiting else "; try again in a moment"
    raise JobExecutionError(f"the job {waiting.id} has not started yet{why}")


def waiting_job(prefix: str) -> JobSummary | None:
    """The one that an id, or the beginning of exactly one id, means."""
    waiting = waiting_jobs()
    if prefix.lower() in waiting:
        return waiting[prefix.lower()]
    ids = {*waiting, *(job.job_id for job in known_jobs())}
    found = [job_id for job_id in ids if prefix and job_id.startswith(prefix.lower())]
    return waiting.get(found[0]) if len(found) == 1 else None


def cancel_waiting(job: JobSummary) -> None:
    manager = find_manager(penstock_home().absolute())
    if manager is None:
        raise JobExecutionError(f"the job {job.id} waits, and {_NO_MANAGER}; then cancel it")
    manager.job(job.id).cancel()


def _ended_unnoticed(home: Path, entry: JobEntry) -> bool:
    """Its driver has recorded the end of the job, and there was no manager to notice."""
    ended = describe_ended(home, entry.job_id)
    return ended is not None and entry.state is EntryState.RUNNING and has_ended(entry, ended)


def _entries(home: Path) -> list[JobEntry]:
    return EntryStore(home / MANAGER_DIRECTORY / "jobs").all()


def _waiting(home: Path, entry: JobEntry, manager: PenstockClient | None) -> JobSummary:
    summary = summary_of_described(describe_entry(home, entry, None if manager else _NO_MANAGER))
    if manager is None:
        return summary
    try:
        answer = manager.job(entry.job_id).details()
    except JobExecutionError:
        return summary  # it has ended meanwhile
    return replace(summary, status=answer["state"], waiting=answer["penstock"].get("waiting"))

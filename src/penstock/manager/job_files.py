"""What the files of a home say about a job that no process can be asked about."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from pathlib import Path

from penstock.common.failure import Failure
from penstock.common.job_status import JobStatus
from penstock.control.attempts import Attempt, read_attempts
from penstock.control.checkpoints import history_file_of
from penstock.control.finished_jobs import FinishedJobs
from penstock.control.job_control import JobDescription, OperatorDescription, SubtaskDescription
from penstock.control.job_history import JobHistory
from penstock.control.job_home import JobHome
from penstock.control.job_record import JobRecord
from penstock.control.progress import JobProgress
from penstock.control.snapshot_history import SnapshotHistory, SnapshotOverview
from penstock.manager.job_entry import EntryState, JobEntry


def describe_ended(home: Path, job_id: str) -> JobDescription | None:
    """From the history, or from the smaller record that outlives it."""
    kept = JobHistory(home).get(job_id)
    if kept is not None:
        return kept
    record = FinishedJobs(home).get(job_id)
    if record is None:
        return None
    return replace(
        describe_record(record, record.attempts, record.state),
        started_at=record.started_at,
        duration_ms=record.duration_ms,
        failure=record.failure,
        accumulators=record.metrics,
    )


def describe_home(home: JobHome, state: JobStatus = JobStatus.SUSPENDED) -> JobDescription | None:
    """Of a job whose driver is gone and whose files remain; None before it has any."""
    record = home.read_record()
    if record is None:
        return None
    snapshots = SnapshotHistory(history_file_of(home)).describe()
    return describe_record(record, read_attempts(home.run), record.state or state, snapshots)


def has_ended(entry: JobEntry, known: JobDescription) -> bool:
    """Whether it says how the job ended that the manager has started, and not how an earlier run of it did."""
    ended_at = known.started_at + known.duration_ms
    return known.state.is_globally_terminal_state() and ended_at >= (entry.started_at or entry.submitted_at)


def describe_entry(
    home: Path, entry: JobEntry, waiting: str | None, last: JobDescription | None = None
) -> JobDescription:
    """Of a job that was submitted: what is known of it besides, under the state that the manager gives it.

    The driver of one that is rescaled has removed its files: what it said last is all there is.
    """
    began = entry.starts > 1 or last is not None
    state = entry.outcome or (JobStatus.RESTARTING if entry.starts > 0 else JobStatus.CREATED)
    if entry.state is EntryState.RUNNING:
        state = JobStatus.CANCELLING if entry.cancel else JobStatus.RESTARTING if began else JobStatus.CREATED
    known = (
        describe_home(JobHome(home, entry.job_id), state)
        or _without_numbers(last)
        or JobDescription(
            entry.job_id,
            entry.launch.name or Path(entry.launch.script).name,
            entry.slots,
            entry.submitted_at,
            0,
            _progress(state),
            (),
            (),
            SnapshotOverview(),
            script=entry.launch.script,
            configuration=dict(entry.launch.configuration),
        )
    )
    now = time.time_ns() // 1_000_000
    return replace(
        known,
        progress=replace(known.progress, state=state),
        started_at=entry.submitted_at,
        duration_ms=(entry.ended_at or now) - entry.submitted_at,
        waiting=waiting,
        failure=known.failure or (None if entry.failure is None else _failure(entry.failure)),
    )


def _failure(last_words: str) -> Failure:
    """What the end of a driver's log says: a traceback names the exception in its last line."""
    text = last_words.strip()
    last = text.rpartition("\n")[2]
    named = re.fullmatch(r"(?:\w+\.)*(\w+): (.+)", last)
    if "Traceback (most recent call last):" not in text or named is None:
        return Failure("JobExecutionError", last or "the driver left no word", text)
    return Failure(named[1], named[2], text)


def describe_record(
    record: JobRecord,
    attempts: tuple[Attempt, ...],
    state: JobStatus,
    snapshots: SnapshotOverview | None = None,
) -> JobDescription:
    """The job's shape, without any number."""
    program = record.program
    started = attempts[0].started_at if attempts else 0
    return JobDescription(
        record.job_id,
        record.name,
        record.parallelism,
        started,
        max(((attempt.ended_at or attempt.started_at) - started for attempt in attempts), default=0),
        _progress(state),
        tuple(
            OperatorDescription(
                op.uid,
                op.name,
                op.kind,
                op.parallelism,
                op.level,
                0,
                op.max_parallelism,
                op.chain,
                op.origin,
                op.inputs,
                tuple(SubtaskDescription(index) for index in range(op.parallelism)),
            )
            for op in record.operators
        ),
        attempts,
        snapshots or SnapshotOverview(),
        failure=next((a.failure for a in reversed(attempts) if a.failure is not None), None),
        configuration={} if program is None else dict(program.configuration),
        script=None if program is None else program.script,
    )


def _without_numbers(last: JobDescription | None) -> JobDescription | None:
    if last is None:
        return None
    operators = (
        replace(operator, subtasks=tuple(SubtaskDescription(index) for index in range(operator.parallelism)))
        for operator in last.operators
    )
    return replace(last, operators=tuple(operators), progress=replace(last.progress, rate=0.0))


def _progress(state: JobStatus) -> JobProgress:
    return JobProgress(state, 0, 0, 0, 0.0, None)

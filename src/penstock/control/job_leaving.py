"""What becomes of a job's files when it ends: swept, recorded and removed, or kept for whoever resumes it."""

from __future__ import annotations

from dataclasses import fields, replace

from penstock.common.failure import Failure
from penstock.common.job_status import JobStatus
from penstock.control import job_machine as says
from penstock.control.attempts import AttemptHistory
from penstock.control.finished_jobs import FinishedJobs, FinishedRecord
from penstock.control.job_epochs import JobEpochs
from penstock.control.job_home import JobHome
from penstock.control.job_machine import Instruction
from penstock.control.job_record import JobRecord, record_of
from penstock.runtime.blueprint import JobBlueprint
from penstock.runtime.clock import Clock


class JobLeaving:
    """Carries out the instructions that are about files."""

    def __init__(
        self, job: JobBlueprint, home: JobHome, attempts: AttemptHistory, epochs: JobEpochs, clock: Clock
    ) -> None:
        self._job = job
        self._home = home
        self._attempts = attempts
        self._epochs = epochs
        self._clock = clock

    def do(self, instruction: Instruction) -> None:
        match instruction:
            case says.SweepSinks():
                self._epochs.committing.sweep()
            case says.WriteFinalRecord(state, failure, stopped):
                self._epochs.committing.conclude()
                FinishedJobs(self._home.home).put(self._final_record(state, failure, stopped))
            case says.RemoveFiles():
                self._home.remove()
            case says.KeepFiles():
                self._home.write_record(replace(self._record(), state=JobStatus.FAILED))
            case says.Release():
                self._home.release()
            case _:
                raise AssertionError(f"nobody carries out {instruction}")

    def _record(self) -> JobRecord:
        return self._home.read_record() or record_of(self._job)

    def _final_record(self, state: JobStatus, failure: Failure | None, stopped: bool) -> FinishedRecord:
        now, attempts, record = self._clock(), self._attempts.entries(), self._record()
        shape = {field.name: getattr(record, field.name) for field in fields(record) if field.name != "state"}
        return FinishedRecord(
            **shape,
            state=state,
            started_at=attempts[0].started_at,
            ended_at=now,
            duration_ms=now - attempts[0].started_at,
            attempts=attempts,
            failure=failure,
            stopped=stopped,
            savepoint=self._epochs.snapshots.describe().last_savepoint,
            metrics=self._epochs.statistics.metric_totals(),
        )

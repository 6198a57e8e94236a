"""What is written down about a job, and whether a program may go on where an earlier run of it stopped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.common.errors import JobExecutionError
from penstock.common.job_status import JobStatus
from penstock.common.options import MICRO_BATCH
from penstock.common.state_backend_names import HASHMAP, ROCKSDB
from penstock.control.program_record import ProgramRecord

if TYPE_CHECKING:  # the command line reads records and starts quickly
    from penstock.runtime.blueprint import JobBlueprint


@dataclass(frozen=True)
class InputDescription:
    """An edge that leads into an operator."""

    uid: str
    index: int
    strategy: str  # Flink's name of the exchange: HASH, REBALANCE, ...
    exchange: bool  # whether records leave their process
    side_output: str | None = None


@dataclass(frozen=True)
class OperatorRecord:
    uid: str
    name: str
    kind: str
    parallelism: int
    level: int
    max_parallelism: int = 128
    chain: str = ""  # these are for showing the graph when nobody runs it
    origin: str = ""
    inputs: tuple[InputDescription, ...] = ()


@dataclass(frozen=True, kw_only=True)
class JobRecord:
    """The job's shape, which must be the same for its snapshots to fit, and the program that made it."""

    job_id: str
    name: str
    parallelism: int
    levels: int
    state_backend: str = HASHMAP
    engine: str = MICRO_BATCH  # the only one that older records do not name
    operators: tuple[OperatorRecord, ...] = ()
    program: ProgramRecord | None = None
    state: JobStatus | None = None  # written by a driver that gave up in order, but keeps the files


def record_of(job: JobBlueprint, program: ProgramRecord | None = None, engine: str = MICRO_BATCH) -> JobRecord:
    return JobRecord(
        job_id=job.settings.job_id,
        name=job.settings.job_name,
        parallelism=job.parallelism,
        levels=job.levels,
        state_backend=HASHMAP if job.settings.disk_state is None else ROCKSDB,
        operators=tuple(
            OperatorRecord(
                op.uid,
                op.name,
                op.kind,
                op.parallelism,
                op.level,
                op.max_parallelism,
                op.task_name,
                str(op.origin),
                inputs_of(job, op.id),
            )
            for op in job.operators
        ),
        program=program,
        engine=engine,
    )


def inputs_of(job: JobBlueprint, operator: int) -> tuple[InputDescription, ...]:
    uids = {each.id: each.uid for each in job.operators}
    return tuple(
        InputDescription(
            uids[edge.source], edge.input_index, edge.partitioning.label, edge.crosses_levels, edge.side_output
        )
        for edge in job.edges
        if edge.target == operator
    )


def check_same_job(recorded: JobRecord, now: JobRecord) -> None:
    """Going on from the last epoch needs the same graph; the message names the first difference."""
    if now.state_backend != recorded.state_backend:
        raise JobExecutionError(
            f"the job {now.job_id} keeps its state as the backend {recorded.state_backend} does and cannot "
            f"go on with the backend {now.state_backend}. Run it with the one that it had; to change it, stop "
            "the job with a savepoint (penstock stop), and start the program from that (-s) as a new job."
        )
    before = {operator.uid: operator for operator in recorded.operators}
    after = {operator.uid: operator for operator in now.operators}
    for uid in before.keys() - after.keys():
        _refuse(now, f"the operator {before[uid].name!r} (uid {uid}) is gone")
    for uid in after.keys() - before.keys():
        _refuse(now, f"the operator {after[uid].name!r} (uid {uid}) is new")
    for uid, operator in after.items():
        for what in ("kind", "parallelism", "max_parallelism", "level"):
            had, has = getattr(before[uid], what), getattr(operator, what)
            if had != has:
                name = what.replace("_", " ")
                _refuse(now, f"the operator {operator.name!r} (uid {uid}) has another {name}: {has} instead of {had}")


def _refuse(job: JobRecord, difference: str) -> None:
    raise JobExecutionError(
        f"the job {job.job_id} cannot go on with a changed program: {difference}. "
        "Run the program as it was, or start it under another job id; from a savepoint (-s), operators may come and "
        "go and have another parallelism."
    )

"""What a job's record says about the program that started it, so that `penstock resume` can start it again."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

from penstock.common.errors import JobExecutionError
from penstock.common.run_options import RunOptions


@dataclass(frozen=True)
class ProgramRecord:
    """`script` is None for a program that was not started by `penstock run`."""

    first_job: str | None = None
    number: int = 0  # which one of the program's jobs it is
    script: str | None = None
    arguments: tuple[str, ...] = ()
    working_directory: str | None = None
    pyflink: bool = False
    parallelism: int | None = None
    configuration: dict[str, str] = field(default_factory=dict)
    master: str | None = None
    name: str | None = None
    savepoint_path: str | None = None
    allow_non_restored_state: bool = False


def job_id_of(first_job: str, number: int) -> str:
    """The id of a program's job: a program that runs again finds all its jobs again, not only the first."""
    return first_job if number == 0 else hashlib.sha256(f"{first_job}/{number}".encode()).hexdigest()[:32]


def program_record(options: RunOptions, number: int = 0) -> ProgramRecord:
    return ProgramRecord(
        first_job=options.job_id,
        number=number,
        script=options.script_path,
        arguments=tuple(options.arguments),
        working_directory=options.working_directory,
        pyflink=options.pyflink_imports,
        parallelism=options.parallelism,
        configuration=dict(options.configuration),
        master=options.master,
        name=options.job_name,
        savepoint_path=options.savepoint_path,
        allow_non_restored_state=options.allow_non_restored_state,
    )


def recorded_options(job_id: str, program: ProgramRecord) -> RunOptions:
    """The options of the recorded run, under the same job ids; verbosity and status line are this run's choice."""
    first_job = program.first_job or job_id
    if program.script is None:
        raise JobExecutionError(
            f"the job {job_id} was not started by `penstock run`, so that its program is not known; "
            f"start it yourself: penstock run --job-id {first_job} script.py"
        )
    return RunOptions(
        parallelism=program.parallelism,
        configuration=dict(program.configuration),
        master=program.master,
        job_name=program.name,
        job_id=first_job,
        pyflink_imports=program.pyflink,
        script_path=program.script,
        arguments=program.arguments,
        working_directory=program.working_directory,
        savepoint_path=program.savepoint_path,
        allow_non_restored_state=program.allow_non_restored_state,
    )

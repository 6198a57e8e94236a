"""`penstock resume JOB`: runs a job's program again, under its id and as it was started the first time."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.cli import run

if TYPE_CHECKING:
    from penstock.control.program_record import ProgramRecord


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("job", metavar="JOB", help="id of the job, or the beginning of it")
    run.add_take_over(parser)
    parser.add_argument("-v", "--verbose", action="store_true", help="show Spark's log and whole tracebacks")


def execute(arguments: argparse.Namespace) -> int:
    from penstock.common.errors import JobExecutionError
    from penstock.control.job_home import penstock_home
    from penstock.control.known_jobs import find_job
    from penstock.control.program_record import ProgramRecord, recorded_options

    job = find_job(arguments.job)
    if job.is_running() and not arguments.take_over:
        raise JobExecutionError(
            f"the job {job.job_id} is running ({job.owner}): there is nothing to resume. If that process does not "
            "answer any more, --take-over takes the job from it"
        )
    program = (None if job.record is None else job.record.program) or ProgramRecord()
    options = recorded_options(job.job_id, program)
    _check_earlier_jobs(job.job_id, program, job.home.home)
    options.take_over = arguments.take_over
    options.verbose = arguments.verbose
    options.show_status = run.terminal_can_show_status()
    script = options.script_path or ""
    if not os.path.isfile(script):
        raise JobExecutionError(
            f"the program {script} of the job {job.job_id} is not there any more; start it from where it is now: "
            f"penstock run --job-id {options.job_id} script.py"
        )
    os.environ["PENSTOCK_HOME"] = str(penstock_home().absolute())  # stays the same in the other directory
    _enter(options.working_directory)
    return run.run_program(options, script)


def _check_earlier_jobs(job_id: str, program: ProgramRecord, home: Path) -> None:
    """A program reaches its second job only after the first, which must be known: else it would run once more."""
    from penstock.common.errors import JobExecutionError
    from penstock.control.finished_jobs import FinishedJobs, runs_again
    from penstock.control.job_home import JobHome
    from penstock.control.program_record import job_id_of

    for number in range(program.number):
        earlier = job_id_of(program.first_job or job_id, number)
        ended = FinishedJobs(home).get(earlier)
        if (ended is None or runs_again(ended)) and JobHome(home, earlier).read_record() is None:
            raise JobExecutionError(
                f"the job {job_id} is number {program.number + 1} of its program and cannot go on: number "
                f"{number + 1} ({earlier}) failed, or is not known any more, and would run again before it"
            )


def _enter(directory: str | None) -> None:
    """Paths among the program's arguments are relative to where it was started."""
    from penstock.common.errors import JobExecutionError

    try:
        if directory is not None:
            os.chdir(directory)
    except OSError as error:
        raise JobExecutionError(
            f"the program was started in {directory}, where this process cannot go ({error.strerror}); "
            "make that directory again, or start the program with `penstock run --job-id`"
        ) from None

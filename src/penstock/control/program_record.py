"""What a job's record says about the program that started it, so that `penstock resume` can start it again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from penstock.common.errors import JobExecutionError
from penstock.common.run_options import RunOptions


def program_record(options: RunOptions, arguments: Sequence[str]) -> dict[str, Any]:
    """Plain JSON data; `script` is None for a program that was not started by `penstock run`."""
    return {
        "script": options.script_path,
        "arguments": list(arguments),
        "working_directory": options.working_directory,
        "pyflink": options.pyflink_imports,
        "parallelism": options.parallelism,
        "configuration": dict(options.configuration),
        "master": options.master,
        "name": options.job_name,
        "savepoint_path": options.savepoint_path,
        "allow_non_restored_state": options.allow_non_restored_state,
    }


def recorded_options(job_id: str, program: Mapping[str, Any] | None) -> RunOptions:
    """The options of the recorded run, under the same job id; verbosity and status line are this run's choice."""
    if program is None or program.get("script") is None:
        raise JobExecutionError(
            f"the job {job_id} was not started by `penstock run`, so that its program is not known; "
            f"start it yourself: penstock run --job-id {job_id} script.py"
        )
    return RunOptions(
        parallelism=program["parallelism"],
        configuration=dict(program["configuration"]),
        master=program["master"],
        job_name=program["name"],
        job_id=job_id,
        pyflink_imports=program["pyflink"],
        script_path=program["script"],
        arguments=tuple(program["arguments"]),
        working_directory=program["working_directory"],
        savepoint_path=program["savepoint_path"],
        allow_non_restored_state=program["allow_non_restored_state"],
    )

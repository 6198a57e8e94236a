"""`penstock drive ENTRY`: the driver of one job of a manager. Started by the manager only."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from penstock.cli import run


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--lock", type=int, required=True, help="descriptor of the job's lock, held until the end")
    parser.add_argument("entry", type=Path, metavar="ENTRY", help="the manager's file about the job")


def execute(arguments: argparse.Namespace) -> int:
    from penstock.common.run_options import RunOptions
    from penstock.manager.job_entry import DriverOutcome, EntryStore, read_entry

    os.set_inheritable(arguments.lock, False)  # processes of ours may outlive us, and must not look like the driver
    entry = read_entry(arguments.entry)
    launch = entry.launch
    os.chdir(launch.working_directory)
    options = RunOptions(
        parallelism=launch.parallelism,
        configuration={"rest.flamegraph.enabled": "true", **launch.configuration},
        master=launch.master,
        job_name=launch.name,
        job_id=entry.job_id,
        pyflink_imports=launch.pyflink,
        script_path=launch.script,
        arguments=launch.arguments,
        working_directory=launch.working_directory,
        savepoint_path=launch.savepoint,
        allow_non_restored_state=launch.allow_non_restored_state,
    )
    code = run.run_program(options, launch.script)
    EntryStore(arguments.entry.parent).put_outcome(entry.job_id, DriverOutcome(code))
    return code

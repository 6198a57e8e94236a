"""What `penstock run` was asked for, handed to the program's environment inside the same process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass
class RunOptions:
    """Command-line choices; a plain `python script.py` runs with these defaults."""

    parallelism: int | None = None
    configuration: dict[str, str] = field(default_factory=dict)
    master: str | None = None
    job_name: str | None = None
    job_id: str | None = None  # of the program's first job, from which those of further jobs follow
    verbose: bool = False
    pyflink_imports: bool = False
    show_status: bool = False
    script_path: str | None = None
    arguments: tuple[str, ...] = ()
    working_directory: str | None = None
    savepoint_path: str | None = None
    allow_non_restored_state: bool = False
    take_over: bool = False
    web_page: bool = False  # serve it while the job runs
    jobs_submitted: int = 0
    environment_expected: Callable[[], None] | None = None  # called when the program seems to need one, perhaps again
    instead_of_running: Callable[[Any], None] | None = None  # gets the request of the first job, does not return


_current = RunOptions()


def current_run_options() -> RunOptions:
    return _current


def set_run_options(options: RunOptions) -> None:
    """Called once by the command line before the program starts."""
    global _current
    _current = options


def expect_environment() -> None:
    """The program loads or makes an environment: what takes long to start may be started now."""
    if _current.environment_expected is not None:
        _current.environment_expected()

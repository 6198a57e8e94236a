"""Brings the program's own modules to the workers."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from pyspark.sql import SparkSession

from penstock.common.run_options import current_run_options
from penstock.control.job_request import PythonDependencies


def module_paths(dependencies: PythonDependencies) -> tuple[str, ...]:
    """Directories to put on the workers' path: the script's own, and what the program added."""
    script = current_run_options().script_path or getattr(sys.modules["__main__"], "__file__", None)
    paths = [str(Path(script).resolve().parent)] if script else [os.getcwd()]
    paths += [str(Path(file).resolve()) for file in dependencies.files]
    return tuple(paths)


def ship_modules(session: SparkSession, paths: tuple[str, ...]) -> None:
    pass

"""Brings the program's own modules to the workers."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path

from pyspark.sql import SparkSession

from penstock.common.run_options import current_run_options
from penstock.control.job_request import PythonDependencies
from penstock.runtime.blueprint import JobSettings


def module_paths(dependencies: PythonDependencies) -> tuple[str, ...]:
    """Directories to put on the workers' path: the script's own, and what the program added."""
    script = current_run_options().script_path or getattr(sys.modules["__main__"], "__file__", None)
    paths = [str(Path(script).resolve().parent)] if script else [os.getcwd()]
    paths += [str(Path(file).resolve()) for file in dependencies.files]
    return tuple(paths)


def prepare_worker(settings: JobSettings) -> None:
    """In a worker: makes the program's modules importable as they are on the driver."""
    for path in reversed(settings.module_paths):
        if path not in sys.path:
            sys.path.insert(0, path)
    if settings.pyflink_imports:
        importlib.import_module("penstock.cli.pyflink_alias").install()


def ship_modules(session: SparkSession, paths: tuple[str, ...]) -> None:
    pass

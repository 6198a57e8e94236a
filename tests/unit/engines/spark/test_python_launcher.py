"""The Python that Spark's workers run on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from penstock.engines.spark.python_launcher import LAUNCHER, worker_python

SCRIPT = Path(__file__).parents[4] / "scripts" / LAUNCHER


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    """A directory with an interpreter and the launcher, as pip makes one."""
    (tmp_path / "python3").symlink_to(sys.executable)
    (tmp_path / "python").symlink_to("python3")
    (tmp_path / LAUNCHER).write_bytes(SCRIPT.read_bytes())
    (tmp_path / LAUNCHER).chmod(0o755)
    return tmp_path


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("/spark/python/lib/pyspark.zip:/spark/python/lib/py4j-0.10-src.zip:/spark/jars/spark-core_2.13-4.3.0.jar", ""),
        ("/spark/python/lib/pyspark.zip:/my modules:/lib.zip", "/my modules:/lib.zip"),
        ("/mine::/spark/python/lib/pyspark.zip", "/mine"),
        ("", ""),
    ],
)
def test_only_sparks_archives_leave_the_path(environment: Path, before: str, after: str) -> None:
    program = "import os, sys; print(os.environ['PYTHONPATH'], *sys.argv[1:], sep='|')"
    shown = subprocess.run(
        [str(environment / LAUNCHER), "-c", program, "an argument", ""],
        env={**os.environ, "PYTHONPATH": before},
        capture_output=True,
        text=True,
        check=True,
    )
    assert shown.stdout == f"{after}|an argument|\n"


def test_the_launcher_is_used_where_it_is_installed_for_this_interpreter(environment: Path) -> None:
    python = str(environment / "python")
    assert worker_python(python) == str(environment / LAUNCHER)
    (environment / "python3").unlink()
    (environment / "python3").symlink_to("/bin/sh")
    another = environment / "python3.99"
    another.symlink_to(sys.executable)
    assert worker_python(str(another)) == str(another), "python3 beside it is another one"


def test_without_the_launcher_workers_run_on_the_interpreter(environment: Path) -> None:
    (environment / LAUNCHER).unlink()
    assert worker_python(str(environment / "python")) == str(environment / "python")

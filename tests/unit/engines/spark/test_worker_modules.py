"""What a program brings is found by workers that do not see the driver's disk."""

from __future__ import annotations

import gc
import os
import shutil
import sys
import tarfile
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark import SparkFiles

from penstock.common.run_options import RunOptions, current_run_options, set_run_options
from penstock.engines.spark.worker_modules import prepare_worker, ship_modules
from penstock.runtime.blueprint import JobSettings


@pytest.fixture
def driver(tmp_path: Path) -> Path:
    """A program with a module and data, a package with data, a zip file, and a working directory."""
    program, package, archives = tmp_path / "program", tmp_path / "package", tmp_path / "archives"
    for path, content in {
        program / "job.py": "",
        program / "shipped_module.py": "WHERE = __file__",
        program / "large.csv": "data",
        package / "shipped_package" / "__init__.py": "",
        package / "shipped_package" / "words.txt": "a b",
        archives / "models" / "run.sh": "#!/bin/sh",
    }.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    (archives / "models" / "run.sh").chmod(0o755)
    with zipfile.ZipFile(tmp_path / "more.zip", "w") as file:
        file.writestr("from_a_zip.py", "X = 7")
    return tmp_path


def settings_of(driver: Path, job_id: str = "ab") -> JobSettings:
    paths = tuple(str(driver / name) for name in ("program", "package", "more.zip"))
    return JobSettings(job_id, "a job", module_paths=paths, working_directory=str(driver / "archives"))


@pytest.fixture
def executor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where Spark puts files on an executor; path and working directory are restored."""
    root = tmp_path / "executor"
    root.mkdir()
    monkeypatch.setattr(SparkFiles, "_is_running_on_worker", True)
    monkeypatch.setattr(SparkFiles, "_root_directory", str(root))
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(gc, "set_threshold", lambda *_: None)
    monkeypatch.chdir(tmp_path)
    return root


def send(driver: Path, executor: Path, master: str, job_id: str = "ab") -> list[str]:
    sent: list[str] = []
    context: Any = SimpleNamespace(master=master, addFile=sent.append)
    before = current_run_options()
    set_run_options(RunOptions(script_path=str(driver / "program" / "job.py")))
    try:
        ship_modules(context, settings_of(driver, job_id), driver / f"shipped-{job_id}")
    finally:
        set_run_options(before)
    for path in sent:
        shutil.copy(path, executor)
    return [os.path.basename(path) for path in sent]


def test_workers_on_other_machines_get_everything(driver: Path, executor: Path) -> None:
    names = send(driver, executor, "spark://host:7077")
    assert not set(names) & set(send(driver, executor, "spark://host:7077", job_id="cd")), "jobs share a session"
    for name in ("program", "package", "archives"):
        shutil.rmtree(driver / name)
    prepare_worker(settings_of(driver))
    prepare_worker(settings_of(driver))  # the next epoch
    assert len([path for path in sys.path if path.startswith(str(executor))]) == 3
    module = __import__("shipped_module")
    assert Path(module.WHERE).parent.parent == executor
    assert not (Path(module.WHERE).parent / "large.csv").exists(), "data of the program stay where they are"
    package = __import__("shipped_package")
    assert Path(package.__file__ or "").with_name("words.txt").read_text() == "a b"
    assert __import__("from_a_zip").X == 7
    assert Path.cwd().parent == executor and os.access("models/run.sh", os.X_OK)


def test_a_local_spark_uses_what_is_there(driver: Path, executor: Path) -> None:
    assert send(driver, executor, "local[2]") == []
    prepare_worker(settings_of(driver))
    assert sys.path[:3] == [str(driver / name) for name in ("program", "package", "more.zip")]
    assert Path.cwd() == driver / "archives"


def test_only_what_can_be_imported_travels_from_beside_a_program(driver: Path, executor: Path) -> None:
    """A program at the top of a project would send its virtual environment with every start."""
    program = driver / "program"
    for name in (
        "parts/deep.py",
        ".venv/lib/python3.11/site-packages/large.py",
        "worker-0/app-1/copy.py",
        "environment/lib/large.py",
    ):
        (program / name).parent.mkdir(parents=True, exist_ok=True)
        (program / name).write_text("")
    (program / "environment" / "pyvenv.cfg").write_text("")
    first = send(driver, executor, "spark://host:7077")[0]
    with tarfile.open(executor / first) as archive:
        assert sorted(archive.getnames()) == ["job.py", "parts/deep.py", "shipped_module.py"]

"""Brings the program's own modules, files and packages to the workers, as PyFlink does."""

from __future__ import annotations

import gc
import importlib
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

from pyspark import SparkContext, SparkFiles

from penstock.common.errors import SetupError
from penstock.common.run_options import current_run_options
from penstock.graph.job_request import PythonDependencies
from penstock.runtime.blueprint import JobSettings

_COLLECT_GARBAGE_AFTER = (100_000, 50, 100)
_attempts: dict[str, int] = {}  # of the jobs that this worker knows


def collect_module_paths(dependencies: PythonDependencies, directory: Path) -> tuple[str, ...]:
    """What the workers put on their path: the program's directories, then what it added.

    Files and packages are gathered in a directory of the job.
    """
    paths = list(_program_paths())
    for file in dependencies.files:
        paths.append(_importable(Path(file), directory / "files"))
    if dependencies.requirements is not None:
        paths.append(_install_requirements(*dependencies.requirements, directory / "requirements"))
    return tuple(dict.fromkeys(paths))


def unpack_archives(dependencies: PythonDependencies, directory: Path) -> str | None:
    """The working directory of user functions when the program brings archives; None when it brings none."""
    if not dependencies.archives:
        return None
    for archive, target in dependencies.archives:
        source = _existing(Path(archive), "add_python_archive")
        shutil.unpack_archive(source, directory / (target or source.name), _archive_format(source))
    return str(directory)


def _program_paths() -> Iterator[str]:
    """Everything on the driver's path that is not part of the Python installation."""
    script = current_run_options().script_path
    if script is not None:
        yield str(Path(script).resolve().parent)
    own = tuple({sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix})
    for entry in sys.path:
        path = os.path.abspath(entry or os.getcwd())
        if not path.startswith(own) and os.path.exists(path):
            yield path


def _existing(path: Path, method: str) -> Path:
    if not path.exists():
        raise SetupError(f"{method}(): there is no {str(path)!r}; paths are relative to {os.getcwd()!r}")
    return path.resolve()


def _importable(path: Path, directory: Path) -> str:
    source = _existing(path, "add_python_file")
    if source.suffix != ".py":
        return str(source)  # a directory, a zip file or a wheel can be on the path itself
    directory.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, directory)
    return str(directory)


def _install_requirements(requirements: str, downloaded: str | None, directory: Path) -> str:
    source = _existing(Path(requirements), "set_python_requirements")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(directory), "-r", str(source)]
    if downloaded is not None:
        command += ["--no-index", "--find-links", str(_existing(Path(downloaded), "set_python_requirements"))]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise SetupError(
            f"set_python_requirements({requirements!r}): pip could not install it\n\n{result.stderr.strip()}"
        )
    return str(directory)


def _archive_format(path: Path) -> str:
    known = {".zip": "zip", ".jar": "zip", ".whl": "zip", ".tar": "tar", ".tgz": "gztar", ".gz": "gztar"}
    if path.suffix not in known:
        raise SetupError(f"add_python_archive(): {path.name!r} is no archive of a known kind ({', '.join(known)})")
    return known[path.suffix]


def ship_modules(context: SparkContext, settings: JobSettings, directory: Path) -> None:
    """Sends what workers need of the driver's disk, when they may be on other machines.

    Of the program's directories only modules: data may lie there, too.
    """
    if str(context.master).startswith("local"):
        return
    directory.mkdir(parents=True, exist_ok=True)
    modules_only = set(_program_paths())
    for name, path in _shipped_paths(settings):
        archive = _pack(Path(path), directory / name, path in modules_only)
        context.addFile(str(archive))


def _shipped_paths(settings: JobSettings) -> Iterator[tuple[str, str]]:
    """With names of their own: Spark refuses a second file of the same name, and other jobs use the session, too."""
    for number, path in enumerate(settings.module_paths):
        yield f"penstock-{settings.job_id}-{number}.tar", path
    if settings.working_directory is not None:
        yield f"penstock-{settings.job_id}-archives.tar", settings.working_directory


def _pack(source: Path, archive: Path, modules_only: bool) -> Path:
    if source.is_file():  # a zip file or a wheel
        unpacked = archive.with_suffix("")
        shutil.unpack_archive(source, unpacked, "zip")
        source = unpacked
    with tarfile.open(archive, "w") as file:
        for path in _modules_in(source) if modules_only else sorted(source.rglob("*")):
            file.add(path, path.relative_to(source), recursive=False)
    return archive


def _modules_in(source: Path) -> Iterator[Path]:
    """What can be imported from a directory: not what lies in one that no package is called like, nor in a virtual
    environment. A program often stands at the top of a project, beside `.venv`, or beside the home of its jobs."""
    for directory, inner, files in os.walk(source):
        inside = Path(directory)
        inner[:] = sorted(name for name in inner if name.isidentifier() and not (inside / name / "pyvenv.cfg").exists())
        yield from (inside / name for name in sorted(files) if name.endswith(".py"))


def prepare_worker(settings: JobSettings) -> None:
    """In a worker: makes the program's modules importable as they are on the driver."""
    # Records and state are many small objects without cycles: looking for cycles among them at Python's usual pace
    # doubles the time per record (measured).
    gc.set_threshold(*_COLLECT_GARBAGE_AFTER)
    _begin_attempt(settings)
    places = {path: _place_of(name, path) for name, path in _shipped_paths(settings)}
    for path in reversed(settings.module_paths):
        if places[path] not in sys.path:
            sys.path.insert(0, places[path])
    if settings.working_directory is not None:
        os.chdir(places[settings.working_directory])
    importlib.invalidate_caches()  # directories may have got modules since another job has looked into them
    if settings.pyflink_imports:
        importlib.import_module("penstock.cli.pyflink_alias").install()


def _begin_attempt(settings: JobSettings) -> None:
    """When a job starts again all of its functions are made again, as in Flink, also in workers that live on."""
    if _attempts.setdefault(settings.job_id, settings.attempt) != settings.attempt:
        from penstock.runtime.hosting import forget_containers

        forget_containers()
        _attempts[settings.job_id] = settings.attempt


def _place_of(name: str, path: str) -> str:
    """What was sent comes first: under the path this machine may have something older.

    It is unpacked once for each executor, as libraries cannot be loaded from an archive, nor compiled modules be kept.
    """
    archive = SparkFiles.get(name)
    if not os.path.exists(archive):
        return path
    place = archive.removesuffix(".tar")
    if not os.path.isdir(place):
        temporary = f"{place}.{os.getpid()}"
        with tarfile.open(archive) as file:
            file.extractall(temporary, filter="tar")
        try:
            os.rename(temporary, place)
        except OSError:  # another worker of the executor was quicker
            shutil.rmtree(temporary)
    return place

"""Programs that were uploaded: a script, or an archive with a script, its modules and requirements."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import time
import uuid
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from penstock.common.errors import ConfigurationError, JobExecutionError
from penstock.common.options import validate_key
from penstock.manager.job_entry import LaunchPlan
from penstock.rest.cluster import Program, Submission

_LARGEST_CONTENT = 1 << 30  # of an unpacked archive
_REQUIREMENTS = "requirements.txt"
_PLAN_SECONDS = 60
_LAST_WORDS = 4000
_USUAL_ENTRIES = ("main.py", "job.py", "__main__.py")


class UploadedPrograms:
    """Each has a directory below the manager's, unpacked when it comes."""

    def __init__(self, directory: Path, submit: Callable[[LaunchPlan, str | None], str]) -> None:
        self._directory = directory
        self._submit = submit

    def all(self) -> Sequence[Program]:
        found = [self._read(path) for path in self._directory.glob("*") if path.is_dir()]
        return sorted((program for program in found if program is not None), key=lambda p: -p.uploaded_at)

    def add(self, name: str, content: Path) -> Program:
        if not name.endswith((".py", ".zip")):
            raise ConfigurationError(f"{name!r} is neither a Python script (.py) nor a zip archive (.zip)")
        safe = re.sub(r"[^\w.-]", "_", name)
        program = Program(f"{uuid.uuid4()}_{safe}", safe, time.time_ns() // 1_000_000)
        target = self._directory / program.id
        files = target / "files"
        files.mkdir(parents=True, mode=0o700)
        try:
            if name.endswith(".zip"):
                _unpack(content, files)
            else:
                shutil.move(content, files / safe)
            (target / "program.json").write_text(json.dumps({"name": safe, "uploaded_at": program.uploaded_at}))
        except BaseException:
            shutil.rmtree(target, ignore_errors=True)
            raise
        return program

    def remove(self, id_: str) -> bool:
        """A job of it that runs goes on; one whose driver has to start again would miss it."""
        path = self._directory / id_
        if path.parent != self._directory or self._read(path) is None:
            return False
        shutil.rmtree(path)
        return True

    def run(self, id_: str, submission: Submission) -> str:
        return self._submit(self._launch_of(id_, submission), submission.job_id)

    def plan(self, id_: str, submission: Submission) -> Any:
        """In a process of its own: it is the program's code that makes the graph."""
        launch = self._launch_of(id_, submission)
        command = [sys.executable, "-m", "penstock.cli.main", "plan", "--json"]
        command += [] if launch.parallelism is None else ["-p", str(launch.parallelism)]
        command += [word for key, value in launch.configuration.items() for word in ("-D", f"{key}={value}")]
        try:
            done = subprocess.run(
                [*command, launch.script, *launch.arguments],
                cwd=launch.working_directory,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_PLAN_SECONDS,
            )
        except subprocess.TimeoutExpired:
            raise JobExecutionError(f"the program did not come to its job in {_PLAN_SECONDS} s") from None
        if done.returncode != 0:
            raise JobExecutionError(done.stderr[-_LAST_WORDS:].decode(errors="replace").strip())
        return json.loads(done.stdout)

    def _launch_of(self, id_: str, submission: Submission) -> LaunchPlan:
        path = self._directory / id_
        program = self._read(path) if path.parent == self._directory else None
        if program is None:
            raise JobExecutionError(f"no program was uploaded under the id {id_}")
        files = path / "files"
        script = _entry(files, program.name, submission.script)
        settings = dict(submission.configuration)
        if (files / _REQUIREMENTS).is_file():
            settings.setdefault("python.requirements", str(files / _REQUIREMENTS))
        return _launch(script, files, submission, settings)

    def run_script(self, script: Path, directory: Path, submission: Submission) -> str:
        if not script.is_absolute() or not script.is_file():
            raise JobExecutionError(f"the program {script} is not there, on the manager's machine")
        return self._submit(_launch(script, directory, submission, dict(submission.configuration)), submission.job_id)

    def _read(self, path: Path) -> Program | None:
        try:
            about = json.loads((path / "program.json").read_text())
            return Program(path.name, about["name"], about["uploaded_at"])
        except (OSError, ValueError, KeyError):
            return None


def _launch(script: Path, directory: Path, submission: Submission, settings: dict[str, str]) -> LaunchPlan:
    for key in settings:
        validate_key(key)
    if submission.parallelism is not None and submission.parallelism < 1:
        raise ConfigurationError("the parallelism is a whole number of at least 1")
    return LaunchPlan(
        str(script),
        str(directory),
        submission.arguments,
        submission.parallelism,
        submission.savepoint,
        submission.allow_non_restored_state,
        submission.name,
        submission.pyflink,
        configuration=settings,
    )


def _unpack(archive: Path, target: Path) -> None:
    """Nothing outside of the target, and no more than a bounded amount."""
    try:
        with zipfile.ZipFile(archive) as content:
            if sum(info.file_size for info in content.infolist()) > _LARGEST_CONTENT:
                raise ConfigurationError(f"the archive holds more than {_LARGEST_CONTENT} bytes")
            for name in content.namelist():
                if not (target / name).resolve().is_relative_to(target.resolve()):
                    raise ConfigurationError(f"the archive has a path that leads out of it: {name!r}")
            content.extractall(target)
    except zipfile.BadZipFile as error:
        raise ConfigurationError(f"the file is no zip archive: {error}") from None


def _entry(files: Path, name: str, wanted: str | None) -> Path:
    scripts = sorted(files.glob("*.py"))
    if wanted is not None:
        chosen = (files / wanted).resolve()
        if not chosen.is_relative_to(files.resolve()) or not chosen.is_file():
            raise ConfigurationError(f"the program has no file {wanted!r}; it has {', '.join(p.name for p in scripts)}")
        return chosen
    if len(scripts) == 1:
        return scripts[0]
    for usual in (*_USUAL_ENTRIES, f"{Path(name).stem}.py"):
        if (files / usual).is_file():
            return files / usual
    names = ", ".join(path.name for path in scripts) or "none"
    raise ConfigurationError(
        f"which file of the archive is the program? There are {names}: say it as the entry, or name it main.py"
    )

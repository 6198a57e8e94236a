"""The packages of `python.requirements` for the program itself, which imports them before any worker runs.

Workers get them from their engine. A program that was uploaded with a requirements.txt runs where nobody could install
anything beforehand.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path


def make_importable(configuration: Mapping[str, str]) -> None:
    """Installs them once for each content of the file; what Python has already goes before them."""
    named = configuration.get("python.requirements")
    if not named:
        return
    requirements, _, downloaded = named.partition("#")
    directory = _directory(Path(requirements), configuration.get("penstock.home"))
    if not directory.is_dir():
        _install(requirements, downloaded, directory)
    sys.path.append(str(directory))


def _directory(requirements: Path, home: str | None) -> Path:
    from penstock.common.errors import SetupError
    from penstock.control.job_home import penstock_home

    try:
        content = requirements.read_bytes()
    except OSError as error:
        raise SetupError(f"python.requirements: {str(requirements)!r} cannot be read ({error.strerror})") from None
    key = hashlib.sha256(sys.version.encode() + content).hexdigest()[:16]
    return penstock_home(home).absolute() / "packages" / key


def _install(requirements: str, downloaded: str, directory: Path) -> None:
    """Complete or not at all: another driver may want the same at the same time."""
    from penstock.common.errors import SetupError

    directory.parent.mkdir(parents=True, exist_ok=True)
    scratch = tempfile.mkdtemp(dir=directory.parent)
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--target", scratch, "-r", requirements]
    if downloaded:
        command += ["--no-index", "--find-links", downloaded]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        if done.returncode != 0:
            raise SetupError(f"python.requirements: pip could not install {requirements!r}\n\n{done.stderr.strip()}")
        os.rename(scratch, directory)
    except OSError:
        if not directory.is_dir():  # unless somebody else was faster
            raise
    finally:
        shutil.rmtree(scratch, ignore_errors=True)

"""Servers out of Debian's packages, without root and without installing them."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.patience import patience
from tests.services.processes import SERVICES


def unpacked(*packages: str) -> Path:
    """A directory with the files of these packages and of what they need; the test is skipped where there is none."""
    root = SERVICES / "debian" / "-".join(packages)
    if not root.exists():
        archives = SERVICES / "debian" / f".{root.name}.{os.getpid()}"
        try:
            _download(packages, archives)
            _unpack(archives, root)
        except (OSError, subprocess.SubprocessError) as error:
            pytest.skip(f"no {packages[0]} here: Debian's packages cannot be had ({error})")
        finally:
            shutil.rmtree(archives, ignore_errors=True)
    return root


def _download(packages: Sequence[str], into: Path) -> None:
    (into / "partial").mkdir(parents=True)
    subprocess.run(
        [
            "apt-get", "-y", "--no-install-recommends", "--download-only", "-o", "Debug::NoLocking=1",
            "-o", f"Dir::Cache={into}", "-o", f"Dir::Cache::archives={into}", "-o", "APT::Sandbox::User=root",
            "install", *packages,
        ],
        check=True,
        capture_output=True,
        timeout=patience(300),
    )  # fmt: skip


def _unpack(archives: Path, root: Path) -> None:
    unfinished = archives / "root"
    for archive in archives.glob("*.deb"):
        subprocess.run(["dpkg", "-x", str(archive), str(unfinished)], check=True, capture_output=True)
    os.rename(unfinished, root)


def libraries(root: Path) -> dict[str, str]:
    """The environment in which programs of the directory find their shared libraries."""
    return {"LD_LIBRARY_PATH": ":".join(str(path) for path in sorted(root.glob("usr/lib/*-linux-gnu*")))}

"""Debian's headless Chromium, unpacked below `.services/` without root; fetched once for a checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

_PACKAGE = "chromium-headless-shell"
_CACHE = Path(__file__).resolve().parents[2] / ".services" / "chromium"
_LIBRARIES = ("usr/lib/x86_64-linux-gnu", "usr/lib/x86_64-linux-gnu/pulseaudio", "lib/x86_64-linux-gnu")


def chromium() -> Path:
    """The browser's executable, or a skipped test that says why there is none."""
    # Where the whole browser is installed, apt-get would not fetch the files that both share.
    found = shutil.which(_PACKAGE) or shutil.which("chromium")
    if found is not None:
        return Path(found)
    launcher = _CACHE / "chromium"
    if not launcher.exists():
        _fetch(launcher)
    return launcher


def _fetch(launcher: Path) -> None:
    if shutil.which("apt-get") is None or shutil.which("dpkg") is None:
        pytest.skip(f"no browser: install {_PACKAGE} (this system has no apt-get to fetch it with)")
    packages, root = _CACHE / "packages", _CACHE / f"root.{os.getpid()}"
    (packages / "partial").mkdir(parents=True, exist_ok=True)
    download = ["apt-get", "-y", "--no-install-recommends", "--download-only", "-o", "Debug::NoLocking=1"]
    download += ["-o", f"Dir::Cache={packages}", "-o", f"Dir::Cache::archives={packages}", "install", _PACKAGE]
    done = subprocess.run(download, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        pytest.skip(f"no browser: apt-get could not fetch {_PACKAGE}: {done.stderr.strip()[-300:]}")
    for package in sorted(packages.glob("*.deb")):
        subprocess.run(["dpkg", "-x", str(package), str(root)], check=True)
    shutil.rmtree(packages)
    kept = _CACHE / "root"
    if not kept.exists():  # another test process may have been faster
        root.rename(kept)
    _write_launcher(launcher, kept)


def _write_launcher(launcher: Path, root: Path) -> None:
    """The libraries are not where the loader looks for them."""
    executable = next(path for path in root.rglob("*headless*shell*") if path.is_file() and _is_program(path))
    libraries = ":".join(str(root / folder) for folder in _LIBRARIES)
    temporary = launcher.with_suffix(f".{os.getpid()}")
    temporary.write_text(f'#!/bin/sh\nLD_LIBRARY_PATH="{libraries}" exec "{executable}" "$@"\n')
    temporary.chmod(0o755)
    temporary.replace(launcher)


def _is_program(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"

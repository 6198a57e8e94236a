"""Starts Spark's JVM from an archive of loaded classes: half of the time to a first result is the loading of classes.

The first JVM of an installation writes the archive when it ends, every later one maps it into its memory. The JVM
itself finds out whether an archive fits (to its own version, to the jars), and goes on without it if not.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import time
from pathlib import Path

from penstock.engines.spark.remembered import cache_directory, identity_of

_ABANDONED_SECONDS = 600  # a JVM that writes that long has been killed


def archive_options(java_home: str) -> str:
    """Options for a JVM that runs the installed Spark: use the archive, or make it."""
    try:
        archive = _place(java_home)
        archive.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    except (OSError, RuntimeError):  # no home, a read-only one
        return ""
    new = archive.with_suffix(".new")
    if not archive.exists() and _is_complete(new):
        with contextlib.suppress(FileNotFoundError):  # another process may have been quicker
            os.replace(new, archive)
    if archive.exists():
        if _is_complete(new):  # of a JVM that began before there was one
            new.unlink(missing_ok=True)
        return f"-XX:SharedArchiveFile={archive}"
    _drop_if_abandoned(new)
    return "" if new.exists() else f"-XX:ArchiveClassesAtExit={new}"


def _place(java_home: str) -> Path:
    java = Path(java_home).resolve()
    release = java / "release"
    pyspark = importlib.util.find_spec("pyspark")  # found, not loaded: the JVM starts beside that
    version = identity_of(Path(pyspark.origin).with_name("version.py")) if pyspark and pyspark.origin else []
    parts = (str(java), release.read_text() if release.exists() else "", version)
    return cache_directory() / f"jvm-{hashlib.sha256(repr(parts).encode()).hexdigest()[:16]}.jsa"


def _is_complete(file: Path) -> bool:
    """The header is what the JVM writes last."""
    try:
        with open(file, "rb") as content:
            return any(content.read(4))
    except OSError:
        return False


def _drop_if_abandoned(file: Path) -> None:
    with contextlib.suppress(OSError):
        if time.time() - file.stat().st_mtime > _ABANDONED_SECONDS:
            file.unlink()

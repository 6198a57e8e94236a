"""Limits of tests that follow the machine: what takes a minute alone takes ten when ten others run."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Mapping, Sequence

_LOOK_SECONDS = 5.0


def patience(seconds: float) -> float:
    """The time that something may take that should take so long on a machine with nothing else to do."""
    waiting = os.getloadavg()[0] / (os.cpu_count() or 1)
    return seconds * max(1.0, 2.0 * waiting)


def completed(
    command: Sequence[str], seconds: float, env: Mapping[str, str] | None = None, cwd: str | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs a command; how long it may take is asked again and again, since others begin their work meanwhile."""
    process = subprocess.Popen(
        command, env=env, cwd=cwd, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    begun, allowed = time.monotonic(), 0.0
    with process:
        while True:
            allowed = max(allowed, patience(seconds))
            try:
                output, errors = process.communicate(timeout=_LOOK_SECONDS)
                return subprocess.CompletedProcess(command, process.returncode, output, errors)
            except subprocess.TimeoutExpired as expired:
                if time.monotonic() - begun > allowed:
                    process.kill()
                    output, errors = process.communicate()
                    raise subprocess.TimeoutExpired(command, allowed, output, errors) from expired

"""What servers of the tests have in common: ports, waiting, and a name for a process that does not become ready."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from tests.patience import patience

SERVICES = Path(__file__).parents[2] / ".services"  # downloads, fetched once for each checkout


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def port_is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def wait_until(ready: Callable[[], bool], what: str, seconds: float) -> None:
    deadline = time.monotonic() + patience(seconds)
    while not ready():
        if time.monotonic() > deadline:
            raise AssertionError(f"waited in vain: {what}")
        time.sleep(0.05)


@contextlib.contextmanager
def server_process(
    command: Sequence[str],
    ready: Callable[[], bool],
    log: Path,
    environment: Mapping[str, str] | None = None,
    seconds: float = 60,
) -> Iterator[subprocess.Popen[bytes]]:
    """A server in a session of its own, which ends with all its children."""
    with log.open("ab") as output:
        process = subprocess.Popen(
            command, stdout=output, stderr=output, env={**os.environ, **(environment or {})}, start_new_session=True
        )
    try:

        def started() -> bool:
            if process.poll() is not None:
                raise AssertionError(f"{command[0]} ended with code {process.returncode}:\n{log.read_text()[-2000:]}")
            return ready()

        wait_until(started, f"{command[0]} to start, see {log}", seconds)
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(patience(20))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()

"""A real Redis server for one test run."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.services.debian import libraries, unpacked
from tests.services.processes import free_port, port_is_open, server_process

PASSWORD = "s3cret-w0rd"


@contextlib.contextmanager
def redis_server() -> Iterator[int]:
    """Gives its port."""
    root = unpacked("redis-server")
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="penstock-redis-") as directory:
        command = [
            str(root / "usr/bin/redis-server"), "--port", str(port), "--bind", "127.0.0.1", "--dir", directory,
            "--save", "", "--requirepass", PASSWORD,
        ]  # fmt: skip
        with server_process(command, lambda: port_is_open(port), Path(directory) / "log", libraries(root)):
            yield port

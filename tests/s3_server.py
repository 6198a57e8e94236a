"""A real S3-compatible server in a process of its own, for one test run."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator

import pytest
from tests.patience import patience

BUCKET = "penstock-tests"


@contextlib.contextmanager
def s3_server() -> Iterator[str]:
    """Gives the server's address. It chooses its port itself and says which in its first lines."""
    server = subprocess.Popen(
        [sys.executable, "-c", "from moto.server import main; main()", "-p", "0"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stderr is not None
        address = next(line.split("on ")[1].strip() for line in server.stderr if "Running on http" in line)
        # It logs every request, and would wait for somebody to read that.
        threading.Thread(target=server.stderr.read, daemon=True).start()
        urllib.request.urlopen(
            urllib.request.Request(f"{address}/{BUCKET}", method="PUT"), timeout=patience(30)
        ).close()
        yield address
    finally:
        server.kill()
        server.wait()


def reach(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a user would: everything through AWS's own variables."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", address)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")

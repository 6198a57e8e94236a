"""A real RabbitMQ server for one test run."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.services.debian import libraries, unpacked
from tests.services.processes import free_port, port_is_open, server_process

USER = PASSWORD = "guest"


@contextlib.contextmanager
def rabbitmq_server() -> Iterator[int]:
    """Gives its port."""
    root = unpacked("rabbitmq-server")
    erlang = root / "usr/lib/erlang"
    _point_to_itself(erlang)
    directory = Path(tempfile.mkdtemp(prefix="penstock-rabbitmq-"))
    port, daemon_port = free_port(), free_port()
    environment = {
        **libraries(root),
        "PATH": f"{erlang}/bin:{os.environ['PATH']}",
        "HOME": str(directory),  # where Erlang keeps its cookie
        "ERL_EPMD_PORT": str(daemon_port),
        "ERL_EPMD_ADDRESS": "127.0.0.1",
        "RABBITMQ_NODENAME": f"penstock{port}@localhost",
        "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
        "RABBITMQ_NODE_PORT": str(port),
        "RABBITMQ_DIST_PORT": str(free_port()),
        "RABBITMQ_MNESIA_BASE": str(directory / "mnesia"),
        "RABBITMQ_LOG_BASE": str(directory / "log"),
        "RABBITMQ_PID_FILE": str(directory / "pid"),
        "RABBITMQ_ENABLED_PLUGINS_FILE": str(directory / "plugins"),
        "RABBITMQ_CONF_ENV_FILE": str(directory / "no-such-file"),
        "RABBITMQ_CONFIG_FILE": str(directory / "no-such-config"),
    }
    server = next(root.glob("usr/lib/rabbitmq/lib/*/sbin/rabbitmq-server"))
    try:
        with server_process(
            ["bash", str(server)], lambda: port_is_open(port), directory / "output", environment, seconds=90
        ):
            yield port
    finally:
        # The daemon that knows Erlang's nodes leaves the session of whoever has started it.
        subprocess.run([erlang / "bin/epmd", "-kill"], env={**os.environ, **environment}, capture_output=True)
        shutil.rmtree(directory, ignore_errors=True)


def _point_to_itself(erlang: Path) -> None:
    """Its scripts have the directory in which the package would be installed."""
    for script in (erlang / "bin/erl", *erlang.glob("erts-*/bin/erl")):
        text = script.read_text()
        if "ROOTDIR=/usr/lib/erlang" in text:
            script.unlink()
            script.write_text(text.replace("ROOTDIR=/usr/lib/erlang", f"ROOTDIR={erlang}"))
            script.chmod(0o755)

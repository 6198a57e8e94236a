"""Real Prometheus, push gateway, InfluxDB and Graphite out of Debian's packages, and StatsD out of npm."""

from __future__ import annotations

import contextlib
import json
import subprocess
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from tests.patience import patience
from tests.services.debian import unpacked
from tests.services.processes import SERVICES, free_port, port_is_open, server_process


@contextlib.contextmanager
def prometheus(directory: Path, scraped_port: int) -> Iterator[str]:
    """Scrapes the port once a second."""
    root, port = unpacked("prometheus"), free_port()
    config = directory / "prometheus.yml"
    scrape = {"job_name": "penstock", "static_configs": [{"targets": [f"127.0.0.1:{scraped_port}"]}]}
    config.write_text(json.dumps({"global": {"scrape_interval": "1s"}, "scrape_configs": [scrape]}))
    command = [
        str(root / "usr/bin/prometheus"), f"--config.file={config}", f"--storage.tsdb.path={directory / 'data'}",
        f"--web.listen-address=127.0.0.1:{port}",
    ]  # fmt: skip
    address = f"http://127.0.0.1:{port}"
    with server_process(command, lambda: _is_ready(f"{address}/-/ready"), directory / "prometheus.log"):
        yield address


@contextlib.contextmanager
def push_gateway(directory: Path) -> Iterator[str]:
    root, port = unpacked("prometheus-pushgateway"), free_port()
    command = [str(root / "usr/bin/prometheus-pushgateway"), f"--web.listen-address=127.0.0.1:{port}"]
    with server_process(command, lambda: port_is_open(port), directory / "pushgateway.log"):
        yield f"http://127.0.0.1:{port}"


@contextlib.contextmanager
def influxdb(directory: Path) -> Iterator[int]:
    root, port, rpc = unpacked("influxdb"), free_port(), free_port()
    config = directory / "influxdb.conf"
    config.write_text(
        f'reporting-disabled = true\nbind-address = "127.0.0.1:{rpc}"\n[meta]\ndir = "{directory}/meta"\n'
        f'[data]\ndir = "{directory}/data"\nwal-dir = "{directory}/wal"\n[http]\nbind-address = "127.0.0.1:{port}"\n'
    )
    command = [str(root / "usr/bin/influxd"), "-config", str(config)]
    with server_process(command, lambda: port_is_open(port), directory / "influxdb.log"):
        yield port


def _is_ready(url: str) -> bool:
    """Its port is open long before it answers questions."""
    try:
        with urllib.request.urlopen(url, timeout=patience(10)) as response:
            return bool(response.status == 200)
    except OSError:
        return False


def fetched(url: str, query: dict[str, str] | None = None, post: bool = False) -> Any:
    target = f"{url}?{urlencode(query)}" if query else url
    request = urllib.request.Request(target, method="POST" if post else "GET")
    with urllib.request.urlopen(request, timeout=patience(10)) as response:
        return json.loads(response.read())


@contextlib.contextmanager
def carbon(directory: Path) -> Iterator[tuple[int, Callable[[str], list[float]]]]:
    """Graphite's own receiver: its port, and how to read what it has written of a metric."""
    root, port = unpacked("graphite-carbon"), free_port()
    python = {"PYTHONPATH": str(root / "usr/lib/python3/dist-packages"), "PATH": "/usr/bin:/bin"}
    (directory / "storage-schemas.conf").write_text("[all]\npattern = .*\nretentions = 1s:1h\n")
    others = "".join(f"{name}_PORT = {free_port()}\n" for name in ("UDP_RECEIVER", "PICKLE_RECEIVER", "CACHE_QUERY"))
    (directory / "carbon.conf").write_text(
        f"[cache]\nSTORAGE_DIR = {directory}\nLOCAL_DATA_DIR = {directory}/whisper\nPID_DIR = {directory}\n"
        f"LOG_DIR = {directory}\nLINE_RECEIVER_INTERFACE = 127.0.0.1\nLINE_RECEIVER_PORT = {port}\n{others}"
        "MAX_CREATES_PER_MINUTE = inf\nUSER =\n"
    )
    command = [
        "/usr/bin/python3", str(root / "usr/bin/carbon-cache"), f"--config={directory / 'carbon.conf'}", "--debug",
        "--nodaemon", "start",
    ]  # fmt: skip

    def values(metric: str) -> list[float]:
        file = directory / "whisper" / f"{metric.replace('.', '/')}.wsp"
        if not file.exists():
            return []
        read = "import sys, json, whisper; print(json.dumps(whisper.fetch(sys.argv[1], 0)[1]))"
        done = subprocess.run(["/usr/bin/python3", "-c", read, str(file)], env=python, capture_output=True, check=True)
        return [value for value in json.loads(done.stdout) if value is not None]

    with server_process(command, lambda: port_is_open(port), directory / "carbon.log", python):
        yield port, values


@contextlib.contextmanager
def statsd(directory: Path) -> Iterator[tuple[int, Callable[[], str]]]:
    """The real one, out of npm: its port, and what it has flushed so far."""
    program, port, management = _npm("statsd", "0.9.0") / "statsd/stats.js", free_port(), free_port()
    config = directory / "statsd.js"
    config.write_text(
        json.dumps({"port": port, "mgmt_port": management, "flushInterval": 300, "backends": ["./backends/console"]})
    )
    log = directory / "statsd.log"
    with server_process(["node", str(program), str(config)], lambda: port_is_open(management), log):
        yield port, lambda: log.read_text(errors="replace")


def _npm(package: str, version: str) -> Path:
    home = SERVICES / "npm" / f"{package}-{version}"
    if not (home / "node_modules" / package).is_dir():
        home.mkdir(parents=True, exist_ok=True)
        options = ["--no-audit", "--no-fund", "--omit=optional", "--prefix", str(home)]
        try:
            subprocess.run(
                ["npm", "install", *options, f"{package}@{version}"],
                check=True,
                capture_output=True,
                timeout=patience(300),
            )
        except (OSError, subprocess.SubprocessError) as error:
            pytest.skip(f"no {package} here: npm cannot fetch it ({error})")
    return home / "node_modules"
